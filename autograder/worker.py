"""The learner's side of a session: runs cells and answers questions about names, data only; holds no check and no solution.

Frames on stdin and stdout, each a 4-byte length and JSON text. In: {"id", "run": source}, {"id", "value": name} or
{"id", "call": name, "arguments": wire}, each with limits, "seconds"
and perhaps "computing" (of the processor). Out: {"id", "answer": wire}.
"""

import ast
import contextlib
import itertools
import json
import os
import struct
import sys
import types

from course.answers import LocalAnswer, Raised
from course.wire import from_wire, to_wire

HEADER = struct.Struct(">I")
MAX_FRAME = 4 << 20  # bytes; more is refused here and no answer there
_numbers = itertools.count()  # so that a line of one cell is not taken for another's


def read_frame(file) -> dict | None:
    """The next frame, None at the end of the input."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return json.loads(file.read(HEADER.unpack(header)[0]))


def frame_of(content: dict) -> bytes:
    """Header and text of one frame."""
    data = json.dumps(content).encode()
    return HEADER.pack(len(data)) + data


def reply_of(request: dict, found) -> bytes:
    """The frame that answers this request; what would not fit in one is refused."""
    frame = frame_of({"id": request["id"], "answer": to_wire(found)})
    if len(frame) <= MAX_FRAME:
        return frame
    return reply_of(request, Raised("Refused", f"the answer has more than {MAX_FRAME >> 20} million characters"))


def run_cell(source: str, namespace: dict):
    """Execute a cell as a notebook would, without its display; IPython's magics are not known."""
    name = f"<cell {next(_numbers)}>"
    with contextlib.redirect_stdout(sys.__stdout__), contextlib.redirect_stderr(sys.__stderr__):  # printed at once, as it comes
        exec(compile(ast.parse(source, name), name, "exec"), namespace)


def answer(request: dict, namespace: dict):
    """Plain data or Raised for one request."""
    limits = request.get("seconds", 5.0), request.get("computing")
    if "run" in request:
        return LocalAnswer(lambda: run_cell(request["run"], namespace), *limits).call()
    name = request.get("value", request.get("call"))
    if name not in namespace:
        return Raised("NameError", f"there is no {name}")
    local = LocalAnswer(namespace[name], *limits)
    return local.value() if "value" in request else local.call(*from_wire(request["arguments"], records=True))


def main():
    """Serve requests until the input ends. What the cells print goes to stderr, never between the frames."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    printed = sys.__stdout__
    printed.reconfigure(line_buffering=True, errors="replace")
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module  # so that classes and pickles of the learner's find their home
    namespace, me = module.__dict__, os.getpid()
    while (request := read_frame(requests)) is not None:
        try:
            found = answer(request, namespace)
        except KeyboardInterrupt:  # nobody presses Ctrl-C here: the learner's code raised it
            found = Raised("KeyboardInterrupt", "")
        if os.getpid() != me:  # a cell forked, and this is the child: it is not the one who is asked
            os._exit(0)
        with contextlib.suppress(Exception):
            printed.flush()  # a line without an end, too, belongs to the cell that printed it
        replies.write(reply_of(request, found))
        replies.flush()


if __name__ == "__main__":
    main()
