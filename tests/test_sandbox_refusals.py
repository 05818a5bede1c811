"""Where the sandbox cannot hold: the refusal names the setting and its fix."""

import sys

import pytest

from autograder.sandbox import SandboxFailed, failure, open_sandbox


@pytest.mark.parametrize(("setting", "value", "fix"), [
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "0", "--privileged"),
])
def test_a_refusal_names_the_fix_of_this_distribution(setting, value, fix, tmp_path):
    (tmp_path / "sys" / setting).parent.mkdir(parents=True)
    (tmp_path / "sys" / setting).write_text(value + "\n")
    for error in ("unshare of user, pid: Operation not permitted", "[Errno 13] Permission denied: '/proc/self/uid_map'"):
        assert fix in failure.explained(error, tmp_path, root=False).fix
    assert "sysctl" not in failure.explained("mount at /: Operation not permitted", tmp_path, root=True).fix


@pytest.mark.parametrize(("platform", "fix"), [("darwin", "Linux machine"), ("win32", "WSL 2")])
def test_other_systems_are_refused_before_anything_is_started(platform, fix, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(SandboxFailed, match=fix):
        open_sandbox(preload=())
