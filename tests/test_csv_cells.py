import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributed.pipelining import schedules as torch_schedules

from course import Schedule, schedules, violations

GOOD = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
AS_ONE = Schedule.from_csv(GOOD)


@pytest.mark.parametrize(("text", "place", "words"), [
    (GOOD.replace("1F1", "1F0"), (1, 2), ["1F0 is there already, in row 1, column 0", "delete one"]),
    (GOOD.replace("1F1", "0F1"), (1, 2), ["0F1 is there already, in row 0, column 1"]),
    (GOOD.replace(",1F1", ",,,1X1"), (1, 4), ["'1X1'", "F, B, I or W"]),
    (GOOD.replace("1F1", "F1"), (1, 2), ["'F1'", "<stage>"]),
    (GOOD.replace("1F1", "1f1"), (1, 2), ["'1f1'", "capitals, 1F1"]),
    (GOOD.replace("1F1", "1SEND_F0"), (1, 2), ["'1SEND_F0'", "communication", "compute_only"]),
    (GOOD.replace("0F0", "0UNSHARD"), (0, 0), ["'0UNSHARD'", "communication", "compute_only"]),
    (GOOD.replace("0B1", "0REDUCE_GRAD"), (0, 3), ["communication"]),
    (GOOD.replace("1F1", "(1F1;0B0)OVERLAP_F_B"), (1, 2), ["overlaps", "forward first"]),
    (GOOD.replace("1F1", "nan"), (1, 2), ["'nan'", "idle slot empty"]), (GOOD.replace("1F1", "."), (1, 2), ["idle slot empty"]),
    (GOOD.replace(",", ";"), (0, 0), ["commas"]), (GOOD.replace(",", "\t"), (0, 0), ["commas"]), ("0F0 0B0", (0, 0), ["commas"]),
    ("step 0,step 1\n" + GOOD, (0, 0), ["'step 0'", "headings"]), (",0,1,2,3\n" + GOOD, (0, 1), ["headings"]),
    ("".join(f"rank {row},{line}\n" for row, line in enumerate(GOOD.splitlines())), (0, 0), ["'rank 0'", "column of names"]),
    ("".join(f"{row},{line}\n" for row, line in enumerate(GOOD.splitlines())), (0, 0), ["'0'", "numbers of ranks"]),
    (GOOD + "total,8", (2, 0), ["'total'", "headings"]), (GOOD.replace("1F1", '"1F1'), (1, 2), ["quotation mark"]),
    ("\ufeff" + GOOD.replace("1F1", "1Q1").replace("\n", "\r\n"), (1, 2), ["'1Q1'"]),
    (GOOD.replace("1F1", "99999F99999"), (1, 2), ["99999F99999", "500,000"]),
    (GOOD.replace("1F1", "1F" + "1" * 5000), (1, 2), ["at most 6 digits"]), (GOOD.replace("1F1", "Q" * 9000), (1, 2), ["…"]),
])
def test_a_csv_from_elsewhere_is_refused_with_row_and_column(text, place, words):
    with pytest.raises(ValueError) as error:
        Schedule.from_csv(text)
    message = str(error.value)
    assert message.startswith("row {}, column {}: ".format(*place)), message
    assert "counted from 0" in message and len(message) < 420
    assert all(word in message for word in words), message


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n", ",,\n,,", " ", "\r\n"])
def test_an_empty_text_is_no_schedule(text):
    with pytest.raises(ValueError, match="CSV text is empty: a row a rank is wanted"):
        Schedule.from_csv(text)


@pytest.mark.parametrize(("given", "kind"), [(None, "None"), (b"0F0,0B0", "a bytes"), (["0F0"], "a list"), (7, "an int")])
def test_what_is_no_text_is_named(given, kind):
    with pytest.raises(ValueError, match=f"this is {kind}: "):
        Schedule.from_csv(given)


def test_rows_of_several_lengths_are_read_and_what_is_missing_of_them_is_named():
    short = Schedule.from_csv(GOOD.removesuffix(",1F1,1B1\n"))
    assert [len(rank) for rank in short.ranks] == [4, 2]
    assert [(fault.rank, fault.message) for fault in violations(short)] == [
        (1, "F1 is missing on stage 1"), (1, "B1 is missing on stage 1")]


@pytest.mark.parametrize("text", [
    "\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r"), GOOD.replace(",", ",,"), GOOD.replace(",", " , "),
    GOOD.replace("\n", ",,\n"), GOOD + "\n\n", GOOD.strip(), re.sub(r"(\w+)", r'"\1"', GOOD)])
def test_what_spreadsheets_do_to_a_csv_is_read(text):
    assert Schedule.from_csv(text) == AS_ONE


@settings(max_examples=100)
@given(st.text(alphabet='012FBIWX,;\n\r" ()\t', max_size=50))
def test_any_text_is_read_or_named(text):
    try:
        schedule = Schedule.from_csv(text)
    except ValueError as error:
        assert str(error) and len(str(error)) < 420
    else:
        again = Schedule.from_csv(schedule.to_csv())
        assert again.ranks == schedule.ranks[:len(again.ranks)]
        assert not any(schedule.ranks[len(again.ranks):]) and again.micro_batches == schedule.micro_batches


@pytest.mark.parametrize("make", [lambda: schedules.one_f_one_b(4, 8), lambda: schedules.zb_v(2, 4)])
def test_pytorchs_own_form_with_communication_is_refused_at_its_first_cell(make):
    """Lowered by PyTorch itself, so that the names of its actions are its own."""
    schedule = make()
    actions = {rank: [torch_schedules._Action.from_str(str(operation)) for operation in order]
               for rank, order in enumerate(schedule.ranks)}
    lowered = torch_schedules._add_send_recv(actions, schedule.stage_to_rank.__getitem__, schedule.stages)
    rows = [[str(action) for action in lowered[rank]] for rank in sorted(lowered)]
    first = next((row, column) for row, cells in enumerate(rows) for column, cell in enumerate(cells)
                 if "SEND" in cell or "RECV" in cell)
    with pytest.raises(ValueError, match=f"row {first[0]}, column {first[1]}: .* communication .*compute_only"):
        Schedule.from_csv("\n".join(map(",".join, rows)))
    only = "\n".join(",".join(cell for cell in cells if re.fullmatch(r"\d+[FBIW]\d+", cell)) for cells in rows)
    assert Schedule.from_csv(only).ranks == schedule.ranks  # the way out that is named
