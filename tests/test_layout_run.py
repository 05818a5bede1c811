"""A layout on eight real processes: it trains as one process does, and sends what the formulas say, byte for byte."""

import os
import signal
import threading
import time

import psutil
import pytest

from course.__main__ import main
from course.layout import Layout
from course.layout.cards import CARDS
from course.layout.cluster import ACROSS, INSIDE
from course.layout.memory import stage_parameters
from course.layout.placement import AXES
from course.layout.run import LayoutRun, run_layout
from course.layout.small import ELEMENT, parameters_beyond, small_model
from course.layout.volumes import pp_bytes, ring_bytes, tensor_bytes, tp_bytes
from course.lessons.layout_run import layout_view, run_design
from course.pipeline import PipelineError, close, pool, run
from course.progress import GRADING
from course.schedules import gpipe, one_f_one_b

BATCH = 8
SHAPES = [(tp, pp, 8 // (tp * pp)) for tp in (1, 2, 4, 8) for pp in (1, 2, 4, 8) if 8 % (tp * pp) == 0]


def sizes(tp, pp, dp, chunks=1):
    """Few micro-batches of many samples where there is no pipeline: what takes the time is their number."""
    m = max(pp, 2 if dp < 8 else 1)
    return {"tp": tp, "pp": pp, "dp": dp, "micro_batch_size": BATCH // (m * dp) or 1, "chunks": chunks,
            "global_batch": max(BATCH, m * dp)}


CASES = [*(sizes(*shape) for shape in SHAPES), sizes(2, 2, 2, chunks=2), sizes(1, 8, 1, chunks=2), sizes(4, 2, 1, chunks=4)]


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    pool.pool_of(8)
    yield
    close()


def name(case):
    return "tp{tp}-pp{pp}-dp{dp}-v{chunks}".format(**case) if isinstance(case, dict) else None


@pytest.mark.parametrize("case", CASES, ids=name)
def test_gradients_are_one_processs_and_bytes_are_the_formulas(case):
    steps = 2 if case["tp"] == case["pp"] == 2 else 1  # the second sees whether all copies were changed alike
    result = run_layout(**case, steps=steps)
    layout, model = result.layout, result.model
    assert result.max_gradient_difference <= 1e-6
    assert result.losses == pytest.approx(result.reference_losses, abs=1e-5) and len(result.losses) == steps
    assert result.measured == {axis: result.formulas[axis] + result.beyond[axis] for axis in AXES}
    assert {axis: result.measured[axis] > 0 for axis in AXES} == {axis: getattr(layout, axis) > 1 for axis in AXES}
    each = 4 * model.layers // layout.pp * layout.micro_batches(model)
    assert result.all_reduces == {axis: count for axis, count in (("tp", each), ("dp", 1)) if getattr(layout, axis) > 1}
    assert len(set(result.pids)) == 8
    assert max(result.parameters) == result.parameters[0] == stage_parameters(layout, model) + parameters_beyond(layout, model)


@pytest.mark.parametrize("nodes", [None, [[0, 2, 4, 6], [1, 3, 5, 7]]], ids=["in order", "odd and even"])
def test_who_talks_to_whom_is_the_groups_and_the_links_are_the_placements(nodes):
    result = run_layout(2, 2, 2, nodes=nodes, steps=1)
    layout, home = result.layout, result.layout.node_of(4)
    for (source, target), (axis, size) in result.sent.items():
        assert any({source, target} <= set(group) for group in layout.groups(axis)) and size > 0
    assert len(result.sent) == 24, "each process has one neighbour on each axis"
    for axis in AXES:
        kind, other = (ACROSS, INSIDE) if layout.link(axis, 4) == ACROSS else (INSIDE, ACROSS)
        assert result.by_link.get((axis, kind), 0) > 0 == result.by_link.get((axis, other), 0)
        assert result.by_link[axis, kind] == sum(size for one, size in result.sent.values() if one == axis)
    assert {home[source] != home[target] for (source, target), (axis, _) in result.sent.items() if axis == "tp"} == {bool(nodes)}


def test_another_seed_is_another_run_and_the_same_seed_the_same():
    one, again, other = (run_layout(1, 2, 4, seed=seed, steps=1) for seed in (3, 3, 4))
    assert one.losses == again.losses != other.losses and other.max_gradient_difference <= 1e-6


def test_the_pool_serves_other_runs_before_between_and_after():
    assert run(gpipe(4, 2), clock="virtual").max_gradient_difference == 0.0
    assert run(one_f_one_b(4, 4), dp=2, clock="virtual").max_gradient_difference <= 1e-6
    workers = {process.pid for process in pool.pool_of(8).processes}
    assert set(run_layout(4, 1, 2, 4, steps=1).pids) == workers
    assert run(one_f_one_b(8, 8), clock="virtual").max_gradient_difference == 0.0
    assert run_layout(2, 2, 2, 2, steps=1).max_gradient_difference <= 1e-6
    assert {process.pid for process in pool.pool_of(8).processes} == workers


def test_a_larger_pool_has_all_its_processes_name_the_groups():
    pool.pool_of(9)
    assert run_layout(1, 2, 4, steps=1).max_gradient_difference <= 1e-6
    assert run(gpipe(9, 1), clock="virtual").max_gradient_difference == 0.0
    assert run_layout(2, 4, 1, 2, steps=1).max_gradient_difference <= 1e-6


# --- what goes wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bad", "words"), [
    ((3, 2, 1), ["3 x 2 x 1 = 6", "8 GPUs", "tp4 pp2 dp1"]), ((16, 1, 1), ["= 16", "tp8 pp1 dp1"]),
    ((0, 2, 4), ["tp = 0", "whole number above 0", "tp1 pp2 dp4"]), ((2, -2, 2), ["pp = -2", "tp2 pp1 dp4"]),
    ((2, 2, 2.0), ["dp = 2.0", "whole number", "tp2 pp2 dp2"]), ((2, 2, 2.4), ["dp = 2.4", "tp2 pp2 dp2"]),
    (("two", 2, 2), ["tp = 'two'", "whole number", "tp1 pp2 dp4"]), ((None, 1, 8), ["tp = None", "tp1 pp1 dp8"]),
    ((True, 1, 8), ["tp = True", "tp1 pp1 dp8"]), ((float("nan"), 1, 8), ["tp = nan", "tp1 pp1 dp8"]),
    ((float("inf"), 1, 8), ["tp = inf", "tp1 pp1 dp8"]), ((10**400, 1, 1), ["tp8 pp1 dp1"]),
    ((2, 2, 2, 1, 3), ["8 layers", "2 x 3 = 6", "tp2 pp2 dp2, b 1, v 2"]),
    ((4, 1, 2, 1, 2), ["chunks = 2 with pp = 1", "tp4 pp1 dp2, b 1"]),
    ((1, 1, 8, 3), ["global batch of 8", "3 x 8 = 24", "tp1 pp1 dp8, b 1"]),
    ((2, 2, 2, 1, 1, [[0, 1, 2, 3, 4], [5, 6, 7]]), ["Node 0 is given 5 ranks"]),
    ((2, 2, 2, 1, 1, [[0, 1, 2, 3], [4, 5, 6, 6]]), ["Rank 6 has more than one place"]),
    ((2, 2, 2, 1, 1, [[0, 1, 2, "x"], [4, 5, 6, 7]]), ["nodes names rank 'x'"]),
    ((2, 2, 2, 1, 1, 7), ["nodes = 7", "such as [[0, 1], [2, 3]]"]), ((2, 2, 2, 1, 1, [0, 1]), ["nodes = [0, 1]"]),
], ids=str)
def test_a_bad_layout_is_refused_before_any_process_is_touched(bad, words, monkeypatch):
    monkeypatch.setattr("course.layout.run.taken", None)
    with pytest.raises(ValueError) as caught:
        run_layout(*bad)
    said = str(caught.value)
    assert all(word in said for word in words) and "\n" not in said, said


@pytest.mark.parametrize(("more", "words"), [
    ({"global_batch": 0}, "global_batch = 0"), ({"steps": 1.5}, "steps = 1.5"), ({"seed": -1}, "seed = -1"),
])
def test_other_numbers_are_refused_as_well(more, words):
    with pytest.raises(ValueError, match=words):
        run_layout(2, 2, 2, **more)


def when_computing(rank, act):
    """Do something as soon as this rank of the pool is in the middle of a step."""
    warm = pool.pool_of(8)

    def watch():
        until = time.monotonic() + 120
        while warm.progress[rank].position < 3 and time.monotonic() < until:
            time.sleep(0.002)
        act(warm)

    thread = threading.Thread(target=watch)
    thread.start()
    return warm.processes, thread


def all_gone(processes):
    return not any(psutil.pid_exists(process.pid) and psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE
                   for process in processes)


@pytest.mark.parametrize(("shape", "rank"), [((8, 1, 1), 5), ((2, 4, 1), 2), ((1, 1, 8), 7)], ids=["tp", "tp and pp", "dp"])
def test_a_process_that_is_killed_is_named_and_none_is_left(shape, rank):
    processes, thread = when_computing(rank, lambda warm: os.kill(warm.processes[rank].pid, signal.SIGKILL))
    with pytest.raises(PipelineError, match=f"rank {rank} failed .*SIGKILL") as caught:
        run_layout(*shape, global_batch=64, steps=50)
    thread.join()
    assert caught.value.rank == rank and all_gone(processes)


def test_an_interrupt_passes_through_and_leaves_no_process():
    processes, thread = when_computing(1, lambda warm: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run_layout(2, 2, 2, global_batch=64, steps=50)
    thread.join()
    assert all_gone(processes)
    assert run_layout(1, 2, 4, steps=1).max_gradient_difference <= 1e-6


# --- formulas, lesson, command ----------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_a_ring_sends_as_many_parts_as_its_formula_says(ranks):
    """The ring itself, on lists: rank r hands part r - step on, adds what it gets, then hands the sums round."""
    parts = [[{rank} for _ in range(ranks)] for rank in range(ranks)]
    sent = [0] * ranks
    for step in range(2 * (ranks - 1)):
        moving = [(rank, (rank - step) % ranks) for rank in range(ranks)]
        moved = [(rank, part, parts[rank][part]) for rank, part in moving]
        for rank, part, content in moved:
            sent[rank] += 1
            parts[(rank + 1) % ranks][part] = parts[(rank + 1) % ranks][part] | content
    assert all(part == set(range(ranks)) for row in parts for part in row)
    assert sent == [ring_bytes(ranks, ranks)] * ranks


def test_tensor_parallelism_is_four_rings_a_layer_and_elements_scale():
    layout, model = Layout(4, 2, 1, 2), CARDS["c"].model
    rings = 4 * model.layers / layout.pp * layout.micro_batches(model) * ring_bytes(tensor_bytes(layout, model), layout.tp)
    assert tp_bytes(layout, model) == rings
    assert tp_bytes(layout, model, element=4) == 2 * rings and pp_bytes(layout, model, 4) == 2 * pp_bytes(layout, model)


def test_the_small_model_has_as_many_layers_as_there_are_chunks():
    assert small_model(Layout(1, 8, 1, 1, 2), 8).layers == 16 == small_model(Layout(1, 4, 2, 1, 4), 8).layers
    assert small_model(Layout(1, 8, 1, 1), 8).layers == 8 and ELEMENT == 4


def test_a_learners_design_runs_and_shows_its_counts():
    view = run_design("c", {"tp": 2, "pp": 4, "dp": 1, "micro_batch_size": 8, "chunks": 2})
    assert "A step has 4 micro-batches on each replica" in view.text and "T TP, P PP; a bar between nodes" in view.text
    table = {line.split()[0]: line.split()[1:] for line in view.text.splitlines() if line[:2] in ("TP", "PP", "DP")}
    assert table["TP"][0] == table["TP"][2] == "2,097,152" and table["PP"][0] == table["PP"][2] and table["DP"][2] == "0"
    assert "from one process's: " in view.text and "<svg" in view.html


@pytest.mark.parametrize(("shape", "parts"), [((2, 2, 2), (True, False)), ((1, 1, 8), (False, True)), ((2, 1, 4), (True, True)),
                                              ((1, 2, 4), (False, False)), ((2, 4, 1), (False, False))])
def test_what_no_formula_counts_is_said_where_it_is_sent(shape, parts):
    layout = Layout(*shape, 1)
    model = small_model(layout, 8)
    nothing = LayoutRun(layout, model, CARDS["c"].cluster, {}, {}, (1.0,), (1.0,), 0.0, (1,) * 8, (1,) * 8)
    said = layout_view(nothing).text
    assert ("layer norms, two biases" in said, "output head" in said) == parts
    assert (nothing.beyond["dp"] > 0) == any(parts) == ("Not in DP's formula" in said)


@pytest.mark.parametrize(("design", "words"), [
    (..., "Nothing to run yet"), ({"tp": 2}, "does not say `pp`"), ("tp2", "Nothing to run yet"),
    ({"tp": 2, "pp": 2, "dp": 1, "micro_batch_size": 1}, "the nearest layout that obeys this: tp2 pp2 dp2"),
])
def test_a_design_that_cannot_run_is_told_so(design, words):
    assert words in run_design("c", design).text


@pytest.mark.parametrize("variable", GRADING)
def test_nothing_runs_while_the_notebook_is_graded(variable, monkeypatch):
    monkeypatch.setenv(variable, "1")
    monkeypatch.setattr("course.lessons.layout_run.run_layout", None)
    assert "earns no points" in run_design("c", {"tp": 2, "pp": 2, "dp": 2, "micro_batch_size": 1}).text


def test_a_failed_run_is_told_in_place_of_the_picture(monkeypatch):
    def fail(*_, **__):
        raise PipelineError("rank 3 failed at 0F1: no", 3, "0F1", "no", "--- on rank 3 ---\nno")

    monkeypatch.setattr("course.lessons.layout_run.run_layout", fail)
    view = run_design("c", {"tp": 2, "pp": 2, "dp": 2, "micro_batch_size": 1})
    assert "did not come to its end: rank 3 failed at 0F1: no." in view.text and "on rank 3" in view.text


def test_the_command(capsys):
    assert main(["layout", "--tp", "2", "--pp", "1", "--dp", "4", "--steps", "1"]) == 0
    output = capsys.readouterr().out
    assert "tp2 pp1 dp4, b 1" in output and "from one process's" in output
    for arguments, words in ((["--tp", "3"], "3 x 2 x 2 = 12"), (["--tp", "0"], "tp = 0"), (["--chunks", "5"], "2 x 5 = 10")):
        assert main(["layout", *arguments]) == 2
        error = capsys.readouterr().err
        assert words in error and error.count("\n") == 1 and "nearest layout" in error
