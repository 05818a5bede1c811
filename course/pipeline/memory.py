"""Bytes of activations that autograd holds, counted exactly: not RSS, not the allocator."""

import contextlib
from collections import Counter

import torch


class SavedBytes:
    """Counts what is saved for the backward inside `with meter.saving(owner)`, until it is let go.

    A storage counts once however many operations saved it, a parameter never. An owner is held while any
    tensor that it saved is.
    """

    def __init__(self, parameters=()):
        self._excluded = {parameter.untyped_storage().data_ptr() for parameter in parameters}
        self._storages = Counter()
        self._owners = Counter()
        self.bytes = self.peak_bytes = self.peak_owners = 0

    def saving(self, owner):
        """A context in which saved tensors are counted, on the account of `owner`."""
        return torch.autograd.graph.saved_tensors_hooks(lambda tensor: self._pack(tensor, owner), _unpack)

    @property
    def owners(self) -> int:
        """How many owners hold something now."""
        return len(self._owners)

    def _pack(self, tensor, owner):
        storage = tensor.untyped_storage()
        if storage.data_ptr() in self._excluded:
            return tensor
        return _Box(self, tensor, owner, storage.data_ptr(), storage.nbytes())

    def _take(self, box):
        if not self._storages[box.storage]:
            self.bytes += box.size
            self.peak_bytes = max(self.peak_bytes, self.bytes)
        self._storages[box.storage] += 1
        self._owners[box.owner] += 1
        self.peak_owners = max(self.peak_owners, len(self._owners))

    def _let_go(self, box):
        for counter, key in ((self._storages, box.storage), (self._owners, box.owner)):
            counter[key] -= 1
            if not counter[key]:
                del counter[key]
        if box.storage not in self._storages:
            self.bytes -= box.size


class NotCounted:
    """In place of SavedBytes where a step is timed at full speed: looking at each saved tensor takes a tenth of it."""

    bytes = peak_bytes = peak_owners = 0

    def saving(self, owner):
        """A context in which nothing is counted."""
        return contextlib.nullcontext()


class _Box:
    """A saved tensor; it dies when autograd has no more use for it."""

    __slots__ = ("meter", "owner", "size", "storage", "tensor")

    def __init__(self, meter, tensor, owner, storage, size):
        self.meter, self.tensor, self.owner, self.storage, self.size = meter, tensor, owner, storage, size
        meter._take(self)

    def __del__(self):
        self.meter._let_go(self)


def _unpack(saved):
    return saved.tensor if isinstance(saved, _Box) else saved
