"""What the notebooks' own displays say of values that they cannot take, and of measurements on a busy machine."""

from dataclasses import replace

import pytest

from course import schedules
from course.lessons import bubble, chunk_runs, one_f_one_b, step_time, virtual_stages
from course.lessons.one_line import NoValue
from course.pipeline import Sizes, close
from course.real_run import no_run, run_subject

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2, layers=4)
NOTHING = no_run("There was no run.")
MAP, BOTH, HEAD = virtual_stages.map_of, virtual_stages.chunks_beside_stages, virtual_stages.weight_of_the_head


@pytest.mark.parametrize(("show", "words"), [
    (lambda: MAP(10, ranks=2, chunks=2), "`map_of`: layers = 10: a multiple of p v = 4 is needed"),
    (lambda: MAP(8, 0, 1), "ranks = 0: at least 1"), (lambda: MAP(8, 2, chunks=1.5), "chunks = 1.5: a whole number"),
    (lambda: MAP(10**9, 1, 1), "layers = 1000000000: at most 1000"), (lambda: MAP(8, 2), "It is `map_of(layers, ranks, chunks)`"),
    (lambda: virtual_stages.your_map(len, 8, 2, "2"), "chunks = '2'"),
    (lambda: BOTH(ranks=2, micro_batches=3, chunks=2), "a multiple of ranks = 2"), (lambda: BOTH(2, 4, 0), "chunks = 0"),
    (lambda: virtual_stages.practise_layers([[0, 1]], 12, 3, 2), "a dict is wanted"),
    (lambda: virtual_stages.practise_layers({}, 13, 3, 2), "layers = 13: a multiple"),
    (lambda: virtual_stages.practise_orders("0F0", 0, 1, 1), "ranks = 0"),
    (lambda: virtual_stages.practise_orders(3, 1, 1, 1), "`practise_orders(text, ranks, micro_batches, chunks)`"),
    (lambda: HEAD(51200, hiddens=[0], layers=48, ranks=4, micro_batches=32), "hiddens, item 0 = 0"),
    (lambda: HEAD(51200, hiddens=1024, layers=48, ranks=4, micro_batches=32), "It is `weight_of_the_head("),
    (lambda: HEAD(51200, hiddens=[1024], layers=50, ranks=4, micro_batches=32), "layers = 50: a multiple of ranks = 4"),
    (lambda: virtual_stages.parameters_of_stages(3), "It is `parameters_of_stages(run)`"),
    (lambda: chunk_runs.warm_ups(4, 8, 0), "chunks = 0"), (lambda: chunk_runs.with_latency(4, 6, 2, [1]), "4 or 8 would do"),
    (lambda: chunk_runs.with_latency(4, 8, 2, [-1]), "latency = -1"), (lambda: chunk_runs.side_by_side(3), "side_by_side(*runs)"),
    (lambda: chunk_runs.your_formulas(len, len, len), "your_formulas(bubble, messages, factor, *runs)"),
    (lambda: bubble.step("shape", len), "there is no step 'shape'"), (lambda: bubble.ratio_table(p=0), "stages = 0"),
    (lambda: bubble.where_it_ends([3]), "It is `where_it_ends(runs)`"),
    (lambda: step_time.step_times(3), "It is `step_times(runs)`"),
    (lambda: one_f_one_b.side_by_side(4, 0), "micro_batches = 0"),
    (lambda: one_f_one_b.within_room("F0", 4), "It is `within_room("),
    (lambda: one_f_one_b.what_room_buys(4, 0, [4]), "room = 0"),
    (lambda: one_f_one_b.layers_in_flight(48, 16, [0]), "stages = 0"),
])
def test_a_value_that_cannot_be_is_one_line(show, words):
    view = show()
    assert words in repr(view) and "\n" not in repr(view), repr(view)
    assert view.slots is ... and view._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(("compute", "words"), [
    (lambda: chunk_runs.stage_times([1, 2, 3], stages=2), "stages = 2: the number of layers, 3, must be a multiple"),
    (lambda: chunk_runs.stage_times([1], stages=2), "the number of layers, 1,"),
    (lambda: chunk_runs.stage_times(4, 2), "It is `stage_times("),
    (lambda: chunk_runs.stage_times([1, "x"], 1), "It is `stage_times("), (lambda: chunk_runs.other_order(3), "other_order(run)"),
    (lambda: one_f_one_b.in_rounds(4, 8, 0), "room = 0"), (lambda: step_time.emulated("two"), "samples = 'two'"),
])
def test_where_a_value_is_needed_the_cell_stops_in_one_line(compute, words):
    with pytest.raises(NoValue, match="`") as caught:
        compute()
    line, = caught.value._render_traceback_()
    assert words in line and "\n" not in line


def test_without_a_run_there_is_none_of_it():
    assert run_subject(NOTHING, 4, 4) is NOTHING


@pytest.fixture(scope="module")
def runs():
    def ran(schedule):
        return run_subject(schedule, 2, 4, clock="virtual", sizes=SMALL, steps=1)

    yield [ran(order) for order in (schedules.gpipe(2, 4), schedules.one_f_one_b(2, 4), schedules.interleaved_1f1b(2, 4, 2))]
    close()


def test_each_table_of_measured_numbers_says_that_the_machine_was_busy(runs):
    gpipe, plain, _ = runs
    late = [replace(run, run=replace(run.run, overruns=7)) for run in runs]
    tables = [lambda one: one.bubble_table(), lambda one: one.numbers()]
    tables += [lambda one: bubble.where_it_ends({"even": plain, "odd": one}),
               lambda one: step_time.step_times({2: plain, 4: one}), lambda one: step_time.your_choice(lambda *_: 2, {4: one}),
               lambda one: one_f_one_b.same_step(gpipe, one), lambda one: chunk_runs.side_by_side(plain, one)]
    tables += [lambda one: chunk_runs.your_formulas(len, len, len, plain, one)]
    for number, table in enumerate(tables):
        for run, slow in zip(runs, late, strict=True):
            assert "machine was busy" not in repr(table(run)), number
            said = repr(table(slow))
            assert "longer than their planned time: 7" in said and "machine was busy" in said, (number, said)
