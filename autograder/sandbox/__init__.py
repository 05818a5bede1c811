"""A stranger's code in a process that sees, reaches and keeps nothing: see `open_sandbox`."""

from autograder.sandbox.box import Sandbox, Unsandboxed, open_sandbox
from autograder.sandbox.failure import SandboxFailed
from autograder.sandbox.limits import Limits

__all__ = ["Limits", "Sandbox", "SandboxFailed", "Unsandboxed", "open_sandbox"]
