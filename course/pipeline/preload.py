"""What the fork server imports once, so that its children start with torch in a hundredth of the time.

Named to multiprocessing as text; nobody else imports it. A first `backward(gradient)` imports sympy through
torch.fx.experimental.symbolic_shapes, 0.9 s and 43 MB a worker. The heap is frozen so that the children's garbage
collection leaves the shared pages as they are.
"""

import atexit
import gc
import os
import re
import shutil
import sys
from multiprocessing import forkserver

from course.pipeline.launch import CALLER

IN_FORK_SERVER = any("multiprocessing.forkserver" in argument for argument in sys.orig_argv)


def _tidy_up(server):
    """Remove the folder of the fork server's socket: of a caller that was killed it would stay."""
    folder = os.path.dirname(getattr(forkserver._forkserver, "_forkserver_address", None) or "")
    callers = {int(pid) for argument in sys.orig_argv for pid in re.findall(rf"{CALLER}(\d+)", argument)}
    if os.getpid() == server and os.getppid() not in callers and os.path.basename(folder).startswith("pymp-"):
        shutil.rmtree(folder, ignore_errors=True)


if IN_FORK_SERVER:
    atexit.register(_tidy_up, os.getpid())
    gc.disable()

import cloudpickle  # noqa: E402, F401
import torch  # noqa: E402
import torch.distributed  # noqa: E402
import torch.fx.experimental.symbolic_shapes  # noqa: E402

from course.pipeline import reference, rendezvous, training, worker  # noqa: E402, F401

if IN_FORK_SERVER:
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    gc.enable()
