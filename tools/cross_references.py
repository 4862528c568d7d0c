"""The texts of cross-references in the book, from its files: "Figure 2.3", "(2.3)", titles."""

import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from chapters import read_chapters  # noqa: E402

# Directives: fence, name, title, options and body.
DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ ]*(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)(?:(?P<body>.*?)\n)??(?P=fence)$",
    re.M | re.S,
)
DISPLAYED_FORMULA = re.compile(
    r"^\$\$\n?(?P<tex>.*?)\n?\$\$(?: \((?P<label>[\w-]+)\))?$", re.M | re.S
)
HEADING = re.compile(r"^\((?P<label>[\w-]+)\)=\n+#+ (?P<title>.*)$", re.M)
TITLE = re.compile(r"^# (.*)$", re.M)
# Names of the numbered directives in the text; equations have a number only.
NUMBERED_KINDS = {
    "math": "",
    "explorable": "Figure",
    "table": "Table",
    "exercise-start": "Exercise",
    "prf:theorem": "Theorem",
}


def label_of(block):
    """Return the label or the name in the options of a directive, or None."""
    found = re.search(r"^:(?:label|name): (\S+)", block["options"], re.M)
    return found and found[1]


def numbered_labels(cell):
    """Yield the kind and the label of everything in a cell that the book numbers, in order."""
    if cell.cell_type == "code":
        name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
        if name:
            yield ("Table" if name.startswith("tab-") else "Figure"), name
        return
    entries = [
        (block.start(), NUMBERED_KINDS[block["name"]], label_of(block))
        for block in DIRECTIVE.finditer(cell.source)
        if block["name"] in NUMBERED_KINDS
    ]
    entries += [
        (match.start(), "", match["label"]) for match in DISPLAYED_FORMULA.finditer(cell.source)
    ]
    for _, kind, label in sorted(entries, key=lambda entry: entry[0]):
        if label:
            yield kind, label


class CrossReferences:
    """The texts of references to labels and pages: "Figure 2.3", "(2.3)", or *a title*."""

    def __init__(self):
        self.texts, self.titles = {}, {}
        for path in [*ROOT.glob("book/*.md"), *ROOT.glob("notebooks/**/*.ipynb")]:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".ipynb":
                cells = nbformat.reads(text, as_version=4).cells
                text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
            for heading in HEADING.finditer(text):
                self.texts[heading["label"]] = f"*{heading['title']}*"
            if title := TITLE.search(text):
                self.titles[path.with_suffix("")] = f"*{title[1]}*"
        for number, chapter in enumerate(read_chapters(ROOT), start=1):
            counts = {}
            for cell in nbformat.read(chapter.path, as_version=4).cells:
                for kind, label in numbered_labels(cell):
                    counts[kind] = counts.get(kind, 0) + 1
                    item_number = f"{number}.{counts[kind]}"
                    self.texts[label] = f"{kind} {item_number}" if kind else f"({item_number})"

    def resolve(self, role, content):
        """Return the Markdown text to which a MyST role resolves."""
        titled = re.fullmatch(r"(.*?)\s*<([^>]*)>", content, re.S)
        if role in ("func", "class"):
            return f"`{content.rsplit('.', 1)[-1].strip('~')}`"
        if titled or role == "term":
            return titled[1] if titled else content
        if role == "doc":
            return self.titles[(ROOT / "notebooks" / content).resolve()]
        if role in ("ref", "numref", "eq", "prf:ref"):
            return self.texts[content]
        raise ValueError(f"a slide cannot show the role {{{role}}}`{content}`")
