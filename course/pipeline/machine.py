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


def free_memory(proc: Path = Path("/proc"), cgroup: Path = CGROUP) -> int | None:
    """Bytes that may still be taken, limits of containers included; None where the system does not say."""
    try:
        fields = dict(line.split(":") for line in (proc / "meminfo").read_text().splitlines())
        free = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError):
        return None
    return max(0, min([free, *_left_in_groups(proc, cgroup)]))


def _left_in_groups(proc, cgroup):
    """What is left of the limit of each control group that this process is in; files in the cache would be let go."""
    try:
        lines = (proc / "self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    own = {controllers: path.strip("/") for _, controllers, path in (line.split(":", 2) for line in lines)}
    for top, path, limit, used, cached in (
            (cgroup, own.get("", ""), "memory.max", "memory.current", "inactive_file"),
            (cgroup / "memory", own.get("memory", ""), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")):
        for folder in {top, top / path, *(top / parent for parent in Path(path).parents)}:
            try:
                most, taken = (int((folder / name).read_text()) for name in (limit, used))
                stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                yield most - taken + int(stat.get(cached, 0))
            except (OSError, ValueError):  # "max", or none there
                continue


def facts() -> dict:
    """Plain facts to print beside a measurement."""
    return {"cores": cores(), "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version()}
