"""How the ranks of a pool find each other: what one says, the parent passes on to the others. No file and no port."""

import pickle

import torch.distributed as dist

from course.pipeline.worker import INTRODUCTION


class Introductions(dist.Store):
    """The store of the ranks' addresses, by way of the parent's pipe."""

    def __init__(self, pipe):
        super().__init__()
        self._pipe, self._known = pipe, {}

    def set(self, key, value):
        """Tell all ranks."""
        self._known[key] = bytes(value)
        self._pipe.send_bytes(INTRODUCTION + pickle.dumps((key, bytes(value))))

    def get(self, key):
        """What a rank has told; waits for it. EOFError when the parent has ended."""
        while key not in self._known:
            other, value = pickle.loads(self._pipe.recv_bytes().removeprefix(INTRODUCTION))
            self._known[other] = value
        return self._known[key]

    def wait(self, keys, timeout=None):
        """Wait until all of this is told; for how long is the parent's to say."""
        for key in keys:
            self.get(key)
