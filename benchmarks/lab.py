"""All that runs on a learner's machine beside the browser: JupyterLab, one kernel after a run of 4 processes, those processes.

Target: 700 MiB PSS together, so that it fits Binder. Peer: the same kernel with torch imported into it, which is what a
course does whose processes are forks of the kernel.
"""

import argparse
import json
import tempfile
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import psutil
from jupyter_client import BlockingKernelClient

from benchmarks.processes import pss
from benchmarks.table import heading, show
from tests.browser import jupyter

RUN = """
from course import notebook, schedules
print(notebook.run_for_real(schedules.gpipe(4, 8)).run.pids)
"""
PEER = """
import torch, torch.distributed, torch.fx.experimental.symbolic_shapes
torch.ones(1, requires_grad=True).sum().backward()
"""
PATIENCE = 60  # seconds


def tree(pid):
    """MiB of a process and of all that it started, by program."""
    process = psutil.Process(pid)
    held = {}
    for each in [process, *process.children(recursive=True)]:
        command = " ".join(each.cmdline())
        kind = ("JupyterLab" if each.pid == pid else "kernel" if "ipykernel" in command else "workers and their fork server")
        held[kind] = held.get(kind, 0) + pss(each.pid)
    return held


def lab_after(code):
    """MiB by program of a JupyterLab one of whose kernels has run this code."""
    with tempfile.TemporaryDirectory() as place:
        home, runtime = Path(place), Path(place, "runtime")
        with jupyter(home, home) as url:
            kernel = _start_kernel(url)
            client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{kernel}.json"))
            client.load_connection_file()
            client.start_channels()
            client.wait_for_ready(PATIENCE)
            done = client.execute_interactive(code, timeout=PATIENCE, output_hook=lambda message: None)
            if done["content"]["status"] != "ok":
                raise RuntimeError(f"the kernel says: {done['content']}")
            client.stop_channels()
            (said,) = runtime.glob("jpserver-*.json")
            return tree(json.loads(said.read_text())["pid"])


def _start_kernel(url):
    """The id of a new kernel, asked for as a browser does: with the page's cookie."""
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    browser.open(url + "lab", timeout=PATIENCE).close()
    token = next(cookie.value for cookie in jar if cookie.name == "_xsrf")
    with browser.open(urllib.request.Request(url + "api/kernels", method="POST", headers={"X-XSRFToken": token})) as reply:
        return json.load(reply)["id"]


def main():
    """Print the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    heading("PSS of JupyterLab, a kernel and the processes of a run")
    ours, peer = lab_after(RUN), lab_after(RUN + PEER)
    rows = [[name, f"{ours[name]:.0f}", f"{peer[name]:.0f}", f"{ours[name] / peer[name]:.2f}"] for name in ours]
    both = [sum(held.values()) for held in (ours, peer)]
    show(["", "MiB", "torch in the kernel (peer)", "ratio"],
         [*rows, ["together", *(f"{held:.0f}" for held in both), f"{both[0] / both[1]:.2f}"]])


if __name__ == "__main__":
    main()
