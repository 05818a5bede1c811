"""Notebook 1 as a learner meets it: in JupyterLab in a browser, solved once by mouse and once by keyboard alone."""

import pytest

from tests.bank_1_gpipe_diagram import FIRST_OUT, LAST_OUT
from tests.browser import NOTEBOOK, Notebook, places
from tests.looks import faults

NAME = "1_gpipe_diagram.ipynb"
ANSWERS = {
    "ex1-diagram": f'gpipe_diagram = """{FIRST_OUT}"""\ndraw_here(gpipe_diagram)',
    "ex1-bubbles": "bubbles_per_stage = [6, 6, 6, 6]\nbubble_fraction_4_4 = 3 / 7",
    "ex1-backward-twice": "slots_when_backward_takes_two = 21\nfraction_when_backward_takes_two = 3 / 7",
    "ex1-spot-the-error": "illegal_operations = {'a': ('B0', 1), 'b': ('F2', 1), 'c': ('B2', 2)}",
}
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


@pytest.fixture
def notebook(lab):
    browser, url, folder = lab
    notebook = Notebook(browser, url, NAME)
    yield notebook, places(folder / NAME)
    notebook.close()


def editor_cell(notebook, at, stage, slot):
    return notebook.cell(at).locator(f'td[data-place="{stage} {slot}"]')


def test_solved_by_mouse(notebook):
    notebook, at = notebook
    answer, page = at["ex1-diagram-answer"], notebook.page

    def run_by_mouse(number):
        before = notebook.prompt(number)
        notebook.cell(number).locator(".jp-InputPrompt").click()
        page.locator('jp-button[data-command="notebook:run-cell-and-select-next"]').first.click()
        return notebook.wait(number, before)

    run_by_mouse(at["ex1-setup"])
    run_by_mouse(answer)
    assert "0 of 10 points" in run_by_mouse(at["ex1-diagram"])
    editor = notebook.cell(answer).locator(".lge")
    rows = [line.split() for line in FIRST_OUT.strip().splitlines()]
    for brush, name in (("F", "forward"), ("B", "backward"), (".", "idle")):
        editor.locator("label", has_text=name).click()
        for stage, row in enumerate(rows):
            for slot, token in enumerate(row):
                if token[0] == brush:
                    editor_cell(notebook, answer, stage, slot).click()
    editor.get_by_role("button", name="Write into the cell").click()
    page.wait_for_function("""number => document.querySelectorAll(".jp-Notebook .jp-Cell")[number]
        .querySelector(".lge-say").textContent.startsWith("Written")""", arg=answer)
    assert rows[0] == notebook.code(answer).splitlines()[1].split()
    run_by_mouse(answer)
    verdict = run_by_mouse(at["ex1-diagram"])
    assert "10 of 10 points" in verdict and "10.0" in verdict
    measured = run_by_mouse(at['my_run = run_for_real(gpipe_diagram, without="bubble")'])
    assert "simulated" in measured and "step, slots" in measured
    assert notebook.cell(at['my_run = run_for_real(gpipe_diagram, without="bubble")']).locator("svg").count() >= 1
    run_by_mouse(at['hint("ex1-diagram")'])
    hints = notebook.cell(at['hint("ex1-diagram")'])
    hints.get_by_role("button", name="Hint 1").click()
    hints.get_by_text("Draw stage 0's forwards first").wait_for()


def test_solved_by_keyboard_alone(notebook):
    notebook, at = notebook
    answer, page = at["ex1-diagram-answer"], notebook.page
    page.keyboard.press("Escape")
    current = selected(page)
    go_to(page, current, at["ex1-setup"])
    page.keyboard.press("Control+Enter")
    notebook.wait(at["ex1-setup"])
    go_to(page, at["ex1-setup"], answer)
    page.keyboard.press("Control+Enter")
    notebook.wait(answer)
    notebook.cell(answer).locator(".lge").wait_for()
    tab_until(page, "e => e.closest('td[data-place]')")
    rows = [line.split() for line in LAST_OUT.strip().splitlines()]
    for number, row in enumerate(rows):
        for token in row:
            page.keyboard.press(token[0])
            if token != ".":
                page.keyboard.press(token[1])
        if number < 3:
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Home")
            assert page.evaluate("document.activeElement.dataset.place") == f"{number + 1} 0"
    tab_until(page, "e => e.textContent === 'Write into the cell'")
    page.keyboard.press("Enter")
    page.wait_for_function("""number => document.querySelectorAll(".jp-Notebook .jp-Cell")[number]
        .querySelector(".lge-say").textContent.startsWith("Written")""", arg=answer)
    assert "B3 B2 B1 B0" in notebook.code(answer)
    page.keyboard.press("Shift+Enter")
    notebook.wait(answer, "[2]:")
    page.keyboard.press("Shift+Enter")
    assert "10 of 10 points" in notebook.wait(at["ex1-diagram"])


def test_solved_in_notebook_7_and_well_to_look_at(lab):
    browser, url, folder = lab
    notebook, at = Notebook(browser, url, NAME, page="notebooks"), places(folder / NAME)
    for grade_id, answer in ANSWERS.items():
        notebook.write(at[f"{grade_id}-answer"], answer)
    notebook.run_all()
    last = at['hint("ex1-spot-the-error")']
    notebook.page.wait_for_function(f"() => {NOTEBOOK}.content.model.cells.get({last}).executionCount", timeout=180_000)
    for grade_id, points in zip(ANSWERS, (10, 4, 2, 4), strict=True):
        assert f"{points} of {points} points" in notebook.shown(at[grade_id]), grade_id
    assert "Traceback" not in "".join(notebook.page.locator(".jp-OutputArea-output").all_text_contents())
    notebook.cell(last).get_by_role("button", name="Hint 1").focus()
    notebook.page.keyboard.press("Shift")
    assert notebook.page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
    assert faults(notebook) == []
    notebook.close()


def selected(page) -> int:
    return page.evaluate("""() => [...document.querySelectorAll(".jp-Notebook .jp-Cell")]
        .findIndex(cell => cell.classList.contains("jp-mod-active"))""")


def go_to(page, here, there):
    for _ in range(abs(there - here)):
        page.keyboard.press("ArrowDown" if there > here else "ArrowUp")
    assert selected(page) == there


def tab_until(page, condition, most=40):
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(f"Boolean(({condition})(document.activeElement))"):
            return
    raise AssertionError(f"Tab never came to {condition}: it is at {page.evaluate('document.activeElement.outerHTML')[:200]}")
