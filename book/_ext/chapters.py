"""The chapters as the notebooks have them: their order, their parts, their cells."""

import json
from pathlib import Path
from typing import NamedTuple

import yaml


class Chapter(NamedTuple):
    """A chapter, the part of the book that it belongs to, and its notebook."""

    part: str
    name: str
    path: Path


def chapters(root):
    """Return the chapters in the order of `_toc.yml`."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [
        Chapter(part["caption"], Path(page["file"]).name, root / f"{page['file']}.ipynb")
        for part in contents["parts"]
        for page in part["chapters"]
        if Path(page["file"]).parent == Path("notebooks")  # not the notes
    ]


def cells_of(path):
    """Return kind and text of each cell of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def first_cell(path):
    """Return the text of the first cell, which has the title, the question and the needs."""
    return cells_of(path)[0][1]
