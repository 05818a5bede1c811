"""A real JupyterLab and a headless Chromium, for tests that look at what a learner sees. Ends only what it started."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest

from tests.headless import ASSIGNMENT
from tools.environment import LAB_CONFIG

ROOT = Path(__file__).resolve().parent.parent
# Without these Chromium calls home at every start, where a closed network refuses it.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DARK, LIGHT = "JupyterLab Dark", "JupyterLab Light"
NOTEBOOK = "window.jupyterapp.shell.currentWidget"
# A key pressed before the kernel is connected is lost, or answered by a dialogue.
CONNECTED = """() => {
    const kernel = window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel;
    return kernel?.connectionStatus === "connected" && kernel.status === "idle"}"""
PATIENCE = 60_000  # milliseconds: a guard against hangs


@contextlib.contextmanager
def chromium():
    """A headless browser, Playwright's; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        pytest.skip("no Chromium: install Debian's package chromium, or set CHROMIUM to the program")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def jupyter(folder, home, theme=LIGHT):
    """JupyterLab and Notebook on `folder`, with settings and kernels below `home`; yields the address."""
    home = Path(home)
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    pages = home / "config" / "labconfig"
    pages.mkdir()
    shutil.copy(LAB_CONFIG, pages / "page_config.json")
    places = {"HOME": home, "JUPYTER_CONFIG_DIR": home / "config", "JUPYTER_DATA_DIR": home / "data",
              "JUPYTER_RUNTIME_DIR": home / "runtime", "IPYTHONDIR": home / "ipython", "PYTHONPATH": ROOT}
    options = ["--no-browser", "--allow-root", "--ServerApp.port=0", f"--ServerApp.root_dir={folder}",
               "--IdentityProvider.token=", "--expose-app-in-browser",
               "--JupyterNotebookApp.expose_app_in_browser=True"]
    with open(home / "server.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], cwd=folder, stdout=log,
                                  stderr=subprocess.STDOUT, start_new_session=True,
                                  env={**os.environ, **{name: str(path) for name, path in places.items()}})
    try:
        yield address_of(server, home / "runtime", home / "server.log")
    finally:
        _end(server)


def address_of(server, runtime, log) -> str:
    """Wait until a Jupyter server listens, not only says its address in the folder `runtime`; the address."""
    said = Path(runtime, f"jpserver-{server.pid}.json")
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(said.read_text(encoding="utf-8"))
            urllib.request.urlopen(f"{found['url']}api/status?token={found['token']}", timeout=5).close()
            return found["url"]
        time.sleep(0.1)
    raise AssertionError(f"the server did not come up:\n{Path(log).read_text(encoding='utf-8')}")


def _end(server):
    server.terminate()  # it ends its kernels
    try:
        server.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(15)


def write_notebook(path, *cells) -> None:
    """A notebook of code cells, with ids that hold from run to run."""
    made = [nbformat.v4.new_code_cell(code, id=f"cell-{number}") for number, code in enumerate(cells)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=kernel), path)


def copy_released(folder):
    """The released notebooks, as a learner has them."""
    for path in (ROOT / "notebooks" / ASSIGNMENT).glob("*.ipynb"):
        shutil.copy(path, folder)


def places(path) -> dict[str, int]:
    """What each cell of a notebook is -> its number: its grade_id, or the begin of its code."""
    return {cell.metadata.get("nbgrader", {}).get("grade_id") or cell.source.splitlines()[0]: number
            for number, cell in enumerate(nbformat.read(path, as_version=4).cells)}


@contextlib.contextmanager
def pages(place, request, imports, ready):
    """open_notebook(cells...) writes a notebook of this test, runs its first cell and waits for what `ready` selects."""
    browser, url, folder = place
    opened = []

    def open_notebook(*cells, **options):
        name = f"{request.node.originalname}{len(opened)}.ipynb"
        write_notebook(folder / name, imports + cells[0], *cells[1:])
        opened.append(Notebook(browser, url, name, **options))
        opened[-1].run(0)
        opened[-1].page.wait_for_selector(ready)
        return opened[-1]

    yield open_notebook
    for page in opened:
        page.close()


class Notebook:
    """One notebook in one page of the browser: its cells by number, what they hold and what they show."""

    def __init__(self, browser, url, name, width=1280, height=900, page="doc/tree"):
        self.context = browser.new_context(viewport={"width": width, "height": height})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        # `doc` is JupyterLab's single-document mode, where nothing is restored; Notebook's page is "notebooks"
        self.page.goto(f"{url}{page}/{name}?reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content")
        self.page.wait_for_function(CONNECTED)

    def cell(self, number):
        """The cell as a Playwright locator."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def code(self, number) -> str:
        """What a cell holds, as far as it is on the screen."""
        return "\n".join(self.cell(number).locator(".cm-line").all_text_contents())

    def source(self, number) -> str:
        """The whole of what a cell holds, screen or not, as it would be saved."""
        return self.page.evaluate(f"{NOTEBOOK}.content.model.cells.get({number}).sharedModel.getSource()")

    def set_theme(self, name):
        """Change the theme of this page: DARK or LIGHT."""
        self.page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: '{name}'}})")
        self.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")

    def run(self, number, keys="Control+Enter") -> str:
        """Run a cell as a learner does, wait until it has ended, and give the text that it shows."""
        before = self.prompt(number)
        self.focus(number)
        self.page.keyboard.press(keys)
        return self.wait(number, before)

    def focus(self, number):
        """Put the cursor into a cell's editor."""
        self.cell(number).locator(".jp-InputArea-editor .cm-content").click()

    def write(self, number, text):
        """Put a text into a cell at once: JupyterLab's own brackets and indents would change what is typed key by key."""
        self.focus(number)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)
        self.page.wait_for_function(f"text => {NOTEBOOK}.content.model.cells.get({number}).sharedModel.getSource() === text",
                                    arg=text)

    def run_all(self):
        """Begin to run all cells."""
        self.page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")

    def wait(self, number, before="[ ]:") -> str:
        """Wait until a cell has run, its prompt no longer being `before`; the text that it shows."""
        self.page.wait_for_function("""([number, before]) => {
            const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[number];
            const prompt = cell?.querySelector(".jp-InputPrompt")?.textContent;
            return /\\d/.test(prompt) && prompt !== before}""", arg=[number, before])
        return self.shown(number)

    def prompt(self, number) -> str:
        """`[ ]:` before a cell has run, `[*]:` while it runs, `[3]:` after."""
        return self.cell(number).locator(".jp-InputPrompt").text_content()

    def shown(self, number) -> str:
        """The text below a cell, which is brought on the screen and waited for: it can be drawn after the cell has ended."""
        self.cell(number).scroll_into_view_if_needed()
        self.page.wait_for_function("""number => {
            const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[number];
            const below = [...cell.querySelectorAll(".jp-OutputArea-output")];
            const due = jupyterapp.shell.currentWidget.content.model.cells.get(number).outputs?.length ?? 0;
            return below.length >= due && below.every(part => part.innerText || !part.textContent.trim())}""", arg=number)
        return "\n".join(self.cell(number).locator(".jp-OutputArea-output").all_inner_texts())

    def output(self, number) -> str:
        """The text below a cell that may be off the screen, where it has no inner text."""
        return "\n".join(self.cell(number).locator(".jp-OutputArea-output").all_text_contents())

    def close(self):
        """Close the page without saving."""
        self.context.close()
