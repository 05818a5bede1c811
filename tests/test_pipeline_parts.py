"""The parts of the pipeline, each alone and without processes."""

import pickle
from fractions import Fraction

import cloudpickle
import pytest
import torch

from course import Operation
from course.pipeline import PipelineError, clocks
from course.pipeline.clocks import Paced, Virtual
from course.pipeline.data import micro_batch, text
from course.pipeline.machine import cores
from course.pipeline.measurement import slot_for, ticks
from course.pipeline.memory import SavedBytes
from course.pipeline.messages import tag_of
from course.pipeline.model import build_stage, loss_of
from course.pipeline.places import Places
from course.pipeline.progress import FIELDS, Progress
from course.pipeline.sizes import Sizes
from course.pipeline.worker import Worker, do
from course.schedules import gpipe, interleaved_1f1b

SIZES = Sizes().for_stages(4)


def test_the_text_is_long_and_english():
    assert len(text()) > 300_000
    assert text().count(b" the ") > 1000


def test_micro_batches_are_the_same_everywhere_and_predict_the_next_byte():
    tokens, targets = micro_batch(SIZES, seed=5, step=2, number=1)
    again, _ = micro_batch(SIZES, seed=5, step=2, number=1)
    other, _ = micro_batch(SIZES, seed=5, step=2, number=2)
    assert torch.equal(tokens, again) and not torch.equal(tokens, other)
    assert torch.equal(tokens[:, 1:], targets[:, :-1])
    assert tokens.shape == (SIZES.micro_batch_size, SIZES.sequence)
    assert all(bytes(row.tolist()) in text() for row in tokens)


@pytest.mark.parametrize("stages", range(1, 17))
def test_the_stages_of_every_cut_are_the_same_model(stages):
    sizes = Sizes(hidden=16, heads=2).for_stages(stages)
    whole = build_stage(sizes, 1, 0, seed=7)
    parts = [parameter for stage in range(stages) for parameter in build_stage(sizes, stages, stage, 7).parameters()]
    assert all(torch.equal(*pair) for pair in zip(whole.parameters(), parts, strict=True))


def test_no_token_sees_a_later_one():
    model = build_stage(SIZES, 1, 0, seed=1)
    tokens, _ = micro_batch(SIZES, 0, 0, 0)
    changed = tokens.clone()
    changed[:, 20:] = 0
    assert torch.equal(model(tokens)[:, :20], model(changed)[:, :20])


def test_the_first_loss_is_that_of_a_guess():
    tokens, targets = micro_batch(SIZES, 0, 0, 0)
    loss = loss_of(build_stage(SIZES, 1, 0, seed=1)(tokens), targets, micro_batches=2)
    assert 2 * loss.item() == pytest.approx(torch.tensor(256.0).log().item(), abs=0.5)


def test_messages_of_a_step_have_different_tags():
    schedule = interleaved_1f1b(2, 4, 2)
    tags = [tag_of(operation, schedule) for rank in schedule.ranks for operation in rank]
    assert len(set(tags)) == len(tags)


def test_saved_bytes_count_a_storage_once_and_a_parameter_never():
    weight = torch.ones(10, 10, requires_grad=True)
    x, meter = torch.ones(4, 10, requires_grad=True), SavedBytes([weight])
    with meter.saving("one"):
        product = x @ weight  # saves x, and the weight
        result = product * product + product * 2  # saves the product, twice
    assert meter.bytes == x.nbytes + product.nbytes and meter.owners == 1
    with meter.saving("two"):
        other = (x * x).sum()
    assert meter.bytes == x.nbytes + product.nbytes and meter.owners == 2
    result.sum().backward()
    other.backward()
    assert (meter.bytes, meter.owners) == (0, 0)
    assert (meter.peak_bytes, meter.peak_owners) == (x.nbytes + product.nbytes, 2)


def test_a_slot_holds_three_times_what_an_operation_takes_when_all_share_the_cores():
    forward, backward = Operation(0, "F", 0), Operation(0, "B", 0)
    times = {("F", 0): 5_000_000, ("B", 0): 12_000_000}
    assert slot_for(times, {forward: 1, backward: 1}, ranks=4, available=2) == 3 * 4 * 12_000_000 // 2
    assert slot_for(times, {forward: 1, backward: 2}, ranks=4, available=2) == 3 * 4 * 6_000_000 // 2
    assert slot_for(times, {forward: Fraction(1, 8), backward: 2}, ranks=4, available=2) == 3 * 4 * 5_000_000 // 2 * 8
    assert slot_for({("F", 0): 10}, {forward: 1}, ranks=1, available=2) == 8_000_000


def test_a_slot_has_so_many_ticks_that_every_time_is_a_whole_number_of_them():
    assert ticks([Fraction(1, 3), 0.7, Fraction(1, 7), 2], makespan=100) == 210
    assert ticks([Fraction(1, 2**40)], makespan=1000) == 2**40
    assert ticks([Fraction(1, 10**12), Fraction(1, 3**30)], makespan=10**6) * 10**6 < 2**63


def test_the_virtual_clock_follows_the_sender_or_its_own_rank_whoever_is_later():
    forward, backward = Operation(0, "F", 0), Operation(0, "B", 0)
    clock = Virtual({forward: 10, backward: 20}, begin=100)
    assert (clock.start(0), clock.end(forward)) == (100, 110)
    assert clock.start(150) == 150
    clock.disturb(7)
    assert clock.end(backward) == 170


def test_the_paced_clock_counts_what_takes_longer_and_moves_its_plan(monkeypatch):
    moment = [1000]
    monkeypatch.setattr("course.pipeline.clocks.now", lambda: moment[0])
    monkeypatch.setattr("time.sleep", lambda seconds: moment.__setitem__(0, moment[0] + round(seconds * 1e9) + 3))
    clock = Paced({Operation(0, "F", number): 100 for number in range(3)}, begin=1010)
    assert clock.start(0) == 1013  # three late, as real sleepers are
    assert clock.end(Operation(0, "F", 0)) == 1113 and clock.planned_end == 1110
    clock.start(0)
    moment[0] += 500
    clock.end(Operation(0, "F", 1))
    assert clock.overruns == 1
    assert clock.planned_end == moment[0] == 1613
    clock.start(0)
    moment[0] += 500
    clock.disturb(500)
    assert clock.end(Operation(0, "F", 2)) == 1613 + 600 + 3
    assert (clock.overruns, clock.disturbance) == (1, 500)


@pytest.mark.parametrize(("files", "expected"), [
    ({"cpu.max": "150000 100000"}, 1.5), ({"cpu.max": "max 100000"}, None),
    ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
    ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None), ({}, None),
])
def test_a_containers_quota_counts_as_its_cores(files, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)), raising=False)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content + "\n")
    assert cores(tmp_path) == (expected or 8)


def reply(job):
    """What a worker answers to a job, without a process."""
    return pickle.loads(do(Worker(0, Progress([0] * FIELDS, 0), preloaded=False), cloudpickle.dumps((job, ()))))


def fails(words):
    raise ValueError(words)


def test_a_reply_holds_the_result_and_what_was_printed():
    assert reply(lambda worker: print("seen") or worker.rank) == {"result": 0, "output": "seen\n"}


def test_an_error_is_one_line_of_a_readable_length_with_details_under_it():
    found = reply(lambda worker: fails("x" * 100_000 + "\nsecond line"))
    assert found["error"].startswith("ValueError: xxx") and found["error"].endswith("characters more")
    assert len(found["error"]) < 400 and "\n" not in found["error"]
    assert len(found["details"]) < 9000
    short = reply(lambda worker: fails("first\nsecond"))
    assert short["error"] == "ValueError: first"
    assert "second" in short["details"] and "in fails" in short["details"]
    assert "worker.py" not in short["details"], "how a function is called is of no use to who wrote it"
    assert "worker.py" in reply("course.pipeline.worker:no_such_name")["details"]


def test_an_error_is_shown_with_its_line_first():
    error = PipelineError("rank 1 failed at 1F0: ValueError: no", 1, "1F0", "ValueError: no", "--- on rank 1 ---\nTraceback\n")
    assert error._render_traceback_() == ["PipelineError: rank 1 failed at 1F0: ValueError: no", "--- on rank 1 ---", "Traceback"]
    assert str(error).splitlines()[0] == error.message
    assert str(PipelineError("short", None, None, "")) == "short"


@pytest.mark.parametrize(("job", "words"), [
    (lambda worker: bytes(3000), ["3,", "bytes", "at most 2,000 can travel back", "return less"]),
    (lambda worker: (lambda: None), ["what the job returns cannot travel back", "pickle"]),
    (lambda worker: open(__file__), ["what the job returns cannot travel back", "TextIOWrapper"]),  # noqa: SIM115
])
@pytest.mark.filterwarnings("ignore:unclosed file")
def test_what_cannot_travel_back_is_an_error(job, words, monkeypatch):
    monkeypatch.setattr("course.pipeline.worker.LARGEST_REPLY", 2000)
    found = reply(job)
    assert all(word in found["error"] for word in words), found["error"]
    assert "result" not in found and not found["of_neighbour"]


def test_endless_output_is_cut(monkeypatch):
    monkeypatch.setattr("course.pipeline.worker.LONGEST_OUTPUT", 10)
    assert reply(lambda worker: print("0123456789abc"))["output"] == "0123456789 ... and 4 characters more"


def test_places_say_what_a_rank_waits_for():
    places = Places(gpipe(2, 2), [(0, 1)])
    assert [places(1, position) for position in range(5)] == ["1F0", "1F1", "1B0", "1B1", "the end of its step"]
    assert [places.needs(1, position) for position in range(5)] == [(0, 0), (0, 1), None, None, None]
    assert places.needs(0, 2) == (1, 2)


@pytest.mark.parametrize(("late_by", "overruns"), [((0, 0), 0), ((30, 0), 0), ((0, 30), 1), ((0, 4), 0), ((30, 30), 1)])
def test_a_late_wake_up_counts_where_no_later_sleep_makes_it_good(late_by, overruns, monkeypatch):
    """The last operation's; 1/20 of an operation of 100 is 5. No operation computes at all here."""
    time, lateness = [1000], [0]
    monkeypatch.setattr(clocks, "now", lambda: time[0])
    monkeypatch.setattr(clocks.Paced, "sleep_until", lambda clock, moment: time.append(max(time.pop(), moment + lateness[0])))
    first, second = Operation(0, "F", 0), Operation(0, "B", 0)
    clock = clocks.Paced({first: 100, second: 100}, begin=1000)
    for operation, late in zip((first, second), late_by, strict=True):
        lateness[0] = 0
        clock.start(0)
        lateness[0] = late
        clock.end(operation)
    assert (clock.overruns, clock.planned_end) == (overruns, 1200)
