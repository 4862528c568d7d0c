"""The chapters of the book: their order, parts and cells, read from `_toc.yml` and notebooks."""

import json
from pathlib import Path
from typing import NamedTuple

import yaml


class Chapter(NamedTuple):
    """A chapter: the part of the book that it belongs to, and name and path of its notebook."""

    part: str
    name: str
    path: Path


def read_chapters(root):
    """Return the chapters in the order of `_toc.yml`."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [
        Chapter(part["caption"], Path(page["file"]).name, root / f"{page['file']}.ipynb")
        for part in contents["parts"]
        for page in part["chapters"]
        if Path(page["file"]).parent == Path("notebooks")  # notes are not chapters
    ]


def read_cells(path):
    """Return type and text of each cell of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def read_first_cell(path):
    """Return the text of the first cell: title, question and prerequisites."""
    return read_cells(path)[0][1]
