"""Legality against a second, brute-force oracle on random mutants, and each fault with its place."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Operation, Schedule, Timeline, schedules, simulate, violations


def oracle_content(schedule):
    """What a complete step holds, by counting: faults of content as a set of (kind of fault, operation)."""
    counts = Counter(op for rank in schedule.ranks for op in rank)
    units = [(s, i) for s in range(schedule.stages) for i in range(schedule.micro_batches)]
    known = {Operation(s, k, i) for s, i in units for k in "FBIW"}
    faults = {("unknown", op) for op in counts if op not in known}
    faults |= {("repeated", op) for op, count in counts.items() if count > 1 and op in known}
    for s, i in units:
        has = {k for k in "FBIW" if counts[Operation(s, k, i)]}
        if "F" not in has:
            faults.add(("missing", Operation(s, "F", i)))
        if "B" in has and has & {"I", "W"}:
            faults.add(("whole-beside-split", Operation(s, "I" if "I" in has else "W", i)))
        if "B" not in has:
            wanted = {"I", "W"} if has & {"I", "W"} else {"B"}
            faults |= {("missing", Operation(s, k, i)) for k in wanted - has}
    for rank, row in enumerate(schedule.ranks):
        faults |= {("wrong-rank", op) for op in row if op in known and schedule.stage_to_rank[op.stage] != rank}
    return faults


def oracle_runs(schedule):
    """Whether the step comes to its end when the ranks are tried again and again; what is nowhere holds nobody up."""
    there = {op for rank in schedule.ranks for op in rank}
    left, done = [list(rank) for rank in schedule.ranks], set()
    moved = True
    while moved:
        moved = False
        for row in left:
            while row and all(need in done or need not in there for need in schedule.needs(row[0])):
                done.add(row.pop(0))
                moved = True
    return not any(left)


@st.composite
def mutants(draw):
    """A known schedule with up to four random changes."""
    p, v = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    m = p * draw(st.integers(1, 2)) if v > 1 else draw(st.integers(1, 5))
    plain = draw(st.sampled_from([schedules.gpipe, schedules.one_f_one_b]))
    known = schedules.interleaved_1f1b(p, m, v) if v > 1 else plain(p, m)
    ranks = [list(rank) for rank in known.ranks]
    for _ in range(draw(st.integers(0, 4))):
        rank = draw(st.sampled_from(ranks))
        if not rank:
            continue
        at, other = draw(st.integers(0, len(rank) - 1)), draw(st.integers(0, len(rank) - 1))
        change = draw(st.sampled_from(["swap", "move", "drop", "repeat", "elsewhere", "renumber", "split", "kind"]))
        op = rank[at]
        if change == "swap":
            rank[at], rank[other] = rank[other], rank[at]
        elif change == "move":
            rank.insert(other, rank.pop(at))
        elif change == "drop":
            del rank[at]
        elif change == "repeat":
            rank.insert(other, op)
        elif change == "elsewhere":
            draw(st.sampled_from(ranks)).append(rank.pop(at))
        elif change == "renumber":
            rank[at] = replace(op, stage=draw(st.integers(0, p * v)), micro_batch=draw(st.integers(0, m)))
        elif change == "split":
            rank[at:at + 1] = [replace(op, kind="I"), replace(op, kind="W")]
        else:
            rank[at] = replace(op, kind=draw(st.sampled_from("FBIW")))
    return Schedule(tuple(map(tuple, ranks)), known.stage_to_rank, m)


def faults_of(schedule):
    return {(v.code, schedule.ranks[v.rank][v.position]) for v in violations(schedule) if v.position is not None}


@settings(max_examples=600)
@given(mutants())
def test_schedules_against_the_oracle(schedule):
    found, content = violations(schedule), oracle_content(schedule)
    by_code = Counter(violation.code for violation in found)
    assert by_code["missing"] == sum(code == "missing" for code, _ in content)
    assert {fault for fault in faults_of(schedule) if fault[0] in ("unknown", "repeated", "whole-beside-split")} == {
        fault for fault in content if fault[0] in ("unknown", "repeated", "whole-beside-split")}
    assert {fault for fault in faults_of(schedule) if fault[0] == "wrong-rank"} <= content
    if not any(code == "repeated" for code, _ in content):
        assert by_code["wrong-rank"] == sum(code == "wrong-rank" for code, _ in content)
        known = [op for rank in schedule.ranks for op in rank if ("unknown", op) not in content]
        trimmed = Schedule(tuple(tuple(op for op in rank if op in set(known)) for rank in schedule.ranks),
                           schedule.stage_to_rank, schedule.micro_batches)
        assert (by_code["order"] + by_code["deadlock"] == 0) == oracle_runs(trimmed)
    assert (not found) == (not content and oracle_runs(schedule))


@settings(max_examples=300, deadline=None, print_blob=True)
@given(mutants(), st.data())
def test_timelines_against_the_oracle(schedule, data):
    """Random starts and lengths: every pair that breaks happens-before or overlaps is found, and no other."""
    times = st.integers(0, 8)
    rows = [sorted(data.draw(times) for _ in rank) for rank in schedule.ranks]
    timeline = Timeline(schedule, tuple(map(tuple, rows)), tuple(tuple(start + 1 for start in row) for row in rows))
    ends = {}
    for span in timeline.spans:
        ends.setdefault(span.operation, span.end)
    content = oracle_content(schedule)
    judged, seen = [], set()
    for span in timeline.spans:
        if span.operation not in seen and ("unknown", span.operation) not in content:
            judged.append(span)
            seen.add(span.operation)
    early = Counter(span.operation for span in judged
                    for need in schedule.needs(span.operation) if ends.get(need, 0) > span.start)
    overlapping = sum(two < one + 1 for row in rows for one, two in itertools.pairwise(row))
    found = violations(timeline)
    assert Counter(schedule.ranks[v.rank][v.position] for v in found if v.code == "too-early") == early
    assert sum(v.code == "overlap" for v in found) == overlapping


def place(schedule, code):
    (found,) = [(v.rank, v.position, v.message) for v in violations(schedule) if v.code == code]
    return found


def test_each_fault_has_its_place_and_reason():
    csv = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
    assert violations(Schedule.from_csv(csv)) == []
    assert place(Schedule.from_csv(csv.replace("1B0,1F1", "1F1")), "missing")[2] == "B0 is missing on stage 1"
    twice = Schedule.from_csv(csv)
    twice = replace(twice, ranks=((*twice.ranks[0], Operation(0, "F", 1)), twice.ranks[1]))
    rank, position, message = place(twice, "repeated")
    assert (rank, position) == (0, 4) and "F1" in message
    rank, position, message = place(Schedule.from_csv(csv.replace("1B1", "1B1,1B7"), micro_batches=2), "unknown")
    assert (rank, position) == (1, 4) and "B7" in message and "micro-batches are 0 to 1" in message
    rank, position, message = place(Schedule.from_csv("0F0,0B0\n1B0,1F0\n"), "order")
    assert (rank, position) == (1, 0) and message == "B0 comes before F0, which it needs, on stage 1"


def test_wrong_rank():
    op = Operation.parse
    schedule = Schedule(((op("0F0"), op("0B0"), op("1B0")), (op("1F0"),)), (0, 1), 1)
    rank, position, message = place(schedule, "wrong-rank")
    assert (rank, position) == (0, 2) and "1B0 is on stage 0, but is one of stage 1" in message


def test_split_backwards():
    legal = Schedule.from_csv("0F0,0I0,0W0\n1F0,1I0,1W0\n")
    assert violations(legal) == []
    assert place(Schedule.from_csv("0F0,0W0,0I0\n1F0,1I0,1W0\n"), "order")[:2] == (0, 1)
    assert place(Schedule.from_csv("0F0,0B0,0W0\n1F0,1B0\n"), "whole-beside-split")[:2] == (0, 2)
    assert place(Schedule.from_csv("0F0,0I0\n1F0,1B0\n"), "missing")[2] == "W0 is missing on stage 0"


def test_a_deadlock_names_its_cycle():
    schedule = Schedule.from_csv("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n")
    rank, position, message = place(schedule, "deadlock")
    assert (rank, position) == (0, 1)
    assert message == ("deadlock: stage 0 is at B0 and waits for B0 of stage 1; "
                       "stage 1 is at F1 and waits for F1 of stage 0")
    with pytest.raises(ValueError, match="deadlock"):
        simulate(schedule)


def test_two_separate_deadlocks_are_two_faults():
    schedule = Schedule.from_csv("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n2F0,2B0,2F1,2B1\n3F1,3B1,3F0,3B0\n")
    assert [(v.code, v.rank) for v in violations(schedule)] == [("deadlock", 0), ("deadlock", 2)]


def test_the_same_slot_is_too_early_although_the_order_is_right():
    drawn = Timeline.from_grid("F0 .  B0\n.  F0 B0", stages=2, micro_batches=1)
    assert violations(drawn.schedule) == []
    (fault,) = violations(drawn)
    assert (fault.code, fault.rank, fault.position) == ("too-early", 0, 1)
    assert fault.message == "B0 on stage 0 starts at slot 2, but needs B0 of stage 1, which ends at slot 3"


def test_chunks_are_named_with_their_stage():
    schedule = schedules.interleaved_1f1b(2, 2, 2)
    swapped = Schedule((schedule.ranks[0][::-1], schedule.ranks[1]), schedule.stage_to_rank, 2)
    assert "2B0" in " ".join(v.message for v in violations(swapped)) and "rank 0" in violations(swapped)[0].message


def test_a_quarter_of_a_million_operations():
    schedule = schedules.interleaved_1f1b(64, 1024, 2)
    assert sum(map(len, schedule.ranks)) == 262_144
    timeline = simulate(schedule)
    assert timeline.bubble_over_ideal * 2 * 1024 == 63  # (p-1)/(v m)


def test_an_operation_that_ends_before_it_starts_is_a_fault():
    schedule = Schedule.from_csv("0F0,0B0\n")
    for ends in ((1, 2), (float("nan"), 6)):
        assert any(fault.code == "overlap" for fault in violations(Timeline(schedule, ((0, 5),), (ends,))))
