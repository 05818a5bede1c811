"""What holds for every test: skips are listed with their reasons, and STRICT=1 makes them failures."""

import os
import sysconfig
from collections import defaultdict

import pytest

STRICT = os.environ.get("STRICT", "") not in ("", "0")
# nbgrader calls `alembic` by its bare name
os.environ["PATH"] = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
left_out: defaultdict[str, set[str]] = defaultdict(set)  # reason -> what was left out for it


def reason_of(report):
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


def judge(report):
    """Count a skip, and under STRICT make a failure of it; a strict xfail is a test that holds."""
    if not report.skipped:
        return
    reason = reason_of(report).removeprefix("Skipped: ")
    left_out[reason].add(report.nodeid)
    if STRICT:
        report.outcome = "failed"
        report.longrepr = f"STRICT=1: {report.nodeid} was left out: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    marker = item.get_closest_marker("xfail")
    strict = item.config.getini("xfail_strict")
    held = hasattr(report, "wasxfail") and (marker is None or marker.kwargs.get("strict", strict))
    if not held:
        judge(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    judge(report)
    return report


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # one of several processes that test side by side
        session.config.workeroutput["left_out"] = {reason: sorted(ids) for reason, ids in left_out.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    for reason, ids in getattr(node, "workeroutput", {}).get("left_out", {}).items():
        left_out[reason].update(ids)


def pytest_terminal_summary(terminalreporter):
    if left_out and not STRICT:
        terminalreporter.section("left out on this machine")
        for reason, ids in sorted(left_out.items()):
            terminalreporter.line(f"left out on this machine: {reason} ({len(ids)} test{'s' * (len(ids) > 1)})")
