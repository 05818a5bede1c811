"""What is wrong with how a notebook looks: words without contrast, cut off or over each other, slabs, what leaves the page."""

from pathlib import Path

from tests.browser import DARK, LIGHT, NOTEBOOK

WIDTHS = (1280, 800)  # a laptop's window, and half a screen
_COLOURS, _LOOK = ((Path(__file__).resolve().parent / name).read_text(encoding="utf-8") for name in ("contrast.js", "looks.js"))
CONTRAST = f"element => ({_COLOURS})().contrast(element)"


def faults(notebook) -> list[str]:
    """Look at all of a notebook as it stands, in both themes and widths."""
    page, found = notebook.page, []
    # cells off the screen are taken out of the page otherwise
    page.evaluate(f"{NOTEBOOK}.content.notebookConfig = {{...{NOTEBOOK}.content.notebookConfig, windowingMode: 'none'}}")
    for theme in (LIGHT, DARK):
        notebook.set_theme(theme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            found += [f"{theme}, {width}: {fault}" for fault in page.evaluate(f"() => ({_LOOK})(({_COLOURS})())")]
    return found
