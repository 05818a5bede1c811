"""Counts the collectives of torch.distributed where they are called, in DTensor's own code as in ours."""

from collections import Counter
from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

NAMESPACES = "c10d", "_c10d_functional"
# messages are counted where they are sent
NO_COLLECTIVES = {"send", "recv_", "isend", "irecv", "wait_tensor", "_wrap_tensor_autograd"}


class CountedAllReduces(TorchDispatchMode):
    """Inside `with`, each all-reduce adds to `calls` and `bytes` of its axis: the bytes of what is added up, not of the ring.

    `axes` says which axis a group is of, by its name. Any other collective is an error: nothing is sent uncounted.
    """

    def __init__(self, axes: Mapping[str, str]):
        super().__init__()
        self._axes, self.calls, self.bytes = axes, Counter(), Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # first it becomes collectives and operations on what each process has
        name = func.overloadpacket.__name__ if isinstance(func, torch._ops.OpOverload) else ""
        if name and func.namespace in NAMESPACES and name not in NO_COLLECTIVES:
            self._count(name, args)
        return func(*args, **(kwargs or {}))

    def _count(self, name, args):
        if name == "all_reduce":
            tensors, group = [args[0]], args[2]
        elif name == "allreduce_":
            tensors, group = args[0], dist.ProcessGroup.unbox(args[1]).group_name
        else:
            raise RuntimeError(f"{name} was called, and only all-reduces are counted here")
        if group not in self._axes:
            raise RuntimeError(f"an all-reduce in the group {group}, which is of no axis")
        axis = self._axes[group]
        self.calls[axis] += 1
        self.bytes[axis] += sum(tensor.nbytes for tensor in tensors)
