"""Makes the learners' zip: python -m tools.release [ZIP]. Notebooks, library and set-up; no solutions, grader or tests."""

import argparse
import hashlib
import os
import re
import sys
import zipfile
from pathlib import Path

from tools.notebooks import RELEASED, ROOT, SOLVED, build
from tools.sources import SourceError

FOLDER = "pipeline_parallelism_course"
TARGET = f"dist/{FOLDER}.zip"
FILES = ("LICENSE", "environment.yml", "postBuild", "pyproject.toml", "docs/memory.svg", "tools/__init__.py",
         "tools/environment.py", "tools/labconfig/*.json", "course/**/*.py", "course/**/*.js", "course/**/*.css")
SECTIONS = ("Set up without make", "What a learner does")
EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's first moment: no file says when it was packed


def contents() -> dict[str, bytes]:
    """Every file of the zip by its path in it; the notebooks as generated now, whoever has worked in the folder's."""
    from course.exercises import EXERCISES

    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for pattern in FILES for path in ROOT.glob(pattern)}
    notebooks = build(ROOT / SOLVED, EXERCISES)
    files |= {name: text.encode() for name, text in notebooks.items() if name.startswith(f"{RELEASED}/")}
    files["README.md"] = readme((ROOT / "README.md").read_text(encoding="utf-8")).encode()
    return files


def readme(text: str) -> str:
    """The learners' part of the README: what stands before its first section, and the sections for them."""
    start, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    by_title = {section.partition("\n")[0]: section for section in sections}
    return start + "".join(f"## {by_title[title]}" for title in SECTIONS).replace(" without make\n", "\n", 1).rstrip() + "\n"


def write_release(target: Path, files: dict[str, bytes]):
    """Write the zip whole or not at all; the same bytes for the same files: sorted, without times, stored rather than packed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for name in sorted(files):
                member = zipfile.ZipInfo(f"{FOLDER}/{name}", EPOCH)
                member.create_system = 3  # Unix, on every system
                member.external_attr = (0o100755 if name == "postBuild" else 0o100644) << 16
                archive.writestr(member, files[name])
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    """Write the zip and say what it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("zip", nargs="?", type=Path, default=ROOT / TARGET, metavar="ZIP", help=TARGET)
    target = parser.parse_args(arguments).zip
    try:
        files = contents()
        write_release(target, files)
    except (SourceError, OSError) as error:
        print(f"python -m tools.release: {error}", file=sys.stderr)
        return 1
    print(f"{target}: {len(files)} files, sha256 {hashlib.sha256(target.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
