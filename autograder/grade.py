"""`python -m autograder grade`: the submissions of a folder, in parallel, to marks in nbgrader's gradebook."""

import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from autograder.autograded import printable
from autograder.files import Rejected, alike
from autograder.gradebook import Book, GradebookError, open_gradebook, shown
from autograder.intake import read_submission
from autograder.judging import Judges
from autograder.questions import Mark, grade
from autograder.release import NoRelease, read_releases
from autograder.results import CHECKED, Result, rejected, summary, write
from autograder.sandbox import SandboxFailed, Unsandboxed, open_sandbox
from autograder.seeds import new_seed, seed_of
from autograder.sessions import Sessions
from autograder.trusted_runs import TrustedRuns
from course.options import FAILED, INTERRUPTED, WRONG_INPUT, whole
from course.progress import write_atomically

HOME = Path(__file__).resolve().parent
LONGEST_NAME = 128  # characters of a student's id in the gradebook
AHEAD = 2  # submissions that are graded while marks are written: more would only fill the memory


class Refused(Exception):
    """Grading does not start; one line with the way out."""


def add(parser):
    """The options of `grade`."""
    parser.add_argument("submitted", nargs="?", default=str(HOME / "submitted"), metavar="SUBMITTED_DIR",
                        help="a folder in nbgrader's layout: <student>/pipeline_parallelism/*.ipynb; autograder/submitted")
    parser.add_argument("--gradebook", metavar="FILE", help="a file (SQLite) or a database's address; gradebook.db beside "
                        "SUBMITTED_DIR")
    parser.add_argument("--autograded", metavar="DIR", help="where the autograded notebooks go; autograded beside SUBMITTED_DIR")
    parser.add_argument("--jobs", type=whole, default=_cores(), metavar="N", help="submissions at a time; one for each core")
    parser.add_argument("--student", nargs="+", default=[], metavar="ID", help="only these; all")
    parser.add_argument("--json", metavar="OUT", help="write the results as JSON too")
    parser.add_argument("--no-sandbox", action="store_true", help="run the learners' code in plain processes, with all that you "
                        "may do; every result says so")


def run(options) -> int:
    """Grade; 0 when all was graded, 1 when something could not be, 2 when grading was refused."""
    submitted = Path(options.submitted).absolute()
    gradebook = options.gradebook or str(submitted.parent / "gradebook.db")
    autograded = Path(options.autograded or submitted.parent / "autograded").absolute()
    results, students = {}, []
    try:
        if options.jobs < 1:
            raise Refused(f"--jobs {options.jobs}: at least 1 submission at a time is needed")
        releases, students = read_releases(), _students(submitted, options.student)
        jobs = min(options.jobs, len(students))
        with _ended_by_sigterm(), contextlib.ExitStack() as stack:
            book = stack.enter_context(open_gradebook(gradebook, releases, autograded))
            sandbox = stack.enter_context(_sandbox(options.no_sandbox, jobs, (submitted, autograded, gradebook)))
            print(sandbox.describe(), *_alike(students, book), sep="\n", file=sys.stderr)
            graded = _graded(students, submitted, releases, sandbox, book, jobs)
            for result in stack.enter_context(contextlib.closing(graded)):
                results[result.student] = _written(book, result, releases).without_cells()
    except (Refused, NoRelease) as error:
        return _complain(error, WRONG_INPUT)
    except (GradebookError, SandboxFailed) as error:
        return _complain(f"{error}{_so_far(results, students)}", FAILED if results else WRONG_INPUT)
    except KeyboardInterrupt:
        done = _so_far(results, students) or f"; 0 of {len(students)} submissions are graded" * bool(students)
        return _complain(f"interrupted{done}; the same command goes on: it grades all again, with the same marks", INTERRUPTED)
    results = {student: results[student] for student in students}
    print(summary(results), f"Marks: {shown(gradebook)}; notebooks: {autograded}. Free texts wait in formgrader.", sep="\n")
    if options.json:
        try:
            found = {student: result.as_json() for student, result in results.items()}
            write_atomically(Path(options.json), json.dumps(_earlier(options) | found, indent=1) + "\n")
        except OSError as error:
            return _complain(f"{options.json} cannot be written ({error.strerror}); the marks are in the gradebook", FAILED)
    return 0 if all(result.complete for result in results.values()) else FAILED


def _earlier(options):
    """What the file says of students who were not graded now, because others were named."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(Path(options.json).read_text(encoding="utf-8")) if options.student else None
        return found if isinstance(found, dict) else {}
    return {}


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _complain(error, code):
    print(f"python -m autograder grade: {error}", file=sys.stderr)
    return code


def _so_far(results, students):
    return f"; {len(results)} of {len(students)} submissions are graded, and their marks are kept" if results else ""


@contextlib.contextmanager
def _ended_by_sigterm():
    """SIGTERM as Ctrl-C: what was started is ended, what is graded is kept."""
    def stop(*_):
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _sandbox(without, jobs, hidden):
    return Unsandboxed() if without else open_sandbox(jobs, [path for path in hidden if os.path.exists(path)])


def _students(folder, chosen):
    """The students' folders, or those chosen among them. Refused where there is none."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder)
                       if not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir()))
    except OSError as error:
        raise Refused(f"{folder} cannot be opened ({error.strerror}): name a folder in nbgrader's layout, "
                      "or make one with `python -m autograder collect`") from None
    if unknown := sorted(set(chosen) - set(names)):
        raise Refused(f"there is no submission of {unknown[0]} in {folder}; there are "
                      f"{', '.join(map(printable, names[:20])) or 'none'}")
    if not names:
        raise Refused(f"there is no submission in {folder}: it needs <student>/pipeline_parallelism/*.ipynb; "
                      "`python -m autograder collect` makes that of downloads")
    return [name for name in names if not chosen or name in chosen]


def _alike(students, book):
    """A line for each id that could be taken for another, here or in the gradebook."""
    others = alike([*students, *book.students()])
    return [f"{student!a} looks like {', '.join(map(ascii, others[student]))}: see that these are two people"
            for student in students if student in others]


def _graded(students, folder, releases, sandbox, book: Book, jobs) -> Iterator[Result]:
    """The results as they come, with a progress bar. Whoever stops early leaves no thread and no process."""
    from tqdm import tqdm

    seeds = {student: book.about(student).get("seed") for student in students}
    seeds = {student: seed if type(seed) is int else new_seed() for student, seed in seeds.items()}
    with ThreadPoolExecutor(jobs) as pool, Sessions(sandbox) as sessions, TrustedRuns() as trusted, Judges() as judges:
        means, waiting, running = (sessions, trusted, judges), iter(students), set()
        try:
            with tqdm(total=len(students), unit="submission", file=sys.stderr, disable=None) as bar:
                while True:
                    for student in itertools.islice(waiting, jobs + AHEAD - len(running)):
                        running.add(pool.submit(_grade_one, student, seeds[student], folder, releases, means))
                    if not running:
                        return
                    future = wait(running, return_when=FIRST_COMPLETED).done.pop()
                    running.remove(future)
                    yield future.result()
                    bar.update()
        finally:
            for future in running:
                future.cancel()


def _is_id(student):
    """Whether a folder's name can be a student's id in the gradebook."""
    return len(student) <= LONGEST_NAME and student.isprintable()


def _written(book, result, releases):
    """The result, or the reason why it is not in the gradebook; whatever happens, the class goes on."""
    try:
        if _is_id(result.student):
            write(book, result, releases)
        return result
    except GradebookError:  # no fault of this submission's, and the next would have none either
        raise
    except Exception as error:
        reason = f"its marks were not written ({type(error).__name__}: {error}); what the gradebook has is older"
        return rejected(result.student, result.seed, result.boxed, reason)


def _grade_one(student, seed, folder, releases, means):
    """One student's result; whatever happens, the class goes on."""
    sessions, trusted, judges = means
    try:
        if not _is_id(student):
            raise Rejected(f"the folder's name is no student's id: at most {LONGEST_NAME} printable characters")
        submission = read_submission(folder / student, releases)
    except Rejected as error:
        return rejected(student, seed, sessions.boxed, str(error))
    except Exception as error:
        return rejected(student, seed, sessions.boxed, f"reading it failed: {type(error).__name__}: {error}")
    try:
        marks = grade(submission, sessions, seed_of(seed, submission), trusted.for_submission(), judges)
    except SandboxFailed:  # no fault of this submission's, and the next would have none either
        raise
    except Exception as error:
        marks = dict.fromkeys(CHECKED, Mark(None, notes=(f"not graded: {type(error).__name__}: {error}",)))
    return Result(student, seed, submission, marks, sessions.boxed)
