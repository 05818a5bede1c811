"""The grid editor in a page of the browser, for tests: open it, press its keys, read what it shows."""

import pytest

from tests.browser import pages

IMPORT = "from course.widgets.grid_editor import grid_editor\n"
ANSWER = 'diagram = """\n...\n"""\ngrid_editor(diagram)'
WRITTEN = "Written. Now run this cell (Shift+Enter), then the check below."


@pytest.fixture
def opened(place, request):
    """opened(cells...) gives a notebook in which the first cell, with the editor, has run."""
    with pages(place, request, IMPORT, ".lge td") as open_notebook:
        yield open_notebook


class Editor:
    """The editor below a cell."""

    def __init__(self, notebook, number=0, which=0):
        self.notebook, self.page = notebook, notebook.page
        self.root = notebook.cell(number).locator(".lge").nth(which)

    def at(self, stage, slot):
        return self.root.locator(f'td[data-place="{stage} {slot}"]')

    def choose(self, name):
        self.root.get_by_role("radio", name=name).check()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def click(self, name):
        self.root.get_by_role("button", name=name).click()

    def drag(self, stage, first, last, steps=None):
        boxes = [self.at(stage, slot).bounding_box() for slot in (first, last)]
        points = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        self.page.mouse.move(*points[1], steps=steps or 4 * abs(last - first))
        self.page.mouse.up()

    def says(self, words):
        self.root.locator(".lge-say", has_text=words).wait_for()

    def write(self):
        self.click("Write into the cell")
        self.says(WRITTEN)

    @property
    def text(self):
        return self.root.locator("pre").text_content()

    @property
    def focused(self):
        return self.page.evaluate("document.activeElement.dataset.place")


def run_and_print(notebook, number=1):
    """Run the answer's cell by Shift+Enter, from where writing left the focus, then the cell that prints it."""
    before = notebook.prompt(0)
    notebook.page.keyboard.press("Shift+Enter")
    notebook.wait(0, before)
    return notebook.run(number)
