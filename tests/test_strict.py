"""What is left out is listed with its reason, and STRICT=1 makes a failure of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = """
import pytest
pytestmark = pytest.mark.filterwarnings("ignore")
def test_passes(): pass
@pytest.mark.skip(reason="no browser here")
def test_skipped(): pass
@pytest.mark.xfail(reason="known")
def test_strict_xfail(): assert False
@pytest.mark.xfail(reason="flaky", strict=False)
def test_loose_xfail(): assert False
"""


@pytest.fixture
def outcome(tmp_path):
    shutil.copy(Path(__file__).resolve().parent.parent / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nxfail_strict = true\n")
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "test_module.py").write_text('import pytest\npytest.skip("not here", allow_module_level=True)\n')

    def run(strict, *options):
        environment = {k: v for k, v in os.environ.items() if k != "STRICT"} | ({"STRICT": "1"} if strict else {})
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", *options]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout

    return run


SIDE_BY_SIDE = pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two processes"])


@SIDE_BY_SIDE
def test_without_strict_a_skip_is_listed_with_its_reason(outcome, options):
    code, said = outcome(False, *options)
    assert code == 0
    for reason in ("no browser here", "not here", "expected to fail: flaky"):
        assert f"left out on this machine: {reason} (1 test)" in said
    assert "known" not in said.split("left out on this machine")[1]


@SIDE_BY_SIDE
def test_strict_makes_a_failure_of_every_skip_and_loose_xfail(outcome, options):
    code, said = outcome(True, *options)
    assert code != 0
    for reason in ("no browser here", "not here", "expected to fail: flaky"):
        assert f"was left out: {reason}" in said
    assert "test_strict_xfail" not in said
