"""Where every rank is, in memory that the processes share: what an error and a stuck run are named by."""

IDLE, COMPUTING, WAITING = range(3)
FIELDS = 4
_POSITION, _STATE, _PEER, _BEATS = range(FIELDS)


class Progress:
    """One rank's row of the shared array. Position -1: at none of its operations."""

    def __init__(self, array, rank: int):
        self._array, self._base = array, rank * FIELDS

    def reset(self):
        """No operation yet."""
        self._set(-1, IDLE, -1)

    def compute(self, position: int):
        """At an operation, its inputs there."""
        self._set(position, COMPUTING, -1)

    def wait(self, position: int, peer: int):
        """At an operation, waiting for a neighbour."""
        self._set(position, WAITING, peer)

    def _set(self, position, state, peer):
        row = self._array
        row[self._base + _POSITION], row[self._base + _STATE] = position, state
        row[self._base + _PEER] = peer
        row[self._base + _BEATS] += 1

    @property
    def position(self) -> int:
        """The index of the operation in the rank's order, -1 for none."""
        return self._array[self._base + _POSITION]

    @property
    def peer(self) -> int:
        """The rank that is waited for, -1 for none."""
        return self._array[self._base + _PEER]

    @property
    def waiting(self) -> bool:
        """Whether the rank waits for a neighbour."""
        return self._array[self._base + _STATE] == WAITING

    @property
    def beats(self) -> int:
        """A number that grows with every change."""
        return self._array[self._base + _BEATS]
