"""The autograded notebook as nbconvert makes pages of it: never without end, never a failure, and with pasted pictures."""

import base64
import copy
import json
import os
import struct
import zlib

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import markdown2html
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from autograder import pictures
from autograder.autograded import LONGEST, LONGEST_LINE, LONGEST_OWN, OWN_TOGETHER, WHOLE, autograded_notebook, harmless
from autograder.intake import Cell, read_submission
from autograder.release import read_releases
from tests.submissions import hand_in, notebook, place_of, save

NAME, TEXT, PLACE = "2_1f1b_phases", "ex2-explain", "ex2-phases-answer"
RELEASE = read_releases()[NAME]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width=1, height=1, more=b""):
    return (pictures.PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"tEXt", b"x\0" + more)
            + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


def jpeg(width=1, height=1):
    size = struct.pack(">HH", height, width)
    return pictures.JPEG + b"\xe0\x00\x04ab" + b"\xff\xc0\x00\x0b\x08" + size + b"\x01\x01\x11\x00\xff\xd9"


def in_base64(data):
    return base64.b64encode(data).decode()


def pages(made):
    """Own code and answers as a page, by the templates of feedback and of formgrader."""
    made = copy.deepcopy(made)
    made.cells = [cell for cell in made.cells
                  if cell.metadata.get("nbgrader", {"solution": cell.cell_type == "code"})["solution"]]
    for cell in made.cells:  # as nbgrader adds them before feedback
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader |= {"score": 0, "points": 0, "comment": ""}
    for template in ("feedback", "formgrade"):
        config = GenerateFeedback(coursedir=CourseDirectory()).config.copy()
        config.HTMLExporter.template_name = template
        marks = {"notebook": NAME, "score": 0, "max_score": 0, "late_penalty": 0}
        resources = {"nbgrader": marks, "base_url": "", "index": 0, "total": 1}
        yield HTMLExporter(config=config).from_notebook_node(made, resources)[0]


def shown(**sources):
    """The autograded notebook with these answers, by grade_id with _ for -."""
    changed = {grade_id.replace("_", "-"): source for grade_id, source in sources.items()}
    cells = [Cell(grade_id, changed.get(grade_id, cell.source), cell.cell_type, grade_id not in changed)
             for grade_id, cell in RELEASE.cells.items()]
    return autograded_notebook(RELEASE, cells, {}, {})


def handed_in(tmp_path, source, attachments):
    """The autograded notebook of a submission whose free text has attachments."""
    folder = hand_in(tmp_path, "one", only=(NAME,))
    content = notebook(folder / f"{NAME}.ipynb")
    content["cells"][place_of(content, TEXT)] |= {"source": source, "attachments": attachments}
    save(folder / f"{NAME}.ipynb", content)
    made = autograded_notebook(RELEASE, read_submission(folder.parent, {NAME: RELEASE}).notebooks[NAME], {}, {})
    nbformat.validate(made)
    return made, cell_of(made, TEXT)


def cell_of(made, grade_id):
    return next(cell for cell in made.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


@pytest.mark.parametrize("name, reference", [
    ("image.png", "image.png"), ("6f9a-41.png", '6f9a-41.png "mine"'), ("my plot.png", "my%20plot.png"),
    ("my plot.png", "my plot.png")])
@pytest.mark.parametrize("data, kind", [(png(), "image/png"), (jpeg(), "image/jpeg")], ids=["png", "jpeg"])
def test_a_picture_that_was_pasted_is_shown(tmp_path, name, reference, data, kind):
    said = in_base64(data)
    for attachment in ({kind: said}, {"image/svg+xml": said}, {kind: [said[:5] + "\n", said[5:]]}):  # its bytes say what it is
        made, _ = handed_in(tmp_path / str(len(str(attachment))), f"Idle: ![x](attachment:{reference}) *so*", {name: attachment})
        for page in pages(made):
            assert f"data:{kind};base64,{said}" in page and "<em>so</em>" in page and "picture left out" not in page


LARGE = png(more=os.urandom(pictures.MOST_BYTES))


@pytest.mark.parametrize("attachments", [
    {}, None, [], {"image.png": "text"}, {"image.png": {}}, {"image.png": {"image/png": 5}}, {"image.png": {"image/png": "?"}},
    {"image.png": {"image/png": in_base64(b"<svg onload=a>")}}, {"image.png": {"text/html": in_base64(b"<script>")}},
    {"image.png": {"image/png": in_base64(LARGE)}}, {"image.png": {"image/png": in_base64(png(60_000, 60_000))}},
    {"image.png": {"image/jpeg": in_base64(jpeg(60_000, 60_000))}}, {"image.png": {"image/png": in_base64(pictures.JPEG)}},
    {"other.png": {"image/png": in_base64(png())}},
], ids=range(14))
def test_another_attachment_is_left_out_with_its_reference(tmp_path, attachments):
    made, cell = handed_in(tmp_path, "Idle: ![image.png](attachment:image.png) *so*", attachments)
    assert "attachments" not in cell and "picture left out" in cell.source
    for page in pages(made):
        assert "<em>so</em>" in page and "picture left out" in page and "<svg onload" not in page


@pytest.mark.parametrize("text", [
    "![x][r]\n\n[r]: attachment:image.png", "![x](<attachment:no.png>)", "![x](attachment:no(1).png)", "[x](attachment:no.png)",
    "![x]( attachment:no.png )", "\\![x](attachment:no.png)"])
def test_whatever_way_a_picture_is_named_there_is_a_page(text):
    for page in pages(shown(ex2_explain=text)):
        assert "picture left out" in page or "<img" not in page.partition("</head>")[2]


def test_of_many_pictures_only_so_many_are_kept(tmp_path):
    names = [f"{number}.png" for number in range(2 * pictures.MOST)]
    made, cell = handed_in(tmp_path, " ".join(f"![x](attachment:{name})" for name in names),
                           {name: {"image/png": in_base64(png())} for name in names})
    assert len(cell.attachments) == pictures.MOST and cell.source.count("picture left out") == pictures.MOST
    half = in_base64(png(more=os.urandom(pictures.MOST_BYTES // 5)))
    made, cell = handed_in(tmp_path / "large", " ".join(f"![x](attachment:{name})" for name in names),
                           {name: {"image/png": half} for name in names})
    assert len(json.dumps(made)) < 1.2 * pictures.MOST_TOGETHER and len(cell.attachments) > 1


def test_code_is_cut_where_nobody_reads_on_and_says_so():
    long_line, long_cell, plain = "x = '" + "a." * 9_999, "y = 1\n" * 9_999, "z = [1,\n     2]\n\n\nt = '\t'"
    made = shown(**{PLACE.replace("-", "_"): long_line})
    assert len(cell_of(made, PLACE).source) < LONGEST_LINE + 300 and WHOLE in cell_of(made, PLACE).source
    made = shown(**{PLACE.replace("-", "_"): long_cell})
    assert len(cell_of(made, PLACE).source) < LONGEST + 300 and "59,994 characters" in cell_of(made, PLACE).source
    assert cell_of(shown(**{PLACE.replace("-", "_"): plain}), PLACE).source == plain


def test_a_text_that_a_person_marks_is_whole_up_to_what_a_person_reads():
    text = "word " * (LONGEST // 5)
    assert cell_of(shown(ex2_explain=text), TEXT).source == text
    assert WHOLE in cell_of(shown(ex2_explain=text + "more"), TEXT).source


def test_own_cells_together_are_bounded_and_the_answers_after_them_stay():
    answer = "w_hat = 1\n" * 100
    cells = [Cell(None, kind * (LONGEST_OWN // 2), cell_type) for kind, cell_type in (("#\n", "code"), ("a ", "markdown")) * 150]
    cells += [Cell(grade_id, answer if grade_id == PLACE else cell.source, cell.cell_type, grade_id != PLACE)
              for grade_id, cell in RELEASE.cells.items()]
    made = autograded_notebook(RELEASE, cells, {}, {})
    released = sum(len(cell.source) for cell in RELEASE.notebook.cells)
    assert sum(len(cell.source) for cell in made.cells) < OWN_TOGETHER + 2 * released + len(answer) + 10_000
    assert sum("own are left out" in cell.source for cell in made.cells) == 1
    assert cell_of(made, PLACE).source.strip() == answer.strip()


def test_whatever_a_cell_holds_it_is_python_to_the_highlighter():
    """The one for IPython needs minutes for blank lines, and goes over to the language that a cell names."""
    code = "%%javascript\n" + "a.\n" + " \n" * 3000 + "a." * 1000
    for page in pages(autograded_notebook(RELEASE, [Cell(None, code)], {}, {})):
        assert "hl-python3" in page and "hl-javascript" not in page and "hl-ipython3" not in page
    (cell,) = autograded_notebook(RELEASE, [Cell(None, "x = 1 \r\n \t\n\u2003\r y\u202e")], {}, {}).cells
    assert cell.source == "x = 1\n\n\n y\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("text", ["#-\n-\n> " * 1200, "\n- \n> ![%" * 1200], ids=range(2))
def test_a_text_that_nbconvert_cannot_show_is_shown_as_it_was_typed(text):
    with pytest.raises(RecursionError):
        markdown2html(harmless(text))
    for page in pages(shown(ex2_explain=text)):
        assert "Shown as it was typed" in page
