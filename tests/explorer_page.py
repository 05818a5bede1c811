"""An Explorer in a page of the browser, of schedules or of layouts."""

import re


class Page:
    """The Explorer below a cell."""

    def __init__(self, notebook, number=0, which=0):
        self.notebook, self.page = notebook, notebook.page
        self.root = notebook.cell(number).locator(".lex").nth(which)

    def slider(self, name):
        return self.root.get_by_role("slider", name=name)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def shows(self, title):
        self.root.get_by_role("img", name=re.compile(f"^{re.escape(title)}, \\d+ rows?$")).wait_for()

    def says(self, words):
        self.root.get_by_role("status").filter(has_text=words).wait_for()

    @property
    def numbers(self):
        return self.root.locator("table").inner_text()

    def tab_to(self, name, most=80):
        """By Tab alone to the control of this name."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("document.activeElement.ariaLabel") == name:
                return
        raise AssertionError(f"Tab does not lead to {name}")
