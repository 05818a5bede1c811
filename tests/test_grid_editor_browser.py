"""The grid editor as a learner meets it: a real JupyterLab, a real mouse, real keys."""

import pytest

from tests.grid_editor_page import ANSWER, IMPORT, WRITTEN, Editor, run_and_print

pytestmark = pytest.mark.browser

FIFO = """\
F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3
.  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .
.  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .
.  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .  ."""
LIFO = """\
F0 F1 F2 F3 .  .  .  .  .  .  B3 B2 B1 B0
.  F0 F1 F2 F3 .  .  .  .  B3 B2 B1 B0 .
.  .  F0 F1 F2 F3 .  .  B3 B2 B1 B0 .  .
.  .  .  F0 F1 F2 F3 B3 B2 B1 B0 .  .  ."""
def test_a_whole_diagram_by_mouse_alone(opened):
    notebook = opened(ANSWER, "print(diagram)")
    editor = Editor(notebook)
    for kind, first in (("forward", lambda stage: stage), ("backward", lambda stage: 10 - stage)):
        editor.choose(kind)
        for stage in range(4):
            for slot in range(first(stage), first(stage) + 4):
                editor.at(stage, slot).click()
    editor.choose("idle")
    for stage in range(4):
        for first, last in ((0, stage - 1), (4 + stage, 9 - stage), (14 - stage, 13)):
            if last > first:
                editor.drag(stage, first, last)
            elif last == first:
                editor.at(stage, first).click()
    assert editor.text == FIFO
    assert "0 of 56 cells not marked yet" in editor.root.inner_text()
    editor.write()
    assert run_and_print(notebook).strip("\n") == FIFO
    assert Editor(notebook).text == FIFO  # the cell's new editor begins with what was written


def test_a_whole_diagram_by_keyboard_alone(opened):
    notebook = opened(ANSWER, "print(diagram)")
    editor = Editor(notebook)
    for _ in range(60):  # from the cell that has just run, by Tab, to the grid
        editor.press("Tab")
        if editor.focused:
            break
    assert editor.focused == "0 0"
    for row in LIFO.splitlines():
        for cell in row.split():
            editor.press(*("." if cell == "." else cell))
    assert editor.text == LIFO
    editor.press("Tab")
    assert editor.page.evaluate("document.activeElement.textContent") == "Write into the cell"
    editor.press("Enter")
    editor.says(WRITTEN)
    assert run_and_print(notebook).strip("\n") == LIFO


def test_keys_one_by_one(opened):
    notebook = opened(ANSWER.replace("(diagram)", "(diagram, stages=2, slots=6, micro_batches=12)"))
    editor = Editor(notebook)
    editor.at(0, 0).focus()
    editor.press("f", "f")
    assert (editor.text, editor.focused) == ("F0 F1\n?", "0 2")
    editor.press("1", "1")  # digits go to what was just typed
    assert editor.text == "F0  F11\n?"
    editor.press("F")
    assert editor.text.startswith("F0  F11 F10")  # it follows its neighbour
    editor.press("ArrowLeft", "3")  # and, after a move, to the cell in the focus
    assert editor.text.startswith("F0  F11 F3")
    editor.press("ArrowLeft", "Delete")
    assert editor.text == "F0 ?  F3\n?"
    editor.press(".", "End", "b", "Home", "~")
    assert editor.text == "F0 .  F3 ?  ?  B0\n?"  # nothing on its left that could go on
    assert editor.focused == "1 1"
    editor.press("ArrowUp", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight", "~")
    assert editor.text == "F0 .  F3 ~  ?  B0\n?"
    editor.press("Backspace", "Backspace")
    assert editor.text == "F0 .  ?  ?  ?  B0\n?" and editor.focused == "0 2"
    editor.press("Control+End", "7")
    editor.says("press F or B first")
    editor.press("Control+Home", "Control+z", "Control+z")
    assert editor.text == "F0 .  F3 ~  ?  B0\n?"
    editor.press("Control+y")
    assert editor.text == "F0 .  F3 ?  ?  B0\n?"


def test_jupyter_keeps_its_shortcuts_to_itself(opened):
    notebook = opened(ANSWER, "1", "2")
    editor = Editor(notebook)
    editor.at(2, 3).focus()
    editor.press("d", "d", "x", "a", "m", "j", "Escape", "f")
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 3
    assert editor.text == "?\n?\n?  ?  ?  F0\n?"
    assert editor.focused == "2 4"


def test_clicks_strokes_and_their_undoing(opened):
    editor = Editor(opened(ANSWER))
    editor.at(0, 0).click()
    assert editor.text.startswith("F0\n")
    editor.at(0, 0).click()  # again: the next number
    assert editor.text.startswith("F1\n")
    editor.drag(1, 0, 3)
    assert editor.text.startswith("F1\nF0 F1 F2 F3\n")
    editor.at(1, 5).click()
    editor.says("The row of stage 1 has all 4 micro-batches forward already")
    editor.choose("erase")
    editor.at(1, 1).click()
    assert editor.text.startswith("F1\nF0 ?  F2 F3\n")
    editor.click("Undo")
    editor.click("Undo")  # the whole stroke
    assert editor.text == "F1\n?\n?\n?"
    editor.click("Clear")
    assert editor.text == "(nothing drawn yet)"
    editor.click("Undo")
    assert editor.text == "F1\n?\n?\n?"
    editor.click("one slot more")
    assert editor.root.locator("tbody td").count() == 4 * 15
    for _ in range(15):
        editor.click("one slot less")
    editor.says("The last slot is in use")
    editor.click("Clear")
    editor.click("one slot less")
    editor.says("1 to 200 slots")
    assert editor.root.locator("tbody td").count() == 4


def test_a_double_click_marks_once(opened):
    editor = Editor(opened(ANSWER))
    editor.at(0, 0).dblclick()
    assert editor.text.startswith("F0\n")
    editor.at(0, 0).dblclick()  # on an operation it is two clicks
    assert editor.text.startswith("F2\n")
    editor.at(0, 1).click()
    editor.at(0, 2).click()
    assert editor.text.startswith("F2 F3 F0\n")
    editor.says("micro-batch 0. It is the next one left, and comes after micro-batch 3.")


def test_a_stroke_leaves_no_cell_out_and_numbers_in_time_order(opened):
    editor = Editor(opened(ANSWER))
    editor.drag(0, 1, 4, steps=1)
    editor.drag(1, 4, 1)
    editor.choose("idle")
    editor.drag(2, 6, 0, steps=1)
    assert editor.text == "?  F0 F1 F2 F3\n?  F0 F1 F2 F3\n.  .  .  .  .  .  .\n?"
    editor.choose("forward")
    editor.drag(1, 6, 0, steps=2)  # what is there keeps its number
    assert editor.text.splitlines()[1] == "?  F0 F1 F2 F3"
    editor.says("The row of stage 1 has all 4 micro-batches forward already")
    editor.click("Undo")
    editor.click("Undo")
    assert editor.text == "?  F0 F1 F2 F3\n?\n?\n?"


def test_a_digit_that_is_no_micro_batch_is_refused(opened):
    notebook = opened(ANSWER, ANSWER.replace("(diagram)", "(diagram, micro_batches=12)"))
    editor = Editor(notebook)
    editor.at(0, 0).focus()
    editor.press("f", "9")
    editor.says("There is no micro-batch 9: they are numbered 0 to 3. F0 stays.")
    assert editor.text.startswith("F0\n")
    editor.press("2", "4")
    editor.says("There is no micro-batch 4")
    assert editor.text.startswith("F2\n")
    editor.press("1")
    assert editor.text.startswith("F1\n")
    notebook.run(1)
    editor = Editor(notebook, 1)
    editor.at(0, 0).focus()
    editor.press("f", "1", "2")
    editor.says("There is no micro-batch 12: they are numbered 0 to 11. F1 stays.")
    assert editor.text.startswith("F1\n")


def test_what_assistive_technology_is_told(opened):
    notebook = opened('diagram = """\nF0 . B0\n"""\ngrid_editor(diagram, stages=2, slots=3, micro_batches=1)')
    editor = Editor(notebook)
    tree = editor.root.aria_snapshot()
    for part in ('grid "Drawing, 2 stages, 3 slots"', 'columnheader "2"', 'rowheader "stage 1"',
                 'gridcell "stage 0, slot 0: forward, micro-batch 0"', 'gridcell "stage 0, slot 1: idle"',
                 'gridcell "stage 0, slot 2: backward, micro-batch 0"', 'gridcell "stage 1, slot 2: not marked"',
                 'radiogroup "What a click marks"', 'radio "forward" [checked]', 'radio "erase"', "- status:",
                 'button "Write into the cell"', 'button "Copy as text"', 'button "one slot more"'):
        assert part in tree, part
    assert editor.root.locator('td[tabindex="0"]').count() == 1  # one stop for Tab
    focusable = editor.root.locator("button, input, summary, td")
    assert focusable.count() == editor.root.locator('[data-lm-suppress-shortcuts="true"]').count() > 15
    editor.at(1, 2).focus()
    editor.press("b")
    assert editor.root.get_by_role("status").text_content() == "Stage 1, slot 2: backward, micro-batch 0."
    assert editor.root.locator('td[tabindex="0"]').get_attribute("data-place") == "1 2"


LONG = "\n".join(f"value_{number} = {number}" for number in range(150))
KEEPS = f'''def about():
    """Not this text."""  # nor """this"""
    return "it's \\"quoted\\""

names = ('a', "b")
diagram = r"""
F0 F1
"""
{LONG}
other = """
F0 F1
"""
grid_editor(diagram, stages=2, slots=4, micro_batches=2)'''


def test_only_the_drawing_in_the_cell_changes(opened):
    notebook = opened(KEEPS, "print(diagram)\nprint(about(), about.__doc__, value_149, other)")
    editor = Editor(notebook)
    assert notebook.cell(0).locator(".cm-line").count() < KEEPS.count("\n")  # the page holds a part of the cell
    editor.at(1, 1).click()
    editor.write()
    source = notebook.source(0)
    assert source == IMPORT + KEEPS.replace("\nF0 F1\n", "\nF0 F1\n?  F0\n", 1)
    assert "Not this text. 149" in run_and_print(notebook)
    notebook.cell(0).locator(".cm-content").click()
    notebook.page.keyboard.press("Control+z")
    assert notebook.source(0) == IMPORT + KEEPS


QUOTES = ['"""..."""', '""""""', "'''\n...'''", '"""\n    F0 F1\n"""', '(\n    """...""")']


def test_the_text_between_the_quotes_may_look_as_it_likes(opened):
    cells = [f'# """ a comment\ndiagram = {quotes}\ngrid_editor(diagram, stages=1, slots=3)' for quotes in QUOTES]
    notebook = opened(*cells, "print(diagram)")
    for number in range(len(cells)):
        if number:
            notebook.run(number)
        editor = Editor(notebook, number)
        editor.at(0, 2).click()
        expected = editor.text
        editor.write()
        notebook.run(number)
        assert notebook.run(len(cells)).strip() == expected, cells[number]


def test_a_cell_without_quotes_is_left_alone(opened):
    notebook = opened("# no text here\ngrid_editor('')")
    editor = Editor(notebook)
    editor.at(0, 0).click()
    editor.click("Write into the cell")
    editor.says("no text between triple quotes. Press “Copy as text”")
    assert notebook.source(0) == IMPORT + "# no text here\ngrid_editor('')"


def test_the_text_can_be_copied(opened, place):
    notebook = opened(ANSWER)
    editor = Editor(notebook)
    editor.at(0, 0).click()
    notebook.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=place[1].rstrip("/"))
    editor.click("Copy as text")
    editor.says("Copied.")
    assert notebook.page.evaluate("navigator.clipboard.readText()") == "F0\n?\n?\n?"
    notebook.page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject())")
    editor.click("Copy as text")
    editor.says("press Ctrl+C")
    assert notebook.page.evaluate("getSelection().toString()").strip() == "F0\n?\n?\n?"


def test_a_drawing_that_was_not_written_is_kept(opened):
    notebook = opened(ANSWER, "print(diagram)")
    Editor(notebook).at(3, 0).click()
    notebook.run(0)
    editor = Editor(notebook)
    editor.says("Your drawing is still here, but not in the cell yet")
    assert editor.text == "?\n?\n?\nF0"
    assert "not written into the cell yet" in editor.root.inner_text()
    assert notebook.run(1).strip() == "..."  # the text in the cell is the answer


def test_two_views_show_one_drawing(opened):
    notebook = opened("e = grid_editor('F0', stages=2, slots=3)\ndisplay(e)\ndisplay(e)", "print(e.text)", "e.text = 'B1'")
    notebook.page.wait_for_function("document.querySelectorAll('.lge').length == 2")
    first, second = Editor(notebook), Editor(notebook, which=1)
    first.at(1, 2).click()
    assert first.text == second.text == "F0\n?  ?  F0"
    assert notebook.run(1).strip() == "F0\n?  ?  F0"
    notebook.run(2)
    first.root.locator("pre", has_text="B1").wait_for(state="attached")
    assert first.text == second.text == "B1\n?"


def test_notebook_7_takes_the_text_too(opened):
    notebook = opened(ANSWER, "print(diagram)", page="notebooks")
    editor = Editor(notebook)
    editor.at(0, 1).click()
    editor.write()
    assert run_and_print(notebook).strip() == "?  F0\n?\n?\n?"
