"""`python -m course`: what it prints, and one line for what it cannot do."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from course.__main__ import main
from course.pipeline import PipelineError
from course.plan import DEFAULT
from course.plan_file import plan_from_toml
from course.schedules import SCHEDULES, interleaved_1f1b

ROOT = Path(__file__).parents[1]


def course(*arguments, folder):
    return subprocess.run([sys.executable, "-m", "course", *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=120, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)


def test_show_draws_a_schedule(capsys):
    assert main(["show", "gpipe", "--ranks", "2", "--micro-batches", "2", "--backward", "2"]) == 0
    assert capsys.readouterr().out == """\
F0 F1 .  .  .  B0 ~  B1 ~
.  F0 F1 B0 ~  B1 ~  .  .

makespan   9 slots
bubble     1/3 = 33.3% of the time: idle over total
           1/2 = 50.0% of the ideal time: idle over busy
held       2, 2 micro-batches at most per rank
"""


@pytest.mark.parametrize("name", SCHEDULES)
def test_show_knows_every_schedule(name, capsys):
    assert main(["show", name, "--stages", "2", "--micro-batches", "4"]) == 0
    output = capsys.readouterr().out
    assert "bubble" in output and "makespan" in output and "held" in output


@pytest.mark.parametrize(("arguments", "words"), [
    ("show gantt", ["'gantt'", "gpipe, 1f1b, interleaved_1f1b"]),
    ("show gpipe --ranks 0", ["0", "at least 1"]),
    ("show gpipe --stages four", ["'four'", "whole number", "such as 4"]),
    ("show gpipe --micro-batches 2.5", ["'2.5'", "whole number"]),
    ("show interleaved_1f1b --ranks 4 --micro-batches 6", ["6", "multiple of ranks = 4", "4 or 8"]),
    ("show 1f1b --chunks 2", ["chunks = 2", "interleaved_1f1b"]),
    ("show gpipe --forward 1,2", ["2 times for 4 stages"]),
    ("show gpipe --backward soon", ["'soon'", "slots", "0.5"]),
    ("show gpipe --latency -1", ["latency", "-1", "at least 0"]),
    ("show gpipe --latency=-1", ["-1", "at least 0"]),
    ("show gpipe --message 1,2", ["2 times for the 3 boundaries"]),
    ("show gpipe --ranks 100000 --micro-batches 100000", ["20,000,000,000", "take fewer"]),
    ("show nowhere.csv", ["nowhere.csv", "cannot be read"]),
    ("show", ["schedule"]),
    ("", ["show|run"]),
    ("draw gpipe", ["'draw'"]),
    ("run gpipe --clock sundial", ["'sundial'", "paced, real, virtual"]),
    ("run gpipe --stages 0", ["0", "at least 1"]),
    ("run gpipe --ranks 17", ["17", "at most 16"]),
    ("run gpipe --steps 0", ["steps = 0"]),
    ("run gpipe --slot-seconds nan", ["nan", "from 1e-06 to 600"]),
])
def test_bad_input_is_answered_in_one_line(arguments, words, capsys):
    try:
        code = main(arguments.split())
    except SystemExit as ended:
        code = ended.code
    output, errors = capsys.readouterr()
    assert (code, output) == (2, "")
    assert len(errors.splitlines()) == 1
    for word in words:
        assert word in errors


def test_a_schedule_goes_to_csv_and_comes_back(tmp_path, capsys):
    assert main(["show", "interleaved_1f1b", "--ranks", "2", "--micro-batches", "2", "--csv"]) == 0
    csv = capsys.readouterr().out
    assert csv == interleaved_1f1b(2, 2, 2).to_csv()
    file = tmp_path / "mine.csv"
    file.write_text(csv)
    assert main(["show", str(file)]) == 0
    drawn = capsys.readouterr().out
    assert main(["show", "interleaved_1f1b", "--ranks", "2", "--micro-batches", "2"]) == 0
    assert drawn == capsys.readouterr().out


@pytest.mark.parametrize(("text", "options", "words"), [
    ("0F0,0B0\n1F0,1B0", ["--ranks", "3"], ["ranks = 3", "2 rows"]),
    ("0F0,0B0", ["--chunks", "1"], ["chunks = 1", "leave it out"]),
    ("0F0,nothing", [], ["row 0, column 1", "'nothing'"]),
    ("0B0,0F0", [], ["B0 comes before F0"]),
])
def test_a_bad_file_is_answered_in_one_line(text, options, words, tmp_path, capsys):
    (tmp_path / "mine.csv").write_text(text)
    assert main(["show", str(tmp_path / "mine.csv"), *options]) == 2
    errors = capsys.readouterr().err
    assert len(errors.splitlines()) == 1
    assert all(word in errors for word in words)


def test_a_file_that_deadlocks_is_drawn_as_far_as_it_goes(tmp_path, capsys):
    (tmp_path / "mine.csv").write_text("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n")
    assert main(["show", str(tmp_path / "mine.csv")]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("F0 .\n.  F0\n! deadlock: stage 0, stage 1, each waits for the next, for ever\n")
    assert printed.err.startswith("python -m course: deadlock: stage 0 is at B0") and printed.err.count("\n") == 1
    assert main(["show", str(tmp_path / "mine.csv"), "--csv"]) == 0


def test_show_needs_no_torch_and_no_notebook():
    code = ("import sys; from course.__main__ import main; main(['show', 'gpipe']); "
            "print({'torch', 'IPython', 'matplotlib', 'multiprocessing'} & set(sys.modules))")
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert output.splitlines()[-1] == "set()"


def test_run_prints_the_measurement_under_the_prediction(tmp_path):
    done = course("run", "gpipe", "--stages", "2", "--micro-batches", "3", "--steps", "3", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("F0 F1 F2") == 4
    for word in ("predicted", "measured", "bubble", "step", "loss", "gradients", "held", "at step 2"):
        assert word in done.stdout


def test_run_prints_one_json_object(tmp_path):
    done = course("run", "interleaved_1f1b", "--ranks", "2", "--micro-batches", "2", "--clock", "virtual", "--json",
                  folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert (record["schedule"], record["stages"], record["chunks"], record["micro_batches"]) == (
        "interleaved_1f1b", 4, 2, 2)
    assert record["max_gradient_difference"] == 0.0
    assert record["bubble_measured"] == record["bubble_predicted"]


def test_a_failed_run_is_one_line_and_another_exit_code(monkeypatch, capsys):
    def fail(*arguments, **options):
        raise PipelineError("rank 1 failed at 1F0: cause", 1, "1F0", "cause", "a traceback\nof many lines")

    monkeypatch.setattr("course.pipeline.run", fail)
    assert main(["run", "gpipe"]) == 1
    assert capsys.readouterr().err == "python -m course: rank 1 failed at 1F0: cause\n"


def test_an_interrupted_run_says_so(monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("course.pipeline.run", interrupt)
    assert main(["run", "gpipe"]) == 130
    assert capsys.readouterr().err == "python -m course: interrupted; no process is left\n"


PLAN = """
layers = 4
[[row]]
schedule = "1f1b"
pp = 2
micro_batches = 4
micro_batch_size = 1
[[row]]
schedule = "gpipe"
pp = 2
micro_batches = 2
micro_batch_size = 2
slow_stage = 2
"""


def test_table_prints_a_plan_that_it_can_read(capsys):
    assert main(["table", "--template"]) == 0
    text = capsys.readouterr().out
    assert tuple(plan_from_toml(text).rows.values()) == DEFAULT and text.startswith("# A plan")
    assert main(["table", "--blank"]) == 0 and "Experiment record" in capsys.readouterr().out


def test_table_runs_a_plan_and_goes_on_where_it_stopped(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    done = course("table", "plan.toml", "--clock", "virtual", folder=tmp_path)
    assert done.returncode == 0 and "2/2" in done.stderr and "2 of 2 rows are in the table" in done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[1:3]] == ["1f1b", "gpipe"] and "Clock: virtual" in done.stdout
    assert (tmp_path / "plan_table.csv").read_text().count("\n") == 3
    again = course("table", "plan.toml", "--clock", "virtual", "--markdown", folder=tmp_path)
    assert "2 of 2 rows were finished before" in again.stderr and again.stdout.startswith("| row | schedule |")
    other = course("table", "plan.toml", "--clock", "virtual", "--csv", "mine.csv", folder=tmp_path)
    assert other.returncode == 0 and (tmp_path / "mine.csv").exists() and (tmp_path / "mine.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a Ctrl-C for one process is POSIX's")
def test_an_interrupted_table_keeps_its_rows_and_goes_on(tmp_path):
    (tmp_path / "plan.toml").write_text(f"{PLAN}message = 1000\n")  # the second row is still running when the first is there
    arguments = [sys.executable, "-m", "course", "table", "plan.toml"]
    begun = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=os.environ | {"PYTHONPATH": str(ROOT)},
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a background job ignores it
    deadline = time.monotonic() + 120
    while begun.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            if json.loads((tmp_path / "plan_table.json").read_text())["rows"]:
                break
        time.sleep(0.02)
    begun.send_signal(signal.SIGINT)
    output, errors = begun.communicate(timeout=60)
    assert (begun.returncode, output) == (130, "")
    assert "python -m course: interrupted: 1 of 2 rows are finished and kept in plan_table.json. The same command" in errors
    done = course("table", "plan.toml", folder=tmp_path)
    assert done.returncode == 0 and "1 of 2 rows were finished before" in done.stderr
    assert "2 of 2 rows are in the table" in done.stderr


def test_a_plan_in_another_encoding_and_a_full_output_are_one_line_each(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-16")
    done = course("table", "plan.toml", folder=tmp_path)
    assert done.returncode == 2 and done.stderr == (
        "python -m course: plan.toml cannot be read: it is not text in UTF-8; save it in that encoding\n")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.executable, "-m", "course", "table", "--template"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)})
        assert (done.returncode, done.stderr) == (
            1, "python -m course: what is printed could not be written (No space left on device)\n")


@pytest.mark.parametrize(("text", "arguments", "words"), [
    (None, [], ["table needs a plan", "--template"]),
    (None, ["nowhere.toml"], ["nowhere.toml cannot be read"]),
    ("[[row]", ["plan.toml"], ["plan.toml: The plan: it is no TOML"]),
    (PLAN.replace("pp = 2", "pp = 3", 1), ["plan.toml"], ["Row 1: ", "4 layers cannot be shared out", "The nearest row"]),
    (PLAN.replace("size = 2", "size = 4"), ["plan.toml"], ["Row 2: ", "8 samples", "global batch is 4"]),
    (PLAN, ["plan.toml", "--csv", "out.txt"], ["--csv out.txt", ".csv"]),
    (PLAN, ["plan.toml", "--clock", "sundial"], ["'sundial'"]),
    (PLAN, ["plan.toml", "--clock", "virtual", "--csv", "nowhere/mine.csv"], ["nowhere is no folder", "Nothing was run"]),
    (PLAN, ["plan.toml", "--clock", "virtual", "--csv", "plan.toml/mine.csv"], ["plan.toml is no folder"]),
    (PLAN.replace("[[row]]", "[row]"), ["plan.toml"], ["[[row]]", "double brackets"]),
    ("\ufeff" + PLAN.replace("pp = 2", "pp = 3", 1), ["plan.toml"], ["Row 1: ", "4 layers"]),
])
def test_a_table_that_cannot_be_run_is_answered_in_one_line(text, arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if text:
        (tmp_path / "plan.toml").write_text(text)
    try:
        code = main(["table", *arguments])
    except SystemExit as ended:
        code = ended.code
    output, errors = capsys.readouterr()
    assert (code, output, len(errors.splitlines())) == (2, "", 1)
    assert all(word in errors for word in words), errors
    assert not list(tmp_path.glob("*.csv"))


def test_a_table_whose_row_fails_or_that_cannot_be_saved_has_another_exit_code(tmp_path, monkeypatch, capsys):
    from course import experiments

    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "mine.csv").mkdir()
    assert main(["table", "plan.toml", "--clock", "virtual", "--csv", "mine.csv"]) == 1
    output, errors = capsys.readouterr()
    assert "1f1b" in output and "could not be written" in errors

    def fail(*arguments, **options):
        raise PipelineError("rank 1 failed at 1F0: cause", 1, "1F0", "cause")

    monkeypatch.setattr(experiments, "run", fail)
    assert main(["table", "plan.toml", "--clock", "virtual"]) == 1
    output, errors = capsys.readouterr()
    assert "Row 2 (gpipe, pp 2, m 2, b 2, slow stage) failed: rank 1 failed" in errors and "no rows" in output
