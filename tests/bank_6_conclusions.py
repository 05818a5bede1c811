"""Right and wrong answers of notebook 6: conclusions from a table that is exact, and from others."""

from tests.bank import Case

HEAD = "from course.plan import DEFAULT, Row\nfrom tests.experiment_lines import made, noisy\n"
PLANNED = "configurations = [row.as_dict() for row in rows]\n"
TABLE = f"{HEAD}rows = list(DEFAULT)\ntable = made(rows)\n{PLANNED}"
TRUE = {"a": "7", "b": "2", "c": "4", "d": "1", "e": "8", "f": "'slow stage'", "g": "False", "h": "True", "i": "False",
        "j": "True"}


def drawn(points, *codes, before="", after="", rows="list(DEFAULT)", **changes):
    """The conclusions of the default table, or of that of other rows, but for the changes; `None` leaves one out."""
    answers = {key: value for key, value in (TRUE | changes).items() if value is not None}
    body = ", ".join(f"{key!r}: {value}" for key, value in answers.items())
    table = f"{HEAD}rows = {rows}\ntable = made(rows)\n{PLANNED}"
    return Case("ex6-conclusions", f"{table}{before}\nconclusions = {{{body}}}\n{after}", points, codes)


def only(points, *codes, **answers):
    """These conclusions of the default table, and no others."""
    return drawn(points, *codes, **(dict.fromkeys(TRUE) | answers))


def spoilt(points, *codes, busy="{4: 0.5}", **changes):
    """The same from a table of which some rows were measured on a busy machine: by how much their bubble is larger."""
    return drawn(points, *codes, before=f"table = noisy({busy}, rows)", **changes)


COMPUTED = """
import pandas
table = pandas.DataFrame(table, index=range(1, len(table) + 1))
gap = (table.bubble_measured - table.bubble_estimated).abs()
conclusions = {
    "a": table.step_time_measured.idxmin(), "b": table.peak_activation_bytes.idxmax(), "c": table.bubble_measured.idxmin(),
    "d": (table.pp * table.dp * table.step_time_measured).idxmin(), "e": gap.idxmax(), "f": "slow_stage",
    "g": table.bubble_measured.idxmin() == table.step_time_measured.idxmin(), "h": (gap[table.slow_stage == 1] < 0.01).all(),
    "i": False, "j": (table.step_time_measured < 1.05 * table.step_time_predicted).all()}
"""
PLAIN = "[Row('1f1b', p, 1, m, 32 // m) for p, m in ((2, 8), (4, 8))] + [Row('looped_bfs', 4, 2, 16, 2)]"
FEW = "[Row('1f1b', 2, 1, 8, 4), Row('looped_bfs', 8, 2, 2, 16), Row('interleaved_1f1b', 2, 2, 4, 8)]"
LINKS = "[Row('1f1b', 4, 1, 8, 4, message=200), Row('gpipe', 2, 1, 16, 2), Row('looped_bfs', 2, 2, 8, 4)]"
BOTH = "[Row('1f1b', 4, 1, 8, 4, slow_stage=3, message=200), Row('gpipe', 2, 1, 16, 2), Row('1f1b', 4, 1, 16, 2)]"
TWO = "[Row('1f1b', 4, 1, 8, 4, slow_stage=3, message=200), Row('gpipe', 2, 1, 16, 2)]"
SAME_M = "[Row('1f1b', p, 1, 8, 4) for p in (2, 4)]"
NEAR = "[Row('1f1b', 4, 1, 8, 4, slow_stage=s) for s in (3, 3.0001)] + [Row('1f1b', 2, 1, 16, 2)]"

RIGHT_CONCLUSIONS = [
    drawn(8, "conclusion-right"),
    Case("ex6-conclusions", TABLE + COMPUTED, 8, ("conclusion-right",)),
    drawn(8, a="numpy.int64(7)", b="2.0", c="'4'", g="numpy.bool_(False)", h="1", before="import numpy"),
    drawn(8, "counted-from-zero", a="6", b="1", c="3", d="0", e="7"),
    drawn(8, a="'row 7'", b="'Row 2'", c="' 4 '"),
    drawn(8, f="'Slow stage'", g="'false'", h="'yes'", i="0", j="'T'"),
    drawn(8, after="conclusions = {key.upper() + '.': value for key, value in conclusions.items()}"),
    drawn(8, after="conclusions = list(conclusions.values())"),
    drawn(8, before="import pandas\ntable = pandas.DataFrame(table)", f="'stage'"),
    drawn(8, before="import csv\nfrom course.records import csv_of\ntable = list(csv.DictReader(csv_of(table).splitlines()))"),
    drawn(8, rows=PLAIN, a="3", b="3", c="3", d="1", e="2", f="'noise'", g="True", h="True", i="True", j="True"),
    drawn(8, rows=PLAIN, a="3", b="3", c="3", d="1", e="1", f="'none'", g="True", h="True", i="True", j="True"),
    drawn(8, rows=FEW, a="2", b="3", c="1", d="3", e="2", f="'few micro-batches'", g="False", h="True", i="False", j="True"),
    drawn(8, rows=LINKS, a="3", b="2", c="2", d="3", e="1", f="'slow link'"),
    drawn(8, rows=BOTH, a="3", b="2", c="2", d="2", e="1", f="'slow stage'"),
    drawn(8, rows=BOTH, a="3", b="2", c="2", d="2", e="1", f="'message'"),
    drawn(8, before="table = made(late=0.005)"),
    spoilt(8),
    spoilt(8, busy="dict.fromkeys(range(1, 9), 0.03)"),
    spoilt(8, busy="{2: 0.3}", rows=PLAIN, a="3", b="3", c="3", d="1", e="2", f="'noise'", g="True", h="True", i="True",
           j="True"),
    drawn(8, "counted-as-planned", before="import pandas\ntable = pandas.DataFrame(table).sort_values('step_time_measured')"),
    drawn(8, before="table = made(rows, slot=0.0005, all_reduce=0.3)"),
]

WRONG_CONCLUSIONS = [
    Case("ex6-conclusions", TABLE + "conclusions = ...", 0, ("unanswered",)),
    Case("ex6-conclusions", TABLE + "conclusions = None", 0, ("unanswered",)),
    Case("ex6-conclusions", TABLE + "conclusions = {key: ... for key in 'abcdefghij'}", 0, ("unanswered",)),
    Case("ex6-conclusions", TABLE + "conclusions = 7", 0, ("not-a-dict",)),
    Case("ex6-conclusions", TABLE + "conclusions = 'row 7 is best'", 0, ("not-a-dict",)),
    Case("ex6-conclusions", TABLE + "conclusions = [1, 2]", 0, ("not-a-dict",)),
    Case("ex6-conclusions", TABLE + "conclusions = {}", 0, ("unanswered",)),
    Case("ex6-conclusions", TABLE + "conclusions = lambda: {}", 0, ("refused",)),
    drawn(0, "no-table", after="table = ..."),
    drawn(0, "no-table", after="table = None"),
    drawn(0, "no-table", after="table = [{'pp': 3}]"),
    drawn(0, "no-table", after="table = 'mine.csv'"),
    drawn(7, "not-the-shortest", a="5"),
    drawn(7, "not-the-fullest", b="3"),
    drawn(7, "not-the-smallest-bubble", c="1"),
    drawn(7, "not-the-cheapest", d="7"),
    drawn(7, "not-the-farthest", e="2"),
    drawn(7, "other-reason", f="'slow link'"),
    drawn(7, "other-reason", f="'noise'"),
    drawn(6, "not-the-farthest", "row-first", e="5", f="'noise'"),
    spoilt(7, "busy-machine", e="4"),
    spoilt(7, "other-reason", f="'noise'"),
    spoilt(6, "busy-machine", "row-first", e="4", f="'noise'"),
    spoilt(7, "busy-machine", busy="{7: 0.3}", a="5"),
    spoilt(7, "busy-machine", c="1"),
    spoilt(7.5, "busy-machine", h="False"),
    spoilt(7.5, "busy-machine", j="False"),
    spoilt(7.5, "more-is-not-more", i="True"),
    drawn(7, "row-missing", after="table = table[:7]", e="1", f="'noise'"),
    drawn(0, "one-row", after="table = table[:1]"),
    drawn(0, "not-your-table", after="table = made([Row('1f1b', 2, 1, m, 64 // m) for m in (8, 32)])"),
    drawn(0, "one-row", after="table = made([Row('1f1b', 2, 1, m, 32 // m) for m in (8, 32)])"),
    drawn(8 * 8 / 9, "other-row", after="table += table[:1]"),
    drawn(0, "unanswered", after="configurations = ..."),
    drawn(0, "no-plan", after="configurations = [5]"),
    drawn(5.6, "row-missing", after="configurations += [5, 6]\ntable += [dict(table[0], pp=3)]", a="5"),
    drawn(4.5, "cannot-answer", "tells-little", rows=SAME_M, a="2", b="1", c="1", d="1", e="2",
          f="'noise'", g="False", i="True"),
    drawn(4.5, "cannot-answer", "tells-little", rows=SAME_M, a="2", b="1", c="1", d="1", e="2",
          f="'noise'", g="False", i="False"),
    drawn(6.4, "tells-little", rows=TWO, a="2", b="2", c="2", d="2", e="1", g="True", i="True"),
    drawn(6.4, "tells-little", rows=NEAR, a="3", b="1", c="3", d="3", e="1", g="True"),
    drawn(0, "one-row", rows="[Row('1f1b', 2, 1, 8, 4)] * 2", a="1", b="1", c="1", d="1", e="1", f="'noise'", g="True"),
    drawn(0, "one-row", rows="[Row('1f1b', 2, 1, 8, 4, message=m / 1e6) for m in (1, 2, 3)]", a="1", b="1", c="1", d="1", e="1"),
    drawn(7.5, "bubble-is-not-time", g="True"),
    drawn(7.5, "formula-holds", h="False"),
    drawn(7.5, "more-is-not-more", i="True"),
    drawn(7.5, "as-predicted", j="False"),
    drawn(7, "unanswered", a="..."),
    drawn(7, "unanswered", a=None),
    only(0, "not-the-shortest", a="6"),
    only(0, "not-the-shortest", "not-the-fullest", a="6", b="1"),
    only(3, "counted-from-zero", a="6", b="1", c="3"),
    only(1, "counted-from-zero", d="0"),
    drawn(7, "no-such-row", a="9"),
    drawn(7, "no-such-row", a="-1"),
    drawn(7, "not-a-row", a="'the seventh'"),
    drawn(7, "not-a-row", a="True"),
    drawn(7, "not-a-row", a="{'pp': 4}"),
    drawn(4, "not-the-shortest", "not-the-fullest", "not-the-cheapest", "not-the-farthest", a="6", b="1", d="8", e="7"),
    drawn(7, "not-the-cheapest", d="5"),
    drawn(7, "not-a-row", a="7.5"),
    drawn(7, "not-a-row", a="[7]"),
    drawn(7, "not-a-reason", f="'it is slow'"),
    drawn(7, "not-a-reason", f="8"),
    drawn(7.5, "not-a-verdict", g="'perhaps'"),
    drawn(7.5, "not-a-verdict", g="2"),
    drawn(8, "unknown-key", after="conclusions['k'] = True"),
    drawn(3, "no-such-row", a="0", b="0", c="0", d="0", e="0"),
    drawn(7, "not-a-row", after="conclusions['a'] = float('nan')"),
    drawn(7.5, "not-a-verdict", after="conclusions['h'] = float('nan')"),
]
