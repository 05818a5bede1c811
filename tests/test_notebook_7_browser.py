"""Notebook 7 as a learner meets it: drawings, a deadlock, sliders by keyboard, both themes, a challenge, in JupyterLab."""

import pytest

from tests.browser import DARK, LIGHT, Notebook, places
from tests.explorer_page import Page
from tests.looks import CONTRAST, faults

NAME = "7_open_lab.ipynb"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
GREEDY = """challenge("beat-1f1b", lambda p, m, stage: [f"F{i}" for i in range(m)] + [f"B{i}" for i in range(m)])"""


@pytest.fixture(scope="module")
def opened(lab):
    browser, url, folder = lab
    notebook = Notebook(browser, url, NAME)
    yield notebook, places(folder / NAME)
    notebook.close()


def test_each_idle_cell_says_why_and_the_sliders_follow_the_keys(opened):
    notebook, at = opened
    for cell in ("from course import Costs, schedules", 'first_drawing = """', "open_lab(first_drawing)"):
        notebook.run(at[cell])
    lab = Page(notebook, at["open_lab(first_drawing)"])
    titles = lab.root.locator("svg title").all_text_contents()
    assert any("nothing stops B0 on stage 1" in title for title in titles) and any("drain" in title for title in titles)
    assert "Recognised: this is 1F1B" in lab.root.locator(".lex-remarks").inner_text()
    lab.tab_to("latency")
    lab.press("ArrowRight", "ArrowRight", "ArrowRight")
    lab.root.locator("svg title", has_text="waits for the message of F0 from stage 0, which arrives at slot 2").first.wait_for(
        state="attached")
    lab.says("1F1B: 12 slots")
    tree = lab.root.aria_snapshot()
    for part in ('group "Open lab"', 'slider "forward F"', 'slider "input gradient I"', 'slider "weight gradient W"',
                 'slider "latency"', 'checkbox "as text"', 'img "As it is drawn', 'img "Step time against memory: 2 stages'):
        assert part in tree, part
    assert "radiogroup" not in tree
    lab.root.get_by_role("checkbox", name="as text").check()
    lab.root.locator("pre", has_text="yours *").wait_for()


def test_a_deadlock_is_seen_in_both_themes_also_in_a_narrow_window(opened):
    notebook, at = opened
    for cell in ('no_way = """', "open_lab(no_way)"):
        notebook.run(at[cell])
    lab = Page(notebook, at["open_lab(no_way)"])
    for theme in (LIGHT, DARK):
        notebook.set_theme(theme)
        for selector in (".lex-sliders label", ".lex-remarks p"):
            assert lab.root.locator(selector).first.evaluate(CONTRAST) >= 4.5, (theme, selector)
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    wide = notebook.page.evaluate("""() => { const e = document.querySelector(".jp-WindowedPanel-outer");
        return e.scrollWidth - e.clientWidth}""")
    assert wide <= 0 and lab.root.locator("svg").first.bounding_box()["width"] > 500
    assert lab.root.locator("svg text", has_text="stage 0 is at B0 and waits for B0 of stage 1").count() == 1


def test_a_challenge_takes_a_function(opened):
    notebook, at = opened
    cell = at['challenge("beat-1f1b", ...)']
    assert "No answer yet" in notebook.run(cell)
    notebook.write(cell, GREEDY)
    assert "This is GPipe. The step takes 36 slots, 1F1B's 41" in notebook.run(cell)


def test_the_whole_notebook_looks_right(opened):
    notebook, _ = opened
    notebook.page.set_viewport_size({"width": 1280, "height": 900})
    notebook.run_all()
    assert faults(notebook) == []
