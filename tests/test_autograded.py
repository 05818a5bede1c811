"""The autograded notebook: ours, with a learner's text, and nothing in it that a reader's browser would run."""

import html.parser
import json
import re

import nbformat
import pytest
from nbconvert.filters import markdown2html
from nbgrader.utils import determine_grade

from autograder.autograded import WIDTH, autograded_notebook, harmless
from autograder.intake import Cell, read_submission
from autograder.questions import Mark
from autograder.release import read_releases
from course.checks.outcome import Message, Step
from tests.submissions import code, hand_in, notebook, save

RELEASES = read_releases()
ATTACKS = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</div><iframe src=/>", "<!-- -->", "&lt;script>",
           "[x](javascript:a)", "[x](JaVaScript:a)", "[x](javascript\\:a)", "[x](&#106;avascript:a)", "[x](javascript&colon;a)",
           "![x](javascript:a)", "[x]: vbscript:a\n\n[x]", "[x](data:text/html,<script>a</script>)", "`<b>`",
           "```\n<script>\n```", "| a |\n|---|\n| <b onclick=a> |", "<a\nhref=javascript:a>", "\x1b]0;x\x07",
           "[x](&amp;#106;avascript:a)", "<http://x/\"onclick=a>", "$\\href{javascript:a}{x}$", "<svg/onload=a>",
           "\u202e<script>", "[x](<java\tscript:a>)", "[x](java\nscript:a)", "![x](http://x.org/p.png)", "![x][r]\n\n[r]: http://x.org/p",
           "![r]\n\n[r]: //x.org/p", "![](/api/p)", "[![x](http://x.org/p)](http://y.org)", "![a[b]](http://x.org/p)",
           "```mermaid\ngraph\n```", "~~~ html\n<b>\n~~~"]


class Watcher(html.parser.HTMLParser):
    """The tags, attributes and links of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.links, self.classes = set(), set(), [], set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.links += [value for name, value in attributes if name in ("href", "src")]
        self.classes |= {word for name, value in attributes if name == "class" for word in value.split()}


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_in_a_text_becomes_a_tag_or_a_script(text):
    seen = Watcher(markdown2html(harmless(text)))
    assert seen.tags <= {"p", "a", "pre", "code", "span", "div", "table", "thead", "tbody", "tr", "th", "td", "br", "em"}
    assert not [name for name in seen.attributes if name.startswith("on") or name == "style"]
    links = [re.sub(r"[\t\n]", "", link).lower() for link in seen.links]
    assert not [link for link in links if link.startswith(("javascript:", "vbscript:", "data:"))]
    assert "mermaid" not in seen.classes and "highlight" not in seen.classes
    assert "\x1b" not in harmless(text) and "\u202e" not in harmless(text)


@pytest.mark.parametrize("text", ["$\\href{java\tscript:a}{x}$", "$\\href{java\nscript:a}{x}$",
                                  "$\\def\\x#1{\\href{java#1:a}{x}}\\x{script}$", "$\\style{background:url(http://x.org/p)}{x}$"])
def test_tex_makes_no_link_and_no_style(text):
    page = markdown2html(harmless(text))
    assert not re.search(r"\\(href|style)|java\s*script\s*:", page)


def test_the_address_of_a_picture_from_elsewhere_stays_to_be_read():
    page = markdown2html(harmless("See ![my plot](http://x.org/p.png)."))
    assert "my plot" in page and "http://x.org/p.png" in re.sub("<.*?>", "", page)


def test_a_plain_text_is_read_as_it_was_written():
    for text in ("a < b, p<m, x & y, 3 > 2", "**bold** `code` $p-1$", "中文 – ü"):
        assert harmless(text).replace("\N{ZERO WIDTH SPACE}", "") == text


def test_the_notebook_is_ours_with_the_learners_text_and_plain_outputs(tmp_path):
    folder = hand_in(tmp_path, "one", only=("1_gpipe_diagram",))
    content = notebook(folder / "1_gpipe_diagram.ipynb")
    content["metadata"]["evil"] = "x"
    words = {"cell_type": "markdown", "metadata": {}, "source": "<script>", "attachments": {"a": {"text/html": "<b>"}}}
    content["cells"][4:4] = [code("mine = '<script>'", evil="x"), words]
    content["cells"][4]["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": {"text/html": "<script>"}}]
    save(folder / "1_gpipe_diagram.ipynb", content)
    cells = read_submission(folder.parent, {"1_gpipe_diagram": RELEASES["1_gpipe_diagram"]}).notebooks["1_gpipe_diagram"]
    mark = Mark(2.5, (Message("m", "said \x1b[31m"), Message("w", "well", True)), ("noted",), "0 of 2\rprinted <b>")
    made = autograded_notebook(RELEASES["1_gpipe_diagram"], cells, {"ex1-bubbles": mark}, {"seed": 1}, ["head"])
    nbformat.validate(made)
    text = json.dumps(made)
    assert "evil" not in text and "text/html" not in text and made.cells[0].source == "head"
    graded = {cell.metadata.nbgrader.grade_id: cell for cell in made.cells if "nbgrader" in cell.metadata}
    assert list(graded) == list(RELEASES["1_gpipe_diagram"].cells)
    assert determine_grade(graded["ex1-bubbles"]) == (2.5, 4)
    assert graded["ex1-bubbles"].outputs[0].text == (
        "✗ said \N{REPLACEMENT CHARACTER}[31m\n✓ well\nnoted\n2.5 of 4 points\n\nPrinted by the cells above:\nprinted <b>\n")
    assert "6" in graded["ex1-bubbles-answer"].source


@pytest.mark.parametrize("mark, wanted", [
    (Mark(2.5, (Message("m", "no"),), steps=(Step("the count", 2, 1.0), Step("the share", 1, 0.5), Step("the rest", 1, 0.0))),
     "✗ no\n2.5 of 4 points:\n✓ the count: 2 of 2\n✗ the share: 0.5 of 1\n✗ the rest: 0 of 1\n"),
    (Mark(4.0, (Message("m", "yes", True),), steps=(Step("the count", 4, 1.0),)), "✓ yes\n"),
    (Mark(None, notes=("not graded",)), "not graded\n")], ids=["a part", "all", "not graded"])
def test_what_points_are_made_of_stands_below_the_verdict(mark, wanted):
    release = RELEASES["1_gpipe_diagram"]
    cells = [Cell(grade_id, cell.source, cell.cell_type, True) for grade_id, cell in release.cells.items()]
    made = autograded_notebook(release, cells, {"ex1-bubbles": mark}, {})
    (said,) = [output.text for cell in made.cells for output in cell.get("outputs", []) if output.output_type == "stream"]
    assert said == wanted


def test_what_is_said_stays_on_the_page_and_says_what_is_good(tmp_path):
    folder = hand_in(tmp_path, "one", only=("1_gpipe_diagram",))
    cells = read_submission(folder.parent, {"1_gpipe_diagram": RELEASES["1_gpipe_diagram"]}).notebooks["1_gpipe_diagram"]
    mark = Mark(1.0, (Message("a", "no room " * 40), Message("b", "first\n  second", True)), ("noted " * 40,))
    made = autograded_notebook(RELEASES["1_gpipe_diagram"], cells, {"ex1-bubbles": mark}, {})
    (said,) = [output.text for cell in made.cells for output in cell.get("outputs", []) if output.output_type == "stream"]
    lines = said.splitlines()
    assert max(map(len, lines)) <= WIDTH and " ".join(said.split()).startswith("✗ " + ("no room " * 40).strip())
    assert lines.index("✓ first") + 1 == lines.index("  second")
