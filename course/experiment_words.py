"""What is said of the rows of an experiment table once they are run, or when their run was stopped."""

from collections.abc import Collection, Iterator, Mapping

from course.plan import Row, how_busy
from course.progress import is_grading
from course.records import Records

AFTER_BUSY = "measures anew in the call of run_experiment"


def sayings(rows: Mapping[int, Row], records: Records, there: Mapping[int, Mapping], failed: Mapping[int, str], before: int,
            target) -> Iterator[str]:
    """Sentences on a table: `there` are the records of its rows, `before` how many were finished earlier, `target` its CSV."""
    if records.said:
        yield records.said
        records.said = ""
    if before:
        yield f"{before} of {len(rows)} rows were finished before and are kept."
    for number, reason in failed.items():
        what = "its earlier measurement stays in the table" if number in there else "it is not in the table"
        yield (f"Row {number} ({rows[number].label}) failed: {reason}; {what}. The others are not touched: run it again, and "
               "only this row is tried once more.")
    yield from _busy(rows, there)
    if records.setting["pacing"]["clock"] == "virtual":
        why = ", because the notebook is graded or validated" if is_grading() else ""
        yield f"The times in this table follow the plan (virtual clock) and are not measured{why}."
    if records.trouble:
        yield f"{records.trouble} The table is there all the same, and its rows are kept in memory."
    elif target:
        yield f"{len(there)} of {len(rows)} rows are in the table, kept in {target.name} and {records.path.name}."


def _busy(rows, there):
    """Which rows were measured on a busy machine, by what they are off their plan; or by single operations only."""
    off = {number: how_busy(rows[number], *(record[name] for name in ("bubble_measured", "step_time_measured",
                                                                      "step_time_predicted")))
           for number, record in there.items()}
    busy = [number for number, by in off.items() if by]
    late = [f"{record['overruns']} in row {number}" for number, record in there.items() if record.get("overruns")]
    if busy:
        named = ", ".join(f"row {number} ({off[number]})" for number in busy)
        yield f"Measured while this machine was busy: {named}. again={busy} {AFTER_BUSY}."
    elif late:
        yield (f"Operations that took longer than their planned time: {', '.join(late)}. This machine was busy, but no row is "
               "far off its plan.")


def kept(rows: Mapping[int, Row], records: Records) -> str:
    """What is kept of a run that was stopped, in a few sentences."""
    finished = [number for number, row in rows.items() if records.finished(row.key)]
    where = f" in {records.path.name}" if records.path and not records.trouble else ""
    said = [f"{len(finished)} of {len(rows)} rows are finished and kept{where}."]
    earlier = [number for number in records.waiting if number in finished]
    if earlier:
        several = len(earlier) > 1
        said.append(f"Row{'s' * several} {', '.join(map(str, earlier))} {'were' if several else 'was'} not measured anew: the "
                    f"earlier measurement{'s stay' if several else ' stays'}.")
    looked = [number for number in records.waiting if rows[number].key in records.keepable]
    if looked and len(looked) < len(records.waiting):
        said.append(f"How long a slot must be was found out for {len(looked)} of {len(records.waiting)}; that is kept too.")
    return " ".join(said)


def unknown_rows(wanted: Collection, rows: Collection[int]) -> str:
    """The sentence on rows that are to be run again and are not there; empty where all are."""
    strange = [repr(number)[:20] for number in wanted if number not in rows]
    return f"again: there is no row {', '.join(strange)}; the rows are 1 to {len(rows)}." if strange else ""
