"""A worker process is started: by the fork server where there is one, and so that nothing of the caller comes along."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import types
from multiprocessing import connection, process

METHOD = "forkserver" if sys.platform == "linux" else "spawn"
# the first imports the others, unless the fork server cannot find this package: it does not get the caller's sys.path
CALLER = "caller_"
PRELOAD = ["course.pipeline.preload", "torch", "torch.distributed", "torch.fx.experimental.symbolic_shapes", "cloudpickle"]

_wanted = []  # what the fork server imports before all this, see `want`
_started = set()
_ready = None  # the fork server that has done its imports


def pipes():
    """A pipe for jobs and replies, and one for what a worker says beside them: (ours, theirs, heard, said)."""
    context = multiprocessing.get_context(METHOD)
    return *context.Pipe(), *context.Pipe(duplex=False)


def start(target, arguments: tuple, name: str):
    """Start a process that does `target(*arguments)`. EOFError or OSError when it could not be."""
    worker = multiprocessing.get_context(METHOD).Process(target=target, args=arguments, daemon=True, name=name)
    with _no_main(), no_interrupt():  # a process that is half started would complain, or never end
        worker.start()
    _started.add(worker)
    return worker


def forget(workers):
    """These have ended."""
    _started.difference_update(workers)


def want(*modules: str):
    """Have the fork server import these as well, if it is not yet there: else each worker does for itself, when it needs them."""
    _wanted.extend(module for module in modules if module not in _wanted)


def preload():
    """Start the fork server, which imports torch in the background. Returns at once."""
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        # no module has such a name: it tells the fork server whose it is, see course.pipeline.preload
        forkserver.set_forkserver_preload([*_wanted, *PRELOAD, f"{CALLER}{os.getpid()}"])
        resource_tracker.ensure_running()  # not below: it would let Ctrl-C through again
        with _no_main(), no_interrupt():
            forkserver.ensure_running()


def wait_for_imports():
    """Wait until the fork server has done its imports: seconds in which Ctrl-C must come through, as in `start` it does not.

    For that it is asked for a process that ends at once. EOFError when the server has ended.
    """
    global _ready
    if METHOD != "forkserver" or _ready == _server():
        return
    from multiprocessing import forkserver

    status = None
    try:
        with no_interrupt():
            status, orders = forkserver.connect_to_new_process([])
            with open(orders, "wb") as pipe:  # what a process reads: how to prepare, and what has a _bootstrap
                pipe.write(pickle.dumps({}) + pickle.dumps(types.SimpleNamespace(_bootstrap=callable)))
        connection.wait([status])
        if not os.read(status, 1):
            raise EOFError("the fork server has ended")
    finally:
        if status is not None:
            os.close(status)
    _ready = _server()


def _server():
    from multiprocessing import forkserver

    return getattr(forkserver._forkserver, "_forkserver_pid", None)


def preloaded() -> bool:
    """Whether the fork server runs already."""
    return _server() is not None


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
    """Put Ctrl-C off for a moment. What is started meanwhile never gets it, for the mask is handed down."""
    came, handler = [], None
    # The mask is one thread's: a signal that another thread gets still interrupts this one, if this is the main one.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None:
        handler = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def _disown():
    """A copy that os.fork() made of this process ends, and multiprocessing would then end what it takes for its children."""
    getattr(process, "_children", set()).difference_update(_started)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown)
