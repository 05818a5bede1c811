"""The Explorer of layouts as a learner meets it: a real JupyterLab, real keys, clicks on GPUs, both themes, a saved notebook."""

import re
import time

import nbformat
import pytest
from nbconvert import HTMLExporter

from tests.browser import DARK, LIGHT, pages
from tests.explorer_page import Page
from tests.looks import CONTRAST

pytestmark = pytest.mark.browser

IMPORT = "from course.notebook import explore_layouts\n"
FOCUSED = "document.activeElement.textContent"


@pytest.fixture
def opened(place, request):
    """opened(cells...) gives a notebook in which the first cell has run."""
    with pages(place, request, IMPORT, ".lex svg") as open_notebook:
        yield open_notebook


def cluster(explorer, layout):
    explorer.root.get_by_role("img", name=re.compile(f"^Cluster: Card ., {re.escape(layout)}:")).wait_for()


def test_by_keyboard_alone(opened):
    notebook = opened("explore_layouts('c', 2, 2, 2)", "1", "2")
    explorer = Page(notebook)
    explorer.tab_to("PP p")
    explorer.press("ArrowRight")  # 16 GPUs
    explorer.root.get_by_text("the product must be their number").wait_for()
    cluster(explorer, "tp2 pp4 dp2, b 1")
    explorer.tab_to("look at rank")
    explorer.press("Home", "ArrowUp", "ArrowUp")
    explorer.root.locator("svg text", has_text="Rank 2: stage 0 of 4").wait_for()
    explorer.press("Tab", "Tab", "Tab")
    assert notebook.page.evaluate(FOCUSED) == "take the nearest that obeys this: tp1 pp4 dp2, b 1"
    explorer.press("Enter")
    cluster(explorer, "tp1 pp4 dp2, b 1")  # of the right number, and too large for the memory
    explorer.press("Tab")
    assert notebook.page.evaluate(FOCUSED) == "take the nearest that obeys this: tp2 pp4 dp1, b 1"
    explorer.press("Enter")
    cluster(explorer, "tp2 pp4 dp1, b 1")
    explorer.says("Card c, tp2 pp4 dp1, b 1: place 5 of 11, 1.036 times the fastest, within 10%; step 8.368 s")
    assert explorer.root.evaluate("root => root.contains(document.activeElement)")
    explorer.press("Tab", "Tab", "Space")  # on to the ranking, its second row
    cluster(explorer, "tp4 pp2 dp1, b 1, v 2")
    assert notebook.page.evaluate(FOCUSED) == "tp4 pp2 dp1, b 1, v 2"
    assert explorer.slider("chunks a stage v").get_attribute("aria-valuetext") == "2"
    explorer.press("d", "d", "a", "x", "m", "j", "Escape")
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 3


def test_a_gpu_that_is_clicked_is_picked(opened):
    explorer = Page(opened("explore_layouts('c', 2, 2, 2)"))
    explorer.root.locator("svg g", has_text="rank 5").last.click()
    explorer.root.locator("svg text", has_text="Rank 5: node 1, stage 1 of 2, TP neighbour 1 of 2").wait_for()
    assert explorer.slider("look at rank").get_attribute("aria-valuetext") == "5"
    marks = explorer.root.locator("svg g[data-take]").all_text_contents()
    assert [("group" in words, "picked" in words) for words in marks] == [
        (rank in (1, 4, 7), rank == 5) for rank in range(8)]


def test_cards_and_places_of_ranks_are_chosen_too(opened):
    explorer = Page(opened("explore_layouts('c', 2, 4, 1, 1, 2)"))
    explorer.root.get_by_role("checkbox", name="ranks dealt out").check()
    explorer.says("place 8 of 12")
    explorer.root.get_by_role("radio", name="card b").check()
    explorer.says("Card b")
    assert "nobody to deal the ranks out to" in explorer.root.inner_text()
    explorer.root.get_by_role("checkbox", name="as text").check()
    explorer.root.locator("pre", has_text="fullest GPU |PPP").wait_for()


def test_what_assistive_technology_is_told(opened):
    explorer = Page(opened("explore_layouts('c', 2, 4, 1)"))
    tree = explorer.root.aria_snapshot()
    for part in ('group "Explorer of layouts"', 'radiogroup "card"', 'radio "card c" [checked]', 'slider "TP t"', 'slider "PP p"',
                 'slider "DP d"', 'slider "micro-batch size b"', 'slider "chunks a stage v"', 'slider "look at rank"',
                 'checkbox "ranks dealt out to the nodes in turn"', 'img "Cluster: Card c, tp2 pp4 dp1, b 1', 'img "Memory"',
                 'img "What the busiest GPU sends in a step', 'img "The time of a step: place 5 of 11', 'rowheader "TP"',
                 'button "tp2 pp4 dp1, b 1, v 2"', "- status"):
        assert part in tree, part
    assert explorer.root.locator("[aria-current=true]").inner_text().split()[1:4] == ["tp2", "pp4", "dp1,"]
    assert explorer.slider("PP p").get_attribute("aria-valuetext") == "4"
    focusable = explorer.root.locator("input, button")
    assert focusable.count() == explorer.root.locator(":is(input, button)[data-lm-suppress-shortcuts=true]").count() == 19


def test_words_stand_out_in_both_themes_and_a_narrow_window_scrolls_the_picture_alone(opened):
    notebook = opened("display(explore_layouts('a', 4, 4, 1))\nexplore_layouts('c', 2, 4, 1)", width=800)
    explorer = Page(notebook)
    for theme in (LIGHT, DARK):
        notebook.set_theme(theme)
        for selector in (".lex-choices label", ".lex-sliders label", ".lex-boxes label", "output", ".lex-remarks p",
                         ".lex-remarks button", "tbody th", "td", "td button", "tr[aria-current] td", "thead th >> nth=1"):
            words = Page(notebook, 0, 1 if "current" in selector else 0).root.locator(selector).first
            assert words.evaluate(CONTRAST) >= 4.5, (theme, selector)
    wide = notebook.page.evaluate("""() => { const e = document.querySelector(".jp-WindowedPanel-outer");
        return e.scrollWidth - e.clientWidth}""")
    assert wide <= 0 and explorer.root.locator("svg[role=img]").first.bounding_box()["width"] > 500


def test_a_saved_notebook_shows_the_pictures_without_its_kernel(opened, place):
    browser, _, folder = place
    notebook = opened("explore_layouts('c', 2, 4, 1)")
    path = folder / "test_a_saved_notebook_shows_the_pictures_without_its_kernel0.ipynb"
    notebook.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    deadline = time.monotonic() + 30
    while not nbformat.read(path, 4).cells[0].outputs and time.monotonic() < deadline:
        time.sleep(0.1)
    assert notebook.page.locator(".lex-still:visible").count() == 0
    (folder / "layouts.html").write_text(HTMLExporter().from_notebook_node(nbformat.read(path, 4))[0], encoding="utf-8")
    plain = browser.new_page()
    plain.goto((folder / "layouts.html").as_uri())
    assert plain.locator("svg[role=img]:visible").count() == 4
    assert plain.get_by_text("The sliders need a kernel").is_visible() and plain.get_by_text("8.368 s").count() >= 1
    plain.close()
