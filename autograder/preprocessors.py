"""nbgrader preprocessors of our own, named in nbgrader_config.py."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution, is_task


class DropCopiedIds(NbGraderPreprocessor):
    """Of cells that carry one grade_id only the first keeps it; the copies become ordinary cells.

    nbgrader's own DeduplicateIds leaves an empty `nbgrader` entry on a copied cell, and the next
    step refuses that entry and stops the whole class. This one deletes the key.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Delete nbgrader's metadata from every cell whose grade_id an earlier cell has."""
        seen: set[str] = set()
        for cell in nb.cells:
            if not any(kind(cell) for kind in (is_grade, is_solution, is_locked, is_task)):
                cell.metadata.pop("nbgrader", None)
                continue
            grade_id = cell.metadata.nbgrader.get("grade_id")
            if grade_id in seen:
                self.log.warning("Cell %r is there more than once: only the first counts", grade_id)
                del cell.metadata["nbgrader"]
            seen.add(grade_id)
        return nb, resources
