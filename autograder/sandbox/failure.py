"""Why no sandbox can be made here, and what would help."""

import os
import platform
import sys
from pathlib import Path

from autograder.sandbox import linux
from autograder.sandbox.seccomp import MACHINES

WITHOUT = "or type --no-sandbox, for submissions of people whom you would let use this machine"
OLDEST = 5, 3  # Linux with pidfd_open
NOT_LINUX = {"darwin": "a Linux machine, container or virtual machine", "win32": "Linux in WSL 2 (`wsl --install`)"}
SETTINGS = {  # what distributions forbid with, the value that forbids, and what allows it
    "user/max_user_namespaces": ("0", "user.max_user_namespaces=10000"),
    "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
}


class SandboxFailed(Exception):
    """There is no sandbox: `reason` says why, `fix` what the instructor can do."""

    def __init__(self, reason: str, fix: str):
        super().__init__(f"No sandbox for strangers' code: {reason}.\nWhat helps: {fix};\n{WITHOUT}.")
        self.reason, self.fix = reason, fix


def require_linux():
    """SandboxFailed where no sandbox of this kind can be, before anything is tried."""
    if sys.platform != "linux":
        raise SandboxFailed(f"this is {platform.system()}, and it is made of what only Linux has",
                            NOT_LINUX.get(sys.platform, NOT_LINUX["darwin"]))
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])
    if release < OLDEST:
        raise SandboxFailed(f"Linux {platform.release()} is too old", f"Linux {'.'.join(map(str, OLDEST))} or newer")
    if platform.machine() not in MACHINES:
        raise SandboxFailed(f"its filter of system calls does not know {platform.machine()}", f"one of {', '.join(MACHINES)}")


def explained(error: str, proc: Path = Path("/proc"), root: bool | None = None) -> SandboxFailed:
    """What went wrong while it was set up, with the setting or the container that stands behind it."""
    root = os.geteuid() == 0 if root is None else root
    denied = any(word in error for word in ("unshare", "mount", "/proc/self/", "pivot_root"))
    for name, (forbids, allows) in SETTINGS.items():
        path = proc / "sys" / name
        bound = not (root and name.startswith("kernel/"))
        if denied and bound and path.exists() and path.read_text().strip() == forbids:
            return SandboxFailed(f"{error}; {path} is {forbids}",
                                 f"`sudo sysctl -w {allows}`{', or grade as root' * name.startswith('kernel/')}")
    if denied:
        return SandboxFailed(f"{error}; so it is in most containers",
                             "grade outside of the container, or start it with `--privileged`, or with `--security-opt "
                             "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`")
    return SandboxFailed(error, "start again, and see what `python -m autograder selftest` says; else grade on another machine")


def require_more_than_a_bare_root(changes_uid: bool):
    """SandboxFailed for a root that cannot become another user: inside it would still own the machine's files."""
    if os.geteuid() == 0 and not changes_uid and " ".join(Path("/proc/self/uid_map").read_text().split()) == "0 0 4294967295":
        raise SandboxFailed(f"root lacks {', '.join(linux.TO_CHANGE_USER)} here, so in most containers",
                            "start the container with `--privileged`, or grade as a normal user")
