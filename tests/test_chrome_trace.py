"""The Chrome trace against the rules of the Trace Event Format and of what Perfetto's documentation says that it reads of it."""

import itertools
import json
from collections import defaultdict
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Costs, Timeline, schedules, simulate
from course.schedules import SCHEDULES

PHASES = {"X", "M"}  # of those that Perfetto shows: B, E, X, I, C, M, s, t, f
METADATA = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}


def events_of(trace):
    """The complete events, all rules that hold for any trace looked at on the way."""
    read = json.loads(trace, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert isinstance(read["traceEvents"], list) and read.get("displayTimeUnit") in ("ms", "ns")
    threads = defaultdict(list)
    for event in read["traceEvents"]:
        assert isinstance(event["name"], str) and event["name"] and event["ph"] in PHASES
        # 32 bits, unsigned: what does not fit is left out without a word
        assert all(isinstance(event[key], int) and 0 <= event[key] < 2**32 for key in ("pid", "tid"))
        if event["ph"] == "M":
            assert set(event["args"]) == {METADATA[event["name"]]}
            continue
        # microseconds; whole ones, because fractions are cut to nanoseconds one by one, and neighbours would overlap
        assert all(isinstance(event[key], int) for key in ("ts", "dur")) and event["dur"] >= 0
        assert isinstance(event["cat"], str) and isinstance(event["args"], dict)
        threads[event["pid"], event["tid"]].append(event)
    for events in threads.values():
        # events of one thread nest; those of a rank do not even share a moment
        ordered = sorted(events, key=lambda event: (event["ts"], event["dur"]))
        for one, following in itertools.pairwise(ordered):
            assert one["ts"] + one["dur"] <= following["ts"]
    named, sorted_by = ({event["tid"]: event["args"][METADATA[what]] for event in read["traceEvents"] if event["name"] == what}
                        for what in ("thread_name", "thread_sort_index"))
    assert named == {tid: f"rank {tid}" for tid in named} and sorted_by == {tid: tid for tid in named}
    assert {tid for _, tid in threads} <= set(named)
    return [event for events in threads.values() for event in events]


THIRDS = st.lists(st.integers(1, 9).map(lambda thirds: Fraction(thirds, 3)), min_size=8, max_size=8)


@settings(max_examples=60)
@given(st.sampled_from(list(SCHEDULES)), st.integers(1, 4), THIRDS, THIRDS)
def test_any_simulated_timeline_keeps_the_rules(name, p, forward, backward):
    schedule = SCHEDULES[name].make(p, 2 * p, 2 if SCHEDULES[name].chunked else 1)
    timeline = simulate(schedule, Costs(forward[:schedule.stages], backward[:schedule.stages], latency=forward[0]))
    events = events_of(timeline.to_chrome_trace())
    assert len(events) == len(timeline.spans)
    assert max(event["ts"] + event["dur"] for event in events) == round(1000 * timeline.makespan)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e5))
def test_any_measured_timeline_keeps_the_rules_and_its_unit(seed, scale):
    random, planned = Random(seed), simulate(schedules.one_f_one_b(4, 6), Costs(1, 2))
    measured = Timeline(planned.schedule, tuple(tuple(start + random.random() / 9 for start in row) for row in planned.starts),
                        planned.ends)
    events = events_of(measured.to_chrome_trace(scale))
    spans = {(span.rank, measured.schedule.label(span.operation)): span for span in measured.spans}
    for event in events:
        span = spans[event["tid"], event["name"]]
        assert abs(event["ts"] - scale * span.start) <= 0.5 and abs(event["ts"] + event["dur"] - scale * span.end) <= 0.5


def test_a_slot_of_20_ms_is_20_000_microseconds():
    (first, *_) = events_of(simulate(schedules.gpipe(1, 1)).to_chrome_trace(1e6 * 0.02))
    assert (first["name"], first["cat"], first["ts"], first["dur"]) == ("F0", "F", 0, 20_000)
    assert first["args"] == {"stage": 0, "micro_batch": 0}


def test_chunks_are_named_with_their_stage():
    names = {event["name"] for event in events_of(simulate(schedules.interleaved_1f1b(2, 2, 2)).to_chrome_trace())}
    assert {"0F0", "3B1"} <= names


def test_a_timeline_without_operations_is_a_trace():
    assert events_of(Timeline.from_grid(".\n.", 2, 1).to_chrome_trace()) == []
