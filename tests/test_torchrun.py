"""The run under torchrun: the same numbers as on the pool, on one machine or two; a fault ends it all with one message."""

import contextlib
import json
import random
import re
import socket
import sys
import time

import psutil
import pytest

from course.__main__ import main as course
from course.pipeline import run
from course.pipeline.__main__ import _parser, main
from course.pipeline.alignment import estimate
from course.schedules import gpipe, interleaved_1f1b, one_f_one_b
from tests.programs import PATIENCE, ROOT, ends, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="torchrun on Windows is untried")
LIMIT = 240

RAISES = """
import os, sys
from course.pipeline import executor
from course.pipeline.__main__ import main

compute = executor._Stages.compute
def stumble(self, operation, needed):
    if str(operation) == "1B0":
        raise ValueError("the tensor has the wrong shape")
    return compute(self, operation, needed)
executor._Stages.compute = stumble
os._exit(main(sys.argv[1:]))
"""

CHANNELS = """
import os, sys
from course.pipeline import link, training
from course.pipeline.__main__ import main
from course.pipeline.messages import dist

# as with NCCL: a group for each channel, and no tags
training.link_for = lambda schedule, device, replicas: link.open_channels(schedule, link.CPU, replicas)
for name in ("isend", "irecv"):
    untagged = lambda buffer, peer, group, tag, call=getattr(dist, name): call(buffer, peer, group)
    setattr(dist, name, untagged)
ended = main(sys.argv[1:])
sys.stdout.flush()
os._exit(ended)
"""


@pytest.fixture
def under_torchrun(tmp_path):
    """Start torchrun; whatever the test does, nothing is left of it."""
    started = []

    def torchrun(*arguments):
        started.append(start(["-m", "torch.distributed.run", *arguments], tmp_path))
        return started[-1]

    yield torchrun
    for program in started:
        for process in family(program.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        program.communicate()


def family(pid):
    try:
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        return []


def record_of(program):
    output, errors = program.communicate(timeout=LIMIT)
    assert program.returncode == 0, errors
    return json.loads(output)


def agrees(record, schedule, **options):
    ours = run(schedule, clock="virtual", **options).to_json()
    assert record["max_gradient_difference"] <= 1e-6
    assert record["losses"] == pytest.approx(ours["losses"], abs=1e-6)
    assert record.keys() == ours.keys()
    for name in ("bytes_sent", "parameter_bytes", "peak_activations_measured", "stages", "ranks"):
        assert record[name] == ours[name]


def test_two_processes_follow_a_file_by_pytorchs_engine(tmp_path, under_torchrun):
    (tmp_path / "mine.csv").write_text(gpipe(2, 3).to_csv())
    program = under_torchrun("--nproc-per-node", 2, "-m", "course.pipeline", "mine.csv", "--steps", 2, "--engine", "torch",
                             "--json")
    record = record_of(program)
    assert (record["engine"], record["clock"], record["machine"]["nodes"]) == ("torch", "real", 1)
    agrees(record, gpipe(2, 3), steps=2)


def test_four_processes_with_channels_instead_of_tags(tmp_path, under_torchrun):
    (tmp_path / "channels.py").write_text(CHANNELS)
    program = under_torchrun("--nproc-per-node", 4, "channels.py", "interleaved-1f1b", "--micro-batches", 4, "--steps", 2,
                             "--seed", 3, "--json")
    agrees(record_of(program), interleaved_1f1b(4, 4, 2), steps=2, seed=3)


@pytest.mark.parametrize("program", ["channels.py", "-m course.pipeline"])
def test_two_replicas_of_two_processes(program, tmp_path, under_torchrun):
    (tmp_path / "channels.py").write_text(CHANNELS)
    program = under_torchrun("--nproc-per-node", 4, *program.split(), "gpipe", "--dp", 2,
                             "--micro-batches", 3, "--steps", 2, "--json")
    record = record_of(program)
    assert (record["dp"], record["processes"]) == (2, 4)
    agrees(record, gpipe(2, 3), steps=2, dp=2)


def test_two_nodes_of_two_processes_align_their_clocks(under_torchrun):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nodes = [under_torchrun("--nnodes", 2, "--node-rank", rank, "--nproc-per-node", 2, "--master-addr", "127.0.0.1",
                            "--master-port", port, "-m", "course.pipeline", "1f1b", "--micro-batches", 4, "--steps", 2,
                            "--json")
             for rank in range(2)]
    record = record_of(nodes[0])
    output, errors = nodes[1].communicate(timeout=PATIENCE)
    assert (nodes[1].returncode, output) == (0, ""), errors
    agrees(record, one_f_one_b(4, 4), steps=2)
    assert record["machine"]["nodes"] == 2
    assert record["machine"]["clock_error_seconds"] > 0
    assert any("2 nodes were aligned" in note for note in record["notes"])


DOCUMENT = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", re.findall(r"^torchrun .*-m course.pipeline (.*)", DOCUMENT, re.MULTILINE))
def test_the_documented_commands_are_understood(command):
    with contextlib.suppress(SystemExit):
        assert _parser().parse_args(command.split()).schedule
        return
    assert command == "--help"


def test_the_documented_program_follows_the_documented_file(tmp_path, capsys, under_torchrun):
    (shown,) = re.findall(r"^python -m course (show .*) > mine.csv", DOCUMENT, re.MULTILINE)
    assert course(shown.split()) == 0
    (tmp_path / "mine.csv").write_text(capsys.readouterr().out)
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    (tmp_path / "program.py").write_text(code)
    program = under_torchrun("--nproc-per-node", 2, "program.py")
    output, errors = program.communicate(timeout=LIMIT)
    assert program.returncode == 0, errors
    assert re.fullmatch(r"loss \d\.\d+\n", output)


def test_a_rank_that_raises_ends_all_with_its_message(tmp_path, under_torchrun):
    (tmp_path / "raises.py").write_text(RAISES)
    program = under_torchrun("--nproc-per-node", 2, "raises.py", "gpipe", "--micro-batches", 2)
    output, errors = program.communicate(timeout=LIMIT)
    assert program.returncode != 0 and output == ""
    told = [line for line in errors.splitlines() if line.startswith("torchrun -m course.pipeline:")]
    assert told == ["torchrun -m course.pipeline: rank 1 failed at 1B0: ValueError: the tensor has the wrong shape"]
    assert errors.count("in stumble") == 1, "the traceback of the rank at fault, and of no other"
    assert ends(program.pid)


def test_bad_input_is_told_once(under_torchrun):
    program = under_torchrun("--nproc-per-node", 2, "-m", "course.pipeline", "gpipe", "--micro-batches", 0)
    started = time.monotonic()
    output, errors = program.communicate(timeout=LIMIT)
    assert program.returncode != 0 and output == ""
    assert re.findall(r"course.pipeline: (.*)", errors) == ["micro_batches = 0: at least 1 is needed"]
    assert "course/pipeline" not in errors, "no traceback of ours"
    assert ends(program.pid) and time.monotonic() - started < LIMIT


@pytest.fixture
def alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


def test_without_torchrun_it_says_how_to_start_it(alone, capsys):
    assert main(["gpipe"]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert "torchrun --nproc-per-node 4 -m course.pipeline" in errors and "python -m course run" in errors


def test_help_needs_no_torchrun(alone, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "--nnodes" in capsys.readouterr().out


def test_half_an_environment_is_named(alone, monkeypatch, capsys):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert main(["gpipe"]) == 2
    assert "MASTER_ADDR and MASTER_PORT not set" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
def test_the_estimate_of_a_clock_is_never_further_off_than_it_says(seed):
    print("seed", seed)
    draw = random.Random(seed)
    ahead, now, answers = draw.randrange(-10**12, 10**12), draw.randrange(10**9), []
    for _ in range(50):
        there, back = draw.randrange(1000, 10**6), draw.randrange(1000, 10**6)
        answers.append((now, now + there + ahead, now + there + back))
        now += there + back + draw.randrange(10**5)
    guess, error = estimate(answers)
    assert abs(guess - ahead) <= error
    assert error == max(1, -(-min(answered - asked for asked, _, answered in answers) // 2))


def test_what_goes_through_the_store_comes_out_whole(monkeypatch):
    import torch.distributed as dist

    from course.pipeline import torchrun as module

    monkeypatch.setattr(module, "PIECE", 10)
    store = dist.HashStore()
    for content in (b"", b"0123456789", bytes(range(251))):
        module._put(store, "key", content)
        assert module._take(store, "key") == content
