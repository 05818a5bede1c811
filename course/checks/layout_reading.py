"""Reading a learner's layout: a dict of six entries, however it is written."""

from course.checks.outcome import Message, as_number, one_row, show_value, unreadable
from course.layout.placement import Layout

SIZES = ("tp", "pp", "dp", "micro_batch_size", "chunks")
LETTERS = {"t": "tp", "p": "pp", "d": "dp", "b": "micro_batch_size", "v": "chunks"}  # as the papers call them
FORM = "`dict(tp=.., pp=.., dp=.., micro_batch_size=.., chunks=.., nodes=[[..], ..])`"
LARGEST = 10**6


def read_design(value, name: str) -> tuple[Layout, list[Message]] | Message:
    """The layout and what was read leniently; the message why there is none.

    Without chunks it is 1, without nodes the ranks lie in order; ranks counted from 1 are taken as such.
    """
    value = one_row(value)
    if isinstance(value, dict) and value and all(entry == "..." for entry in value.values()):
        value = None
    trouble = unreadable(value, name, f"It is a {FORM}.")
    if trouble:
        return trouble
    if not isinstance(value, dict):
        return Message("not-a-dict", f"`{name}` is a {FORM}; found {show_value(value)}.")
    given = {_key(key): entry for key, entry in value.items()}
    notes = []
    if given.get("chunks") is None:
        given["chunks"] = 1
        notes.append(Message("chunks-taken", "`chunks` is not there: taken as 1.", good=True))
    sizes = {}
    for key in SIZES:
        entry = given.get(key)
        if entry is None or entry == "...":
            return Message("missing-key", f"`{name}` does not say `{key}`. It is a {FORM}.")
        number = as_number(entry)
        if number is None or number != int(number) or not 1 <= number <= LARGEST:
            return Message("not-a-size", f"`{name}`: {key} = {show_value(entry)}. It is a whole number from 1 to {LARGEST:,}.")
        sizes[key] = int(number)
    nodes = _read_nodes(given.get("nodes"), sizes["tp"] * sizes["pp"] * sizes["dp"])
    if isinstance(nodes, Message):
        return Message(nodes.code, f"`{name}`: {nodes.text}")
    ranks, said = nodes
    extra = sorted(set(given) - {*SIZES, "nodes"})
    if extra:
        said = [*said, Message("unknown-key", f"`{extra[0]}` is no entry of a layout: it was not looked at.")]
    return Layout(**sizes, nodes=ranks), [*notes, *said]


def _key(key):
    name = str(key).strip().lower().replace("-", "_")
    return LETTERS.get(name, name)


def _row(ranks):
    """A node's ranks written as one text are a list as well."""
    return ranks.replace(",", " ").split() if isinstance(ranks, str) and " " in ranks.strip() else ranks


def _read_nodes(value, gpus):
    if value is None or value == "...":
        return None, [Message("nodes-taken", "`nodes` is not there: the ranks are taken in order, node by node.", good=True)]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, list):
        value = [_row(ranks) for ranks in value if ranks != []]
    if isinstance(value, list) and value and not any(isinstance(ranks, list) for ranks in value):
        value = [value]
    wanted = "`nodes` lists the ranks of each node, such as [[0, 1], [2, 3]]"
    if not isinstance(value, list) or not all(isinstance(ranks, list) for ranks in value):
        return Message("not-nodes", f"{wanted}; found {show_value(value)}.")
    numbers = [[as_number(rank) for rank in ranks] for ranks in value]
    wrong = [rank for ranks, row in zip(value, numbers, strict=True) for rank, number in zip(ranks, row, strict=True)
             if number is None or number != int(number) or not 0 <= number <= LARGEST]
    if wrong:
        return Message("not-nodes", f"{wanted}; {show_value(wrong[0])} is no rank.")
    numbers = [[int(number) for number in row] for row in numbers]
    placed = sorted(rank for row in numbers for rank in row)
    if len(placed) == gpus and placed == list(range(1, gpus + 1)):
        return [[rank - 1 for rank in row] for row in numbers], [
            Message("ranks-from-one", "Your ranks are counted from 1, consistently: taken as such.", good=True)]
    return numbers, []
