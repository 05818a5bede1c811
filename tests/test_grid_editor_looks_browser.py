"""How the grid editor and a figure look in JupyterLab: contrast in both themes, a narrow window, an untrusted notebook."""

import itertools

import nbformat
import pytest

from course import schedules, simulate
from course.figures import timeline_figure
from tests.browser import DARK, LIGHT, Notebook, write_notebook
from tests.grid_editor_page import Editor
from tests.looks import CONTRAST, faults

pytestmark = pytest.mark.browser

FIGURE = """
from course import schedules, simulate
from course.figures import timeline_figure
timeline_figure(simulate(schedules.gpipe(4, 4)), "GPipe <1>")"""


def test_words_stand_out_in_both_themes(opened):
    notebook = opened(f'diagram = """\nF0 . B0\n"""\ndisplay(grid_editor(diagram)){FIGURE}')
    editor, colours = Editor(notebook), []
    for theme in (LIGHT, DARK):
        notebook.set_theme(theme)
        for selector in ("thead th", "tbody th", "td.lge-F", "td.lge-idle", ".lge-state", ".lge-say", "summary",
                         "button >> nth=0", "button.lge-main", "label >> nth=0"):
            ratio = editor.root.locator(selector).first.evaluate(CONTRAST)
            assert ratio >= 4.5, (theme, selector, ratio)
        title = notebook.cell(0).locator("svg[role=img] > text").first
        assert title.text_content() == "GPipe <1>" and title.bounding_box()["height"] > 8
        colours.append(title.evaluate("element => getComputedStyle(element).fill"))
    assert colours[0] != colours[1]  # the figure takes the theme's colour of text
    assert notebook.cell(0).get_by_role("img", name="GPipe <1>, 4 rows").count() == 1
    assert not notebook.cell(0).locator(".jp-OutputArea-output pre:visible", has_text="slots; bubble").count()


UGLY = """
from IPython.display import HTML
words = "<text y='20'>over</text><text x='9' y='20'>each</text><text x='80' y='9'>off</text>"
display(HTML("<p style='color:#999'>pale</p><div style='width:2000px'>wide</div>"
             "<div style='background:white;color:black;width:200px;height:100px'>slab</div>"
             f"<table><tr><td>1</td></tr></table><svg role='img' width='90' height='40'>{words}</svg>"))"""


def test_what_looks_wrong_is_found(opened):
    notebook = opened(f"display(grid_editor('', slots=40)){UGLY}")
    found = faults(notebook)
    assert not [line for line in found if "cell 0" not in line]
    for theme, width in itertools.product((LIGHT, DARK), (1280, 800)):
        seen = {line.split(": ")[2] for line in found if line.startswith(f"{theme}, {width}: ")}
        expected = {"words over words", "words cut off", "no name or no text form", "a table without header cells"}
        assert expected <= seen and any(what.startswith("runs out by") for what in seen), (theme, width, seen)
        assert ("a slab" in seen) == (theme == DARK)
        assert any(what.startswith("contrast 2.8") for what in seen) == (theme == LIGHT)


def test_a_narrow_window_scrolls_only_the_grid(opened):
    notebook = opened("grid_editor('', slots=40)", width=800)
    widths = notebook.page.evaluate("""[".jp-WindowedPanel-outer", ".lge-scroll"].map(selector => {
        const element = document.querySelector(selector); return element.scrollWidth - element.clientWidth})""")
    assert widths[0] <= 0 < widths[1]
    editor = Editor(notebook)
    editor.at(3, 0).focus()
    editor.press("End", "f")
    assert editor.at(3, 39).evaluate("""cell => {
        const [inner, outer] = [cell, cell.closest(".lge-scroll")].map(e => e.getBoundingClientRect());
        return inner.left >= outer.left && inner.right <= outer.right}""")


def test_an_untrusted_figure_is_its_text(place):
    browser, url, folder = place
    figure = timeline_figure(simulate(schedules.gpipe(2, 40)), "GPipe <1>")
    write_notebook(folder / "untrusted.ipynb", "figure")
    notebook = nbformat.read(folder / "untrusted.ipynb", 4)
    notebook.cells[0].outputs = [nbformat.v4.new_output("execute_result", data=figure._repr_mimebundle_(),
                                                        execution_count=1)]
    nbformat.write(notebook, folder / "untrusted.ipynb")
    page = Notebook(browser, url, "untrusted.ipynb")
    output = page.cell(0).locator(".jp-OutputArea-output")
    assert output.locator("svg").count() == 0
    assert output.locator("pre").inner_text() == str(figure)
    box, text = output.bounding_box(), output.locator("pre").bounding_box()
    assert box["height"] <= text["height"] + 40  # the words that were in the picture take no room
    assert text["height"] < 25 * len(str(figure).splitlines())  # and the rows of a wide drawing are not broken
    page.close()

