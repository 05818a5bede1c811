"""What the fork server imports once, so that its children start with torch in a hundredth of the time.

Named to multiprocessing as text; nobody else imports it. A first `backward(gradient)` imports sympy through
torch.fx.experimental.symbolic_shapes, 0.9 s and 43 MB a worker. The heap is frozen so that the children's garbage
collection leaves the shared pages as they are.
"""

import gc
import sys

IN_FORK_SERVER = any("multiprocessing.forkserver" in argument for argument in sys.orig_argv)

if IN_FORK_SERVER:
    gc.disable()

import cloudpickle  # noqa: E402, F401
import torch  # noqa: E402
import torch.distributed  # noqa: E402
import torch.fx.experimental.symbolic_shapes  # noqa: E402

from course.pipeline import reference, training, worker  # noqa: E402, F401

if IN_FORK_SERVER:
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    gc.enable()
