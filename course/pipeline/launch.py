"""A worker process is started: by the fork server where there is one, and so that nothing of the caller comes along."""

import contextlib
import multiprocessing
import os
import signal
import sys
import types
from multiprocessing import process

METHOD = "forkserver" if sys.platform == "linux" else "spawn"
# the first imports the others, unless the fork server cannot find this package: it does not get the caller's sys.path
CALLER = "caller_"
PRELOAD = ["course.pipeline.preload", "torch", "torch.distributed", "torch.fx.experimental.symbolic_shapes", "cloudpickle"]

_started = set()


def pipes():
    """A pipe for jobs and replies, and one for what a worker says beside them: (ours, theirs, heard, said)."""
    context = multiprocessing.get_context(METHOD)
    return *context.Pipe(), *context.Pipe(duplex=False)


def start(target, arguments: tuple, name: str):
    """Start a process that does `target(*arguments)`. EOFError or OSError when it could not be."""
    worker = multiprocessing.get_context(METHOD).Process(target=target, args=arguments, daemon=True, name=name)
    with _no_main(), no_interrupt() if METHOD == "spawn" else contextlib.nullcontext():
        worker.start()
    _started.add(worker)
    return worker


def forget(workers):
    """These have ended."""
    _started.difference_update(workers)


def preload():
    """Start the fork server, which imports torch in the background. Returns at once."""
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        # no module has such a name: it tells the fork server whose it is, see course.pipeline.preload
        forkserver.set_forkserver_preload([*PRELOAD, f"{CALLER}{os.getpid()}"])
        resource_tracker.ensure_running()  # not below: it would let Ctrl-C through again
        with _no_main(), no_interrupt():
            forkserver.ensure_running()


def preloaded() -> bool:
    """Whether the fork server runs already."""
    from multiprocessing import forkserver

    return getattr(forkserver._forkserver, "_forkserver_pid", None) is not None


@contextlib.contextmanager
def _no_main():
    """Keep the caller's `__main__` out of the workers: it may be a kernel, a script without a guard, or no file at all."""
    real = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = real


@contextlib.contextmanager
def no_interrupt():
    """Put Ctrl-C off for a moment: what is started meanwhile never gets it, for the mask is handed down."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _disown():
    """A copy that os.fork() made of this process ends, and multiprocessing would then end what it takes for its children."""
    getattr(process, "_children", set()).difference_update(_started)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown)
