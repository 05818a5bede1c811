"""Set-up: what it says about a machine that lacks something, and where it takes torch from."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import environment

ROOT = Path(__file__).resolve().parent.parent


def test_an_old_python_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: f"/bin/{name}" if name == "python3.13" else None)
    assert environment.old_python((3, 9, 2, "final", 0), "/usr/bin/python3") == (
        "/usr/bin/python3 is Python 3.9.2; this course needs 3.11 or newer. "
        "There is python3.13: say make ... PYTHON=python3.13"
    )
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    assert "Install one" in environment.old_python((3, 10, 14), "/usr/bin/python3")
    assert environment.old_python((3, 11, 0), "/usr/bin/python3") == ""


def test_a_python_without_ensurepip_is_told_the_debian_package(monkeypatch, capsys):
    assert "sudo apt install python3.12-venv" in environment.missing_ensurepip((3, 12, 1), found=False)
    assert environment.missing_ensurepip((3, 12, 1), found=True) == ""
    monkeypatch.setattr(environment, "has_ensurepip", lambda: False)
    monkeypatch.setattr(environment.subprocess, "run", lambda *_, **__: pytest.fail("it should stop"))
    assert environment.main([".venv"]) == 1
    assert "no ensurepip" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wanted, platform, answers, index, said",
    [
        ("", "linux", True, None, "as pip is configured"),
        ("cuda", "linux", True, None, "default build"),
        ("https://cpu", "linux", True, "https://cpu", "CPU build from https://cpu"),
        ("https://cpu", "linux", False, None, "https://cpu does not answer"),
        ("https://cpu", "darwin", True, None, "default build is the CPU build"),
        ("https://cpu", "win32", True, None, "default build is the CPU build"),
    ],
)
def test_where_torch_comes_from(wanted, platform, answers, index, said):
    found, line = environment.torch_index(wanted, platform, reach=lambda url: answers)
    assert found == index
    assert said in line


def test_an_index_that_refuses_or_never_answers_costs_seconds():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        start = time.monotonic()
        assert not environment.reachable(f"http://127.0.0.1:{port}", patience=0.2)
    assert not environment.reachable(f"http://127.0.0.1:{port}")
    assert time.monotonic() - start < 60  # a guard against hangs


@pytest.mark.parametrize("index_works", [True, False])
def test_torch_is_installed_first_and_alone_then_the_course(monkeypatch, index_works):
    calls = []

    def pip(python, *arguments):
        calls.append(arguments)
        return index_works or "--index-url" not in arguments

    monkeypatch.setattr(environment, "installed_torch", lambda python: None)
    monkeypatch.setattr(environment, "torch_index", lambda wanted, platform: ("https://cpu", ""))
    monkeypatch.setattr(environment, "pip", pip)
    assert environment.install("python", dev=True, index_wanted="https://cpu")
    plain = [] if index_works else [("torch==2.13.0",)]
    from_index = ("torch==2.13.0", "--index-url", "https://cpu", "--retries", "0", "--timeout", "15")
    assert calls == [from_index, *plain, ("-e", ".[dev]")]


def test_an_index_is_not_asked_where_torch_is_there(monkeypatch):
    calls = []
    monkeypatch.setattr(environment, "installed_torch", lambda python: "2.13.0+cpu")
    monkeypatch.setattr(environment, "torch_index", lambda *_: pytest.fail("no index is needed"))
    monkeypatch.setattr(environment, "pip", lambda python, *arguments: calls.append(arguments) or True)
    assert environment.install("python", dev=False, index_wanted="https://cpu")
    assert calls == [("-e", ".")]


@pytest.fixture
def copy(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def make(folder, *arguments):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k not in ("TESTS", "ARGS")}
    return subprocess.run(["make", *arguments], cwd=folder, env=inherited, capture_output=True, text=True)


def test_make_alone_lists_the_targets(copy):
    done = make(copy)
    assert done.returncode == 0
    for target in ("make lab", "make test", "make notebooks", "make lint", "make clean"):
        assert target in done.stdout


@pytest.mark.parametrize("target", ["lab", "test"])
def test_make_without_python_says_so_and_leaves_no_stamp(copy, target):
    done = make(copy, target, "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "no no-such-python here; this course needs Python 3.11" in done.stdout
    assert not (copy / ".venv").exists()


def test_make_stops_where_python_is_old(copy):
    fake = copy / "old-python"
    fake.write_text(
        f"#!{sys.executable}\nimport sys\nsys.version_info = (3, 9, 2)\nsys.path.insert(0, '.')\n"
        "from tools.environment import main\nsys.exit(main([]))\n"
    )
    fake.chmod(0o755)
    done = make(copy, "lab", f"PYTHON={fake}")
    assert done.returncode != 0
    assert "is Python 3.9.2; this course needs 3.11 or newer" in done.stdout
    assert not (copy / ".venv").exists()
