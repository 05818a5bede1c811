import random
from textwrap import wrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Operation, Schedule, schedules
from course.schedules import SCHEDULES
from course.sharing import from_line, to_line
from tests.test_legality import mutants

SEED = random.randrange(10**6)
OWN = Schedule.from_csv("0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3\n1F0,1B0,1F1,1B1,1F3,1F2,1B2,1B3")


def parts(schedule):
    return schedule.ranks, schedule.stage_to_rank, schedule.micro_batches


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("p", "m"), [(1, 2), (2, 4), (4, 8), (3, 6)])
def test_a_known_schedule_is_its_name_and_its_sizes(name, p, m):
    for chunks in [SCHEDULES[name].chunks] if SCHEDULES[name].chunks else [1, 2, 3]:
        schedule = SCHEDULES[name].make(p, m, chunks)
        line = to_line(schedule)
        assert len(line) < 45 and "\n" not in line and parts(from_line(line)) == parts(schedule)
        assert SCHEDULES[from_line(line).name].make(p, m, chunks).ranks == schedule.ranks


def test_literal_lines():
    assert to_line(schedules.interleaved_1f1b(4, 8, 2)) == "pp1/interleaved_1f1b/p4/m8/v2/end"
    assert to_line(schedules.zb_v(4, 8)) == "pp1/zb_v/p4/m8/end"
    assert to_line(OWN) == "pp1/p2/m4/F0-2,B0,F3,B1-3/[F0,B0]x2,F3,F2,B2-3/end"
    assert to_line(Schedule.from_csv("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0")) == (
        "pp1/homes0,1,1,0/p2/m1/0F0,3F0,3B0,0B0/1F0,2F0,2B0,1B0/end")


@settings(max_examples=200)
@given(mutants())
def test_any_schedule_goes_out_and_in(schedule):
    assert parts(from_line(to_line(schedule))) == parts(schedule)


@settings(max_examples=100)
@given(st.lists(st.lists(st.builds(Operation, st.integers(0, 3), st.sampled_from("FBIW"), st.integers(0, 3)), max_size=14),
                min_size=1, max_size=4), st.integers(0, 5))
def test_so_does_any_heap_of_operations(rows, micro_batches):
    schedule = Schedule.of(rows, micro_batches=micro_batches)
    assert parts(from_line(to_line(schedule))) == parts(schedule)


def test_ten_thousand_operations():
    print("seed", SEED)
    known = schedules.one_f_one_b(8, 625)
    assert sum(map(len, known.ranks)) == 10_000 and to_line(known) == "pp1/1f1b/p8/m625/end"
    rank = list(known.ranks[3])
    rank[700], rank[701] = rank[701], rank[700]
    near = Schedule((*known.ranks[:3], tuple(rank), *known.ranks[4:]), known.stage_to_rank, 625)
    assert len(to_line(near)) < 400 and parts(from_line(to_line(near))) == parts(near)
    rows = [random.Random(SEED + row).sample(rank, len(rank)) for row, rank in enumerate(known.ranks)]
    shuffled = Schedule(tuple(map(tuple, rows)), known.stage_to_rank, 625)
    assert parts(from_line(to_line(shuffled))) == parts(shuffled) and len(to_line(shuffled)) < 60_000


@pytest.mark.parametrize("schedule", [schedules.zb_h1(4, 8), OWN, Schedule.from_csv("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0")])
def test_what_a_mailer_does_to_a_line_is_undone(schedule):
    line = to_line(schedule)
    for sent in (f'"{line}"', f"\u201c{line}\u201d", f"`{line}`", f"<{line}>", f"  {line}\r\n", f"Mine: {line}.", line.upper(),
                 line.replace("-", "\u2013"), line.replace("/", "/ "), line.replace(",", ",\u200b\u00a0"),
                 "\n".join(wrap(line, 7)), "=\r\n".join(wrap(line, 11)), "\n".join("> " + part for part in wrap(line, 9))):
        assert parts(from_line(sent)) == parts(schedule), sent


@pytest.mark.parametrize(("line", "words"), [
    ("", ["''", "pp1/1f1b/p4/m8/end"]), ("hello", ["'hello'", "pp1/1f1b/p4/m8/end"]), (None, ["this is None"]),
    ("pp1/1f1b/p4/m", ["breaks off after", "/end"]), ("pp1/p2/m1/F0,B0/F0", ["breaks off after 'pp1/p2/m1/f0,b0/f0'"]),
    ("pp2/1f1b/p4/m8/end", ["version 2", "version 1"]), ("pp1/1f2b/p4/m8/end", ["'1f2b'", "zb_h1"]),
    ("pp1/1f1b/4/m8/end", ["'4'", "ranks", "p4"]), ("pp1/1f1b/p4/end", ["''", "micro-batches"]),
    ("pp1/1f1b/p4/m8/v2/end", ["'v2'", "behind the sizes"]), ("pp1/looped_bfs/p4/m8/end", ["''", "chunks", "v4"]),
    ("pp1/interleaved_1f1b/p4/m7/v2/end", ["multiple of"]), ("pp1/1f1b/p999999/m999999/end", ["500,000"]),
    ("pp1/p3/m1/F0/F0/end", ["p3", "2 parts"]), ("pp1/p2/m1/F0,B0/F0,X0/end", ["rank 1, item 1", "'x0'", "F, B, I or W"]),
    ("pp1/homes0,7/p2/m1/0F0/1F0/end", ["'7'", "stage 1", "0 to 1"]),
    ("pp1/homes0,1,1,0/p2/m1/F0/1F0/end", ["rank 0, item 0", "2F0"]),
    ("pp1/p1/m4/F3-0/end", ["'f3-0'"]), ("pp1/p1/m4/[F0,B0/end", ["rank 0, item 0", "'['"]),
    ("pp1/p1/m4/[F0,B0]/end", ["[B0,F4]x3"]), ("pp1/p1/m4/[F0-2,B0]x2/end", ["'f0-2'", "by itself"]),
    ("pp1/p1/m4/F0,[F0,B0,F1]x999999/end", ["item 1", "1,500,000"]),
    ("pp1/p1/m4/F0" + "9" * 9000 + "/end", ["rank 0, item 0", "…"]), ("pp1/p" + "9" * 9000 + "/m4/end", ["…"]),
])
def test_what_is_no_line_is_named_with_its_place(line, words):
    with pytest.raises(ValueError) as error:
        from_line(line)
    assert all(word in str(error.value) for word in words), str(error.value)
    assert len(str(error.value)) < 250


@settings(max_examples=200)
@given(st.text(alphabet="pmvx0123/[],-FBIWhomesend \n", max_size=60))
def test_any_text_is_read_or_named(text):
    for line in (text, f"pp1/{text}/end"):
        try:
            assert isinstance(from_line(line), Schedule)
        except ValueError as error:
            assert str(error)


def test_what_is_no_operation_is_not_written():
    with pytest.raises(ValueError, match="0X0 on stage 0 cannot be written"):
        to_line(Schedule(((Operation(0, "X", 0),),), (0,), 1))
