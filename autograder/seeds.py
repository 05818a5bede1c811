"""The seed of what is drawn for a submission: of a number that is kept with its marks, and of what was handed in.

Neither goes where a submission is run. Graded again it is asked the same; once it has changed, what feedback told of the old
questions is worth nothing.
"""

import hashlib
import json
import secrets

from autograder.intake import Submission

BITS = 53  # too many to try them all with questions that are known, and a whole number for whatever reads JSON


def new_seed() -> int:
    """The number to keep for a student who has none."""
    return secrets.randbelow(2**BITS)


def seed_of(kept: int, submission: Submission) -> int:
    """The seed for these cells."""
    cells = {name: [[cell.grade_id, cell.kind, cell.source] for cell in found] for name, found in submission.notebooks.items()}
    return int.from_bytes(hashlib.sha256(json.dumps([kept, cells], sort_keys=True).encode()).digest()[:8])
