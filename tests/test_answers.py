"""One encoder, three ways in: in this process, over the wire, from a process of its own."""

import collections
import dataclasses
import functools
import itertools
import json
import sys
import time
import types
from decimal import Decimal
from fractions import Fraction

import numpy
import pandas
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.session import Session
from course.answers import LocalAnswer, Raised, Record, Refused, encode
from course.numbers_of_answers import LARGEST
from course.wire import WireError, from_wire, to_wire


class Lying(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__

    def __int__(self):
        return 42


@dataclasses.dataclass
class Layout:
    tp: int
    pp: int


@pytest.mark.parametrize(("value", "plain"), [
    (True, True), (3, 3), (2.5, 2.5), ("x", "x"), (None, None), (..., "..."), (Fraction(1, 3), Fraction(1, 3)),
    (Decimal("0.5"), Fraction(1, 2)), ((1, (2,)), [1, [2]]), (range(3), [0, 1, 2]), (iter("ab"), ["a", "b"]),
    ((n * n for n in range(3)), [0, 1, 4]), ({"a": (1,)}, {"a": [1]}), ({(1, 2): 3, 4: 5}, {(1, 2): 3, 4: 5}),
    (types.MappingProxyType({"a": 1}), {"a": 1}), (Layout(2, 4), {"tp": 2, "pp": 4}), (Lying(7), 7),
    (numpy.int8(3), 3), (numpy.float32(0.5), 0.5), (numpy.float64(0.5), 0.5), (numpy.bool_(True), True),
    (numpy.longdouble(0.5), 0.5), (numpy.array([4]), 4), (numpy.array(4), 4), (numpy.array([[0.5]]), 0.5), (numpy.array([]), []),
     (numpy.str_("x"), "x"), (numpy.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
    (pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
    (pandas.Series([1, 2]), [1, 2]), (collections.deque("ab"), ["a", "b"]), ({3, 1, 2.5}, [1, 2.5, 3]), (frozenset(), []),
    (pandas.DataFrame([{"a": 1, "b": 2}, {"a": 3}]), [{"a": 1, "b": 2.0}, {"a": 3, "b": None}]), ({"a": 1}.items(), [["a", 1]]),
])
def test_what_is_taken_becomes_plain(value, plain):
    found = encode(value)
    assert found == plain and type(found) is type(plain)
    assert from_wire(to_wire(found)) == plain


@pytest.mark.parametrize(("value", "words"), [
    ({"F0"}, "a set has no order"), (b"x", "bytes"), (3 + 1j, "complex"), (len, "builtin_function"), (object(), "object"),
    (float("nan"), "nan is not a finite"), (float("inf"), "inf"), (Decimal("NaN"), "NaN"), (numpy.float32("nan"), "nan"),
    ("x" * 2_000_000, "longer"), (1 << 5000, "bits"), (1e308, "1e.308 is beyond"), (-(2**4000), "beyond"),
    ([Fraction(2**4000, 3)], "beyond"), (Decimal("1e101"), "beyond"), (numpy.float64(1e101), "beyond"), ([float("nan")], "nan"),
    (list(itertools.accumulate(range(30), lambda a, _: [a])), "deep"),
])
def test_what_is_refused_is_named(value, words):
    with pytest.raises(Refused, match=words):
        encode(value)
    assert LocalAnswer(value).value().type == "Refused"


LEAVES = (st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.floats(-float(10**99), float(10**99)) | st.text()
          | st.fractions())
PLAIN = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.booleans(), inner),
                     max_leaves=20)


@given(PLAIN)
def test_plain_data_survives_the_wire(value):
    found = from_wire(to_wire(encode(value)))
    assert found == value and json.dumps(found, default=str) == json.dumps(value, default=str)


@pytest.mark.parametrize("text", [
    "", "{", "NaN", "[Infinity]", '{"x": 1}', '{"fraction": [1, 0]}', '{"fraction": [1.5, 2]}', '{"fraction": 3}',
    '{"dict": [[1]]}',
    '{"dict": [[{"dict": []}, 1]]}', '{"raised": [1, 2]}', '{"raised": ["a", "b"], "x": 1}', "[" * 100_000, "[" * 200 + "]" * 200,
    "1" * 5000, "1" * 2000, "1e999", "1e101", "-" + "9" * 101, f'{{"fraction": [{2**4000}, 3]}}', '{"dict": "ab"}', '{"dict": 5}',
])
def test_a_wire_that_lies_is_a_wire_error(text):
    with pytest.raises(WireError):
        from_wire(text)


def test_numbers_that_make_the_reading_slow_are_few():
    equal_hashes = [number * (2**61 - 1) for number in range(1, 5000)]
    assert len({*map(hash, equal_hashes)}) == 1
    for value in (dict.fromkeys(equal_hashes, 0), equal_hashes, [Fraction(1, number) for number in equal_hashes],
                  {(number / 2, 0): 0 for number in range(5000)}):
        with pytest.raises(WireError, match="numbers of more than 30 bits"):
            from_wire(to_wire(value))
    for value in (equal_hashes[:1000], [*range(50_000)], dict.fromkeys(range(20_000), 2.5)):
        assert from_wire(to_wire(value)) == value


def test_a_record_is_a_mapping_with_attributes_on_either_side():
    record = Record(tp=2, inner=Record(pp=4))
    assert (record.tp, record["tp"], record.inner.pp, dict(record)["tp"], [*record]) == (2, 2, 4, 2, ["tp", "inner"])
    assert repr(record) == "Record(tp=2, inner=Record(pp=4))"
    with pytest.raises(AttributeError, match="there is no 'dp' here; there are tp, inner"):
        _ = record.dp
    found = from_wire(to_wire([record]), records=True)[0]
    assert found == record and type(found) is type(found.inner) is Record
    assert type(encode(record)) is type(encode(record)["inner"]) is dict


def test_a_function_that_remembers_its_calls_is_asked_and_one_that_changes_them_is_told():
    remembering = functools.cache(lambda layout, model: layout.tp * model["layers"])
    for answer in (LocalAnswer(remembering), LocalAnswer(remembering)):
        assert answer.call(Record(tp=4), Record(layers=6)) == 24
    assert LocalAnswer(remembering).call(Record(tp=2), Record(layers=6)) == 12
    found = LocalAnswer(lambda layout: setattr(layout, "tp", 1)).call(Record(tp=4))
    assert found.type == "AttributeError" and "cannot be changed" in found.text


@pytest.mark.parametrize("text", ['{"record": 5}', '{"record": [1]}', '{"record": [[1, 2]]}', '{"record": [["a", 1, 2]]}'])
def test_a_record_on_the_wire_that_is_none(text):
    with pytest.raises(WireError):
        from_wire(text, records=True)


def test_records_are_handed_over_alike_in_the_notebook_and_from_outside():
    source = """
def f(layout, model):
    layout.update(tp=0) if layout.tp == 4 else None
    return [layout.tp, layout["pp"], {**model}, type(layout).__name__, isinstance(layout, dict)]
def g(layout, model):
    return layout.nothing
"""
    namespace, record, model = {}, Record(tp=4, pp=2), Record(layers=48)
    exec(source, namespace)
    with Session() as session:
        assert session.run(source) is None
        for answer in (LocalAnswer, lambda function: session.answer(function.__name__)):
            assert answer(namespace["f"]).call(record, model) == [0, 2, {"layers": 48}, "Record", True]
            assert answer(namespace["g"]).call(record, model) == Raised(
                "AttributeError", "there is no 'nothing' here; there are tp, pp, in line 6 of its cell")
    assert record == {"tp": 4, "pp": 2}


class LyingFraction(Fraction):
    numerator = property(lambda self: "seven")


class Mute(Exception):
    def __str__(self):
        sys.exit(1)


class Talker(Exception):
    def __str__(self):
        while True:
            pass


def raising(error):
    raise error


def test_subclasses_and_exceptions_that_lie():
    found = encode(LyingFraction(1, 3))
    assert type(found) is Fraction and found == Fraction(1, 3)
    assert LocalAnswer(lambda: raising(Mute()), 60).call() == Raised("Mute", "")
    assert LocalAnswer(lambda: raising(Talker()), 0.3).call().type == "TimeLimit"
    assert LocalAnswer("\ud800").value() == "?"


def test_large_plain_answers_pass_the_session_as_they_pass_the_notebook():
    source = "big = {n: n for n in range(40_000)}\ndeep = 0\nfor _ in range(18): deep = {1: deep}"
    namespace = {}
    exec(source, namespace)
    with Session() as session:
        assert session.run(source) is None
        for name in ("big", "deep"):
            assert session.answer(name).value() == LocalAnswer(namespace[name]).value()
        assert session.run("raise KeyboardInterrupt").type == "KeyboardInterrupt"
        assert session.answer("deep").value()


def test_what_a_session_has_started_ends_with_it():
    with Session() as session:
        assert session.run("import multiprocessing, time\np = multiprocessing.Process(target=time.sleep, args=(600,))\n"
                           "p.start()\npid = p.pid") is None
        pid = session.answer("pid").value()
    deadline = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("function", "kind"), [
    (lambda: 1 / 0, "ZeroDivisionError"), (lambda: sys.exit(3), "SystemExit"),
    (lambda: float("nan"), "Refused"), (lambda x: x, "TypeError"), (lambda: input(), "NoInput"),
])
def test_a_call_that_fails_is_raised_and_the_process_goes_on(function, kind):
    assert LocalAnswer(function, seconds=60).call().type == kind


def test_an_iterator_without_an_end_is_a_loop_without_one():
    for answer in (LocalAnswer(itertools.count), LocalAnswer(lambda: (item for item in itertools.repeat(["F0"])))):
        assert answer.call() == Raised("TimeLimit", "it went on for more than 100000 items and was stopped")
    assert len(LocalAnswer(lambda: iter(range(99_000))).call()) == 99_000


CELL = """import functools

def f(n):
    if n == 2:
        return helper(n)
    return int("x") if n else input("how many? ")

@functools.lru_cache
def cached(n):
    raise ValueError
"""


def test_an_error_says_the_line_of_its_cell_in_both_ways():
    namespace = {}
    exec("def helper(n):\n\n\n\n\n    return [][n]", namespace)
    exec(compile(CELL, "<a cell>", "exec"), namespace)
    with Session() as session:
        assert session.run("def helper(n):\n\n\n\n\n    return [][n]") is None and session.run(CELL) is None
        for of in (lambda name: LocalAnswer(namespace[name]), session.answer):
            assert of("f").call(1).text == "invalid literal for int() with base 10: 'x', in line 6 of its cell"
            assert of("f").call(2) == Raised("IndexError", "list index out of range, in line 5 of its cell")
            assert of("f").call(0) == Raised("NoInput", "`input()` cannot be used here, what a function needs comes as its "
                                             "arguments, in line 6 of its cell")
            assert of("cached").call(1) == Raised("ValueError", "in line 10 of its cell")
            assert "in line" not in of("f").call().text
    assert input is __builtins__["input"] if isinstance(__builtins__, dict) else input is __builtins__.input


def test_calls_keep_print_warnings_and_arguments_apart(capsys, recwarn):
    def noisy(numbers):
        import warnings
        print("hello")
        print("oops", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        numbers.append(9)
        return len(numbers)

    answer, given_list = LocalAnswer(noisy), [1]
    assert answer.call(given_list) == 2 and given_list == [1]
    assert answer.printed == "hello\noops\n"
    captured = capsys.readouterr()
    assert captured.out == captured.err == "" and not recwarn.list


def test_what_is_no_function_cannot_be_called():
    assert LocalAnswer(3).call(1) == Raised("NotCallable", "an int is there, not a function")


def test_a_session_answers_as_the_notebook_does():
    cells = "import fractions\nx = (1, fractions.Fraction(1, 3), {2: ...})\ndef f(a, b):\n    print('noise')\n    return [a, b]\n"
    namespace = {}
    exec(cells, namespace)
    with Session() as session:
        assert session.run(cells) is None
        assert session.answer("x").value() == LocalAnswer(namespace["x"]).value()
        assert session.answer("f").call(Fraction(1, 2), {"k": [1]}) == [Fraction(1, 2), {"k": [1]}]
        assert session.answer("f").call(1).type == LocalAnswer(namespace["f"]).call(1).type == "TypeError"
        assert session.answer("nothing").value() == Raised("NameError", "there is no nothing")
        assert session.run("1 / 0").type == "ZeroDivisionError" and session.run("def f(:").type == "SyntaxError"
        assert session.run("class A: pass\nimport pickle\nassert type(pickle.loads(pickle.dumps(A()))) is A") is None


@pytest.mark.parametrize("source", [
    "import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "import os; os.closerange(0, 100)",
    "import signal, time\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'\\xff' * 8)\n    except OSError: pass",
    "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'\\0\\0\\0\\x02{}')\n    except OSError: pass",
])
def test_a_process_that_misbehaves_is_given_up_and_nothing_hangs(source):
    with Session(seconds=2) as session:
        session.run(source)
        assert session.answer("x").value().type in ("Ended", "NameError")
        session.close()
    assert session.ended and not any("autograder.worker" in child.cmdline() for child in psutil.Process().children())
