"""Makes or completes the virtual environment: python -m tools.environment VENV [--dev] [--torch-index URL].

`make` calls it, and it works by itself where there is no make. Any Python 3 may start it, so that an old one
is told what is wrong: nothing newer than 3.7 at the top level.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB_CONFIG = ROOT / "tools" / "labconfig" / "pipeline-parallelism.json"
MINIMUM = (3, 11)
CUDA = "cuda"
PATIENCE = 4  # seconds that an index gets to answer


def say(line):
    print(line, flush=True)


def dotted(version):
    return ".".join(str(part) for part in version[:3])


def old_python(version, executable):
    """What to say about a Python that is too old; empty for one that will do."""
    if version[:2] >= MINIMUM:
        return ""
    newer = [name for name in (f"python3.{minor}" for minor in range(20, 10, -1)) if shutil.which(name)]
    found = f"{executable} is Python {dotted(version)}; this course needs {dotted(MINIMUM)} or newer."
    if newer:
        return f"{found} There is {newer[0]}: say make ... PYTHON={newer[0]}"
    return f"{found} Install one, and name it: make ... PYTHON=python3.12"


def missing_ensurepip(version, found):
    """What to say where `python3 -m venv` cannot install pip; empty where it can."""
    if found:
        return ""
    return (
        "This Python cannot make virtual environments: it has no ensurepip. On Debian and Ubuntu:\n"
        f"    sudo apt install python{dotted(version[:2])}-venv      (or python3-venv)\n"
        "then run make again."
    )


def has_ensurepip():
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def reachable(url, patience=PATIENCE):
    """Whether the package index at `url` answers within `patience` seconds."""
    answers = []

    def ask():
        from urllib.request import Request, urlopen

        try:
            with urlopen(Request(url.rstrip("/") + "/torch/", method="HEAD"), timeout=patience) as reply:
                answers.append(reply.status)
        except Exception as error:  # whatever it was: the index is of no use
            answers.append(error)

    # a thread, because urlopen's timeout does not cover a name server that does not answer
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(patience)
    return answers == [200]


def torch_index(wanted, platform, reach=reachable):
    """The index to take torch from, or None for pip as it is configured, and a line that says why."""
    if not wanted:
        return None, "installing torch as pip is configured"
    if wanted == CUDA:
        return None, "installing torch's default build (on Linux with CUDA: several GB)"
    if not platform.startswith("linux"):
        return None, "installing torch (here the default build is the CPU build)"
    if reach(wanted):
        return wanted, f"installing torch's CPU build from {wanted} (about 200 MB)"
    return None, (
        f"{wanted} does not answer: installing torch as pip is configured "
        "(where that is PyPI: a build with CUDA, several GB)"
    )


def python_of(venv):
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def works(python):
    """Whether this interpreter of a virtual environment starts and has pip."""
    try:
        done = subprocess.run([str(python), "-m", "pip", "--version"], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def installed_torch(python):
    """The version of torch in that environment, or None."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def pinned_torch():
    import tomllib

    with open(ROOT / "pyproject.toml", "rb") as file:
        dependencies = tomllib.load(file)["project"]["dependencies"]
    return next(d for d in dependencies if d.startswith("torch=="))


def pip(python, *arguments):
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *arguments]
    return subprocess.run(command, cwd=str(ROOT)).returncode == 0


def install(python, dev, index_wanted):
    """Install torch by its exact pin, then the course; whether all went well."""
    pin = pinned_torch()
    version = installed_torch(python)
    if version is None or version.split("+")[0] != pin.split("==")[1]:
        index, line = torch_index(index_wanted, sys.platform)
        say(line)
        # impatient: an index that answers and then stalls is as good as none
        done = index is not None and pip(python, pin, "--index-url", index, "--retries", "0", "--timeout", "15")
        if index is not None and not done:
            say("that failed: installing torch as pip is configured")
        # first and alone: a range asked for by another package would bring a newer build
        if not done and not pip(python, pin):
            return False
    say(f"installing the course and what its {'tests' if dev else 'notebooks'} need")
    return pip(python, "-e", ".[dev]" if dev else ".")


def configure_lab(venv):
    """Switch nbgrader's "Create Assignment" panel and the news toast off in this environment's JupyterLab.

    Not as the package's data files: setuptools leaves these out of an editable install.
    """
    folder = venv / "etc" / "jupyter" / "labconfig" / "page_config.d"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(str(LAB_CONFIG), str(folder))


def main(arguments=None):
    version = sys.version_info
    complaint = old_python(version, sys.executable) or missing_ensurepip(version, has_ensurepip())
    if complaint:
        say(complaint)
        return 1
    parser = argparse.ArgumentParser(prog="python -m tools.environment")
    parser.add_argument("venv", type=Path)
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    parser.add_argument("--torch-index", default="", help="CPU builds' index; empty: pip's own; or 'cuda'")
    options = parser.parse_args(arguments)
    python = python_of(options.venv)
    if not works(python):
        say(f"making {options.venv} with Python {dotted(version)} ({sys.executable})")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(options.venv)], check=True)
    if not install(python, options.dev, options.torch_index):
        say("pip failed, see above; run make again once that is mended: it goes on where it stopped")
        return 1
    configure_lab(options.venv)
    say(f"{options.venv} is ready")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
