"""Generates the notebooks from their sources: python -m tools.notebooks [--check].

    solutions/pipeline_parallelism/N_name.py
        -> solutions/pipeline_parallelism/N_name.ipynb    solved
        -> notebooks/pipeline_parallelism/N_name.ipynb    what learners open, by nbgrader's own release step
"""

import argparse
import ast
import logging
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.gradebook import find_alembic
from tools.sources import METADATA, SourceError, solved_notebook

ROOT = Path(__file__).resolve().parent.parent
ASSIGNMENT = "pipeline_parallelism"
SOLVED, RELEASED = f"solutions/{ASSIGNMENT}", f"notebooks/{ASSIGNMENT}"


def build(sources: Path, exercises: Mapping[str, Any]) -> dict[str, str]:
    """Every generated file, as path below the repository root -> text, from the .py files in `sources`."""
    paths = sorted(sources.glob("*.py"))
    if not paths:
        raise SourceError(f"{sources}: no notebook sources (*.py) here")
    orphans = sorted({e.notebook for e in exercises.values()} - {path.stem for path in paths})
    if orphans:
        raise SourceError(f"{sources}: the table of exercises names {orphans[0]!r}, which has no source here")
    files = {f"{SOLVED}/{p.stem}.ipynb": _text(solved_notebook(p, exercises)) for p in paths}
    with tempfile.TemporaryDirectory(prefix="notebooks-") as scratch:
        root = Path(scratch).resolve()
        write(root, files)
        _generate_assignment(root)
        for path in sorted((root / RELEASED).glob("*.ipynb")):
            notebook = _reproducible(nbformat.read(path, as_version=4))
            _check_release(notebook, path.stem)
            files[f"{RELEASED}/{path.name}"] = _text(notebook)
    return files


def _generate_assignment(root: Path) -> None:
    """Run nbgrader's release step below `root`, with a database of its own."""
    find_alembic()
    config: Config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{(root / 'gradebook.db').as_posix()}"
    config.CourseDirectory.assignment_id = ASSIGNMENT
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    messages: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    converter.log.addHandler(handler)
    try:
        converter.start()
    except NbGraderException as error:
        raise SourceError("nbgrader refused the notebooks:\n" + "\n".join(messages)) from error
    finally:
        converter.log.removeHandler(handler)


def _reproducible(notebook: NotebookNode) -> NotebookNode:
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        kept = ("nbgrader", "deletable", "editable")
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in kept if key in cell.metadata})
    return notebook


def _check_release(notebook: NotebookNode, name: str) -> None:
    """What is left of an answer cell must still be Python: a released cell never raises."""
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and settings.get("solution"):
            try:
                ast.parse(cell.source)
            except SyntaxError as error:
                raise SourceError(
                    f"{name}.py: {settings.grade_id!r} is not Python once its solution is replaced by '...': "
                    f"{error.msg}, line {error.lineno} of\n{cell.source}"
                ) from error


def _text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the files below `root`."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="\n")


def keep_used(root: Path, names: list[str]) -> None:
    """Copy the notebooks among `names` that somebody has run to build/used/, before they are written over."""
    for name in names:
        path = root / name
        if path.is_file() and '"execution_count": ' in path.read_text(encoding="utf-8", errors="replace").replace(
                '"execution_count": null', ""):
            kept = root / "build" / "used" / f"{int(path.stat().st_mtime)}-{path.name}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, kept)
            print(f"{name} had been worked in: kept as {kept.relative_to(root)}")


def differing(root: Path, files: Mapping[str, str]) -> list[str]:
    """The names among `files` that are absent or different below `root`."""
    return [
        name
        for name, text in files.items()
        if not (root / name).is_file() or (root / name).read_bytes() != text.encode()
    ]


def left_over(root: Path, files: Mapping[str, str]) -> list[str]:
    """Notebooks below `root` that no source makes."""
    found = [path for folder in (SOLVED, RELEASED) for path in sorted((root / folder).glob("*.ipynb"))]
    return [name for name in (path.relative_to(root).as_posix() for path in found) if name not in files]


def main(arguments: list[str] | None = None) -> int:
    """Build, then write what changed, or with --check only list it; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description="Generate the notebooks.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a notebook is stale")
    check = parser.parse_args(arguments).check

    from course.exercises import EXERCISES

    try:
        files = build(ROOT / SOLVED, EXERCISES)
    except SourceError as error:
        print(error, file=sys.stderr)
        return 1
    stale, extra = differing(ROOT, files), left_over(ROOT, files)
    if not check:
        keep_used(ROOT, stale)
        write(ROOT, {name: files[name] for name in stale})
    for name in stale:
        print(f"stale: {name}" if check else f"wrote {name}")
    for name in extra:
        print(f"no source makes {name}: delete it")
    if check and (stale or extra):
        print("run `make notebooks`, then commit what it writes")
        return 1
    print(f"{len(files) - len(stale)} of {len(files)} notebooks were up to date")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
