"""The Explorers in JupyterLab in Chromium: from a key on a slider to the end of the first frame that shows the new picture.

Target: 100 ms at p=4, m=8, 150 ms at p=8, m=64, 150 ms for a layout. Peer: the same timeline, or the same cluster and bars,
drawn by matplotlib into ipywidgets' Output, from an IntSlider; the same kernel, browser and measurement. "drag" moves the
slider on every frame for half a second: how many pictures were shown, and how long after the last move the last one was.
"""

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.table import best, heading, middle, show
from tests.browser import Notebook, chromium, jupyter, write_notebook

WARM_UP = 3
SETTLE = 8000  # milliseconds: importing course.notebook begins to load torch, in a process beside the kernel
SLIDERS = "input[type=range] >> nth={}"
OURS = "from course.notebook import explore\nexplore('1f1b', {p}, {m})"
LAYOUTS = "from course.notebook import explore_layouts\nexplore_layouts('c', 4, 2, 1, 2)"
LAYOUTS_PEER = """
import ipywidgets, matplotlib.pyplot as plt
from IPython.display import clear_output, display
from course.layout import Layout, evaluate, search
from course.layout.cards import CARDS
card = CARDS["c"]
best = search(card.model, card.cluster)
slider, output = ipywidgets.IntSlider(2, 1, 4, description="b"), ipywidgets.Output()
def draw(change=None):
    found = evaluate(Layout(4, 2, 1, slider.value), card.model, card.cluster)
    figure, (cluster, *axes) = plt.subplots(4, figsize=(9.6, 6))
    for rank, node in found.layout.node_of(4).items():
        cluster.barh([0], [0.9], left=[rank + node], color=plt.cm.Blues(0.3 + 0.3 * node), edgecolor="#333")
        cluster.text(rank + node + 0.1, 0, f"rank {rank}")
    bars = ([("fullest GPU", {"state": found.state_bytes, "activations": found.activation_bytes})],
            [(link, {axis: found.sent[axis] for axis in found.sent if found.links[axis] == link})
             for link in found.sent_by_link], [("this layout", found.parts), ("the fastest", best[0].parts)])
    for axis, rows in zip(axes, bars):
        for number, (name, parts) in enumerate(rows):
            left = 0
            for part, size in parts.items():
                axis.barh([number], [size], left=[left], edgecolor="#333")
                left += size
        axis.set(yticks=range(len(rows)), yticklabels=[name for name, _ in rows])
    with output:
        clear_output(wait=True)
        display(figure)
        print(*(f"{one.layout} {one.memory_bytes / 1e9:.2f} GB {one.step_seconds:.3f} s" for one in best[:8]), sep="\\n")
    plt.close(figure)
slider.observe(draw, "value")
draw()
ipywidgets.VBox([slider, output])"""
PEER = """
import ipywidgets, matplotlib.pyplot as plt
from IPython.display import clear_output, display
from course import schedules, simulate
LOOKS = dict(F=("#56B4E9", ""), B=("#E69F00", "///"))
slider, output = ipywidgets.IntSlider({m}, 1, 64, description="m"), ipywidgets.Output()
def draw(change=None):
    timeline = simulate(schedules.one_f_one_b({p}, slider.value))
    figure, axes = plt.subplots(figsize=(9.6, 0.35 * {p} + 0.8))
    for kind, (colour, hatch) in LOOKS.items():
        spans = [span for span in timeline.spans if span.operation.kind == kind]
        axes.barh([span.rank for span in spans], [span.end - span.start for span in spans],
                  left=[span.start for span in spans], color=colour, hatch=hatch, edgecolor="#333", linewidth=0.8, label=kind)
        if timeline.makespan < 40:
            for span in spans:
                axes.text((span.start + span.end) / 2, span.rank, span.operation.short, ha="center", va="center")
    axes.set(yticks=range({p}), yticklabels=[f"stage {{stage}}" for stage in range({p})], xlim=(0, timeline.makespan),
             title=f"bubble {{timeline.bubble_fraction}}, held {{timeline.peak_activations}}")
    axes.invert_yaxis()
    axes.legend(loc="upper right")
    with output:
        clear_output(wait=True)
        display(figure)
    plt.close(figure)
slider.observe(draw, "value")
draw()
ipywidgets.VBox([slider, output])"""
# A message that is posted in a frame comes after that frame was rendered.
PROBE = """root => {
    const probe = window.probe = {begin: null, times: [], last: 0};
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
        probe.last = performance.now();
        probe.times.push(probe.last - probe.begin);
    };
    const painted = () => requestAnimationFrame(() => channel.port2.postMessage(0));
    addEventListener("keydown", event => { probe.begin = event.timeStamp; }, true);
    new MutationObserver(changes => {
        for (const {addedNodes} of changes) for (const node of addedNodes) {
            const picture = node.matches?.("svg, img") ? node : node.querySelector?.("svg, img");
            if (picture?.decode) picture.decode().then(painted);
            else if (picture) painted();
        }
    }).observe(root, {childList: true, subtree: true});
}"""
DRAG = """([slider, most]) => new Promise(done => {
    const begin = performance.now();
    let moves = 0;
    const move = () => {
        slider.value = 1 + moves++ % most;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        if (performance.now() - begin < 500) requestAnimationFrame(move);
        else done([moves, performance.now()]);
    };
    move();
})"""


class Row(NamedTuple):
    """What is moved: its name, the target in milliseconds, our cell and the peer's, our slider, its most."""

    name: str
    target: int
    ours: str
    peer: str
    slider: int
    most: int


ROWS = [*(Row(f"p={p} m={m}", target, OURS.format(p=p, m=m), PEER.format(p=p, m=m), 1, m)
          for p, m, target in ((4, 8, 100), (8, 64, 150))),
        Row("a layout, b=1, 2", 150, LAYOUTS, LAYOUTS_PEER, 3, 2)]


def measured(notebook, slider, moves) -> list[float]:
    """Milliseconds of each move by one key to the left, then to the right, and so on."""
    notebook.page.evaluate(PROBE, notebook.cell(0).locator(".jp-OutputArea").first.element_handle())
    slider.focus()
    for move in range(WARM_UP + moves):
        notebook.page.keyboard.press("ArrowRight" if move % 2 else "ArrowLeft")
        notebook.page.wait_for_function("shown => probe.times.length > shown", arg=move)
        notebook.page.wait_for_timeout(50)  # the kernel is idle again
    return notebook.page.evaluate("probe.times")[WARM_UP:]


def dragged(notebook, slider, most) -> str:
    """How many moves and pictures, and milliseconds from the last move to the last picture."""
    before = len(notebook.page.evaluate("probe.times"))
    moves, end = notebook.page.evaluate(DRAG, [slider.element_handle(), most])
    notebook.page.wait_for_timeout(1000)
    pictures = len(notebook.page.evaluate("probe.times")) - before
    return f"{moves} moves, {pictures} pictures, last {max(0, notebook.page.evaluate('probe.last') - end):.0f} ms"


def row_of(browser, url, folder, number, moves):
    """One row: our times, the peer's, and a drag."""
    row, found, drag = ROWS[number], {}, ""
    for name, code, handle in (("ours", row.ours, SLIDERS.format(row.slider)), ("peer", row.peer, ".noUi-handle")):
        write_notebook(folder / f"{name}{number}.ipynb", code)
        notebook = Notebook(browser, url, f"{name}{number}.ipynb")
        notebook.run(0)
        notebook.page.wait_for_timeout(SETTLE)
        slider = notebook.cell(0).locator(handle)
        found[name] = measured(notebook, slider, moves)
        drag = drag or dragged(notebook, slider, row.most)
        notebook.close()
    ours, peer = found["ours"], found["peer"]
    each = [[f"{of(times):.0f}" for of in (middle, best, max)] for times in (ours, peer)]
    ratios = [f"{middle(ours) / other:.2f}" for other in (row.target, middle(peer))]
    return [row.name, row.target, *each[0], ratios[0], *each[1], ratios[1], drag]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=40)
    options = parser.parse_args()
    heading(f"from a key on a slider to the painted picture, {options.moves} moves a row; milliseconds")
    try:
        with tempfile.TemporaryDirectory() as place, chromium() as browser:
            folder, home = Path(place, "notebooks"), Path(place, "home")
            folder.mkdir()
            home.mkdir()
            with jupyter(folder, home) as url:
                rows = [row_of(browser, url, folder, number, options.moves) for number in range(len(ROWS))]
    except pytest.skip.Exception as reason:
        print(f"not measured: {reason}")
        return
    show(["", "target", "ours", "p10", "worst", "of target", "matplotlib's", "p10", "worst", "ratio", "drag"], rows)


if __name__ == "__main__":
    main()
