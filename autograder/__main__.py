"""The instructor's command line: `python -m autograder grade SUBMITTED_DIR` marks a class."""

import contextlib
import importlib
import sys

from course.options import Parser

COMMANDS = {
    "collect": ("autograder.collect", "put what an LMS gave into nbgrader's layout"),
    "grade": ("autograder.grade", "mark submissions into nbgrader's gradebook"),
    "selftest": ("autograder.sandbox.selftest", "attack the sandbox on this machine"),
    "report": ("autograder.report", "print the class as tables, and as CSV for an LMS"),
}


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments say; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = Parser(prog="python -m autograder", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="|".join(COMMANDS))
    for name, (module, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about, description=about)
        if arguments[:1] == [name]:  # the others' modules are not needed
            importlib.import_module(module).add(command)
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a student's name must not stop the summary where a terminal knows few letters
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")
    return importlib.import_module(COMMANDS[options.command][0]).run(options)


if __name__ == "__main__":
    sys.exit(main())
