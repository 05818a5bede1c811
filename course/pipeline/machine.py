"""What this machine is, as far as a run depends on it."""

import os
import platform
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def cores(cgroup: Path = CGROUP) -> float:
    """The cores that this process may use: its affinity, and a container's quota where that is less."""
    try:
        mine = len(os.sched_getaffinity(0))
    except AttributeError:
        mine = os.cpu_count() or 1
    return min(mine, _quota(cgroup) or mine)


def _quota(cgroup):
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((cgroup / file).read_text() for file in files).split()
            if quota not in ("max", "-1"):
                return int(quota) / int(period)
        except (OSError, ValueError, ZeroDivisionError):
            continue
    return None


def facts() -> dict:
    """Plain facts to print beside a measurement."""
    return {"cores": cores(), "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version()}
