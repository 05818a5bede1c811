"""JupyterLab as a learner's and an instructor's browser meets it: formgrader, and which panels are off."""

import json
import subprocess
import sys
import urllib.request

import nbformat
import pytest

from tests.browser import address_of
from tests.nbgrader_course import environment, nbgrader, submit
from tests.tiny_assignment import EXERCISES, copy_settings, write_source
from tools.environment import configure_lab
from tools.notebooks import ASSIGNMENT, RELEASED, SOLVED, build, write


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab on the tiny assignment's folder; get(path) gives status and text."""
    root = tmp_path_factory.mktemp("lab")
    copy_settings(root)
    files = build(write_source(tmp_path_factory.mktemp("source")).parent, EXERCISES)
    write(root, {name: text for name, text in files.items() if name.startswith(SOLVED)})
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    submit(root, "somebody", {"1_sum": nbformat.reads(files[f"{RELEASED}/1_sum.ipynb"], as_version=4)})
    configure_lab(root)
    options = ["--no-browser", "--allow-root", "--ServerApp.port=0", f"--ServerApp.root_dir={root}"]
    with open(root / "lab.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, "--IdentityProvider.token=secret", f"{RELEASED}/1_sum.ipynb"],
            cwd=root, env=environment(root), stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        url = address_of(server, root / "jupyter" / "runtime", root / "lab.log")

        def get(path):
            request = urllib.request.Request(url + path, headers={"Authorization": "token secret"})
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read().decode()

        yield get
    finally:
        server.terminate()
        server.wait(30)


def test_formgrader_opens_and_lists_the_assignment(lab):
    status, page = lab("formgrader/")
    assert status == 200
    assert "formgrader" in page.lower()
    (assignment,) = json.loads(lab("formgrader/api/assignments")[1])
    assert (assignment["name"], assignment["num_submissions"], assignment["max_score"]) == (ASSIGNMENT, 1, 7)
    students = {row["student"] for row in json.loads(lab(f"formgrader/api/submissions/{ASSIGNMENT}")[1])}
    assert students == {"somebody"}


def test_lab_opens_the_notebook_without_the_instructors_panel_and_the_news(lab):
    status, page = lab(f"lab/tree/{RELEASED}/1_sum.ipynb")
    assert status == 200
    settings = json.loads(page.split('id="jupyter-config-data"')[1].split(">", 1)[1].split("</script>")[0])
    off = settings["disabledExtensions"]
    assert "@jupyter/nbgrader:create-assignment" in off
    assert "@jupyterlab/apputils-extension:announcements" in off
    assert "@jupyter/nbgrader:validate-assignment" not in off
    assert "@jupyter/nbgrader" not in off
    assert settings["buildCheck"] is False  # else Lab asks Node.js at every page whether it should build itself anew
