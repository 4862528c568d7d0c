"""Aids for studying: dependencies of chapters, lists of exercises and symbols, quizzes, progress.

``{chapter-dependencies}`` draws the chapters in order, with an arc from each chapter to those that
need it according to their boxes *Before you start*. ``{exercises}`` lists all exercises with kind
and difficulty. ``{symbols}`` lists, for each symbol of the page *Notation*, the chapters whose
formulas contain it. All are read from the notebooks. Pages with questions load `quiz.js` and
`progress.js`, the first page `progress.js` only.
"""

import re
from html import escape
from pathlib import Path

from chapters import read_cells, read_chapters, read_first_cell
from docutils import nodes
from overview_tables import markdown_table
from sphinx.util.docutils import SphinxDirective

LINE_HEIGHT, ARC_WIDTH, TOTAL_WIDTH = 30, 118, 560  # pixels; the total includes the titles
REQUIREMENTS = re.compile(r"\*You need\*(.*)")
EXERCISE = re.compile(r"`{3,}\{exercise(?:-start)?\} ?(.*)\n:label: (\S+)\n:class: (\S+)\n")
# Names of kinds of exercises; other kinds are shown unchanged.
KIND_NAMES = {"by-hand": "by hand", "failure": "failure to explain"}


def chapter_title(path):
    return re.search(r"^# (.*)$", read_first_cell(path), re.M)[1]


def required_chapters(path):
    """Return the names of the chapters that a chapter builds on."""
    return re.findall(r"\{doc\}`(\w+)`", REQUIREMENTS.search(read_first_cell(path))[1])


def dependency_diagram(root):
    """Return the dependencies of chapters as SVG, with a description in words as its label."""
    paths = {chapter.name: chapter.path for chapter in read_chapters(root)}
    names, labels, arcs, descriptions = list(paths), [], [], []
    for row, (name, path) in enumerate(paths.items()):
        y = (row + 0.5) * LINE_HEIGHT
        required = [other for other in required_chapters(path) if other in paths]
        title = escape(chapter_title(path))
        text = f'<text x="{ARC_WIDTH}" y="{y + 5}">{title}</text>'
        link = f'<a href="../notebooks/{name}.html">{text}</a>'
        labels.append(f'<circle cx="{ARC_WIDTH - 12}" cy="{y}" r="3.5"/>{link}')
        for other in required:
            other_y = (names.index(other) + 0.5) * LINE_HEIGHT
            control_x = ARC_WIDTH - 20 - 0.75 * (y - other_y) ** 0.85
            curve = f"C{control_x:.1f} {other_y} {control_x:.1f} {y} {ARC_WIDTH - 12} {y}"
            arcs.append(f'<path d="M{ARC_WIDTH - 12} {other_y}{curve}"/>')
        titles = ", ".join(chapter_title(paths[other]) for other in required)
        descriptions.append(f"{title} needs {escape(titles) or 'no other'}")
    size = f'viewBox="0 0 {TOTAL_WIDTH} {LINE_HEIGHT * len(names)}"'
    return (
        f'<svg class="needs" {size} role="group" aria-label="{"; ".join(descriptions)}.">'
        f"{''.join(arcs)}{''.join(labels)}</svg>"
    )


def chapter_exercises(path):
    """Yield title, label, kind and difficulty of each exercise.

    The difficulty is 1 in the first third of the chapter, 2 in the second and 3 in the last.
    """
    exercises = [exercise for _, text in read_cells(path) for exercise in EXERCISE.findall(text)]
    for number, (title, label, kind) in enumerate(exercises):
        yield title.strip(), label, KIND_NAMES.get(kind, kind), 1 + 3 * number // len(exercises)


def list_of_exercises(root):
    """Return all exercises as Markdown, with one table per chapter."""
    sections = []
    for _, _, path in read_chapters(root):
        rows = [
            (f"{{numref}}`{label}`", title, kind, "●" * difficulty)
            for title, label, kind, difficulty in chapter_exercises(path)
        ]
        headings = ["exercise", "what it asks", "kind", "difficulty"]
        sections.append(f"## {chapter_title(path)}\n\n{markdown_table(headings, rows)}")
    return "\n\n".join(sections)


FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$|\{math\}[^\n]*\n(?::[^\n]*\n)*(.*?)\n`{3}", re.S)
TEXT_COMMAND = re.compile(r"\\(?:text|mathrm|operatorname|label)\{[^}]*\}")
SUBSCRIPT = re.compile(r"_(?:\{[^}]*\}|\\?\w)$")


def entry_symbols(cell):
    """Return the symbols in an entry of the page *Notation*, without indices and definitions."""
    symbols = []
    for formula in re.findall(r"\$([^$]+)\$", cell):
        left_side = re.split(r"\s*(?:=|\\in\b)\s*", formula)[0]
        parts = re.split(r",(?![^(]*\))", left_side)
        symbols += [SUBSCRIPT.sub("", part.strip()) for part in parts]
    return list(dict.fromkeys(filter(None, symbols)))


def is_used(symbol, formulas):
    """Return whether the formulas contain a symbol, and not just as part of a longer name."""
    before = r"(?<![\\a-zA-Z])" if symbol[0].isalpha() else ""
    after = r"(?![a-zA-Z])" if symbol[-1].isalpha() else ""
    return re.search(before + re.escape(symbol) + after, formulas) is not None


def index_of_symbols(root):
    """Return a table in Markdown of each symbol, with links to the chapters that use it."""
    formulas = {}
    for _, name, path in read_chapters(root):
        text = "\n".join(text for kind, text in read_cells(path) if kind == "markdown")
        formulas[name] = TEXT_COMMAND.sub("", "\n".join(map("".join, FORMULA.findall(text))))
    rows, listed = [], set()
    for line in (root / "book" / "notation.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| $") and not line.startswith("| L"):
            continue
        cell = line.split(" | ")[0].removeprefix("| ")
        restricted_to = re.findall(r"\{doc\}`[^`]*?(\w+)`", cell)
        for symbol in entry_symbols(cell):
            links = [
                f"[{number}](/notebooks/{name}.ipynb)"
                for number, name in enumerate(formulas, start=1)
                if is_used(symbol, formulas[name]) and (not restricted_to or name in restricted_to)
            ]
            if links and (symbol, bool(restricted_to)) not in listed:
                rows.append((f"${symbol}$", ", ".join(links)))
                listed.add((symbol, bool(restricted_to)))
    return markdown_table(["symbol", "chapters"], rows)


class NotebookDirective(SphinxDirective):
    """Base class of directives that are generated from the notebooks."""

    def run(self):
        root = Path(self.env.srcdir)
        for path in (root / "_toc.yml", *(chapter.path for chapter in read_chapters(root))):
            self.env.note_dependency(str(path))
        return self.content_nodes(root)

    def content_nodes(self, root):
        """Return the nodes that replace the directive."""
        raise NotImplementedError


class ChapterDependencies(NotebookDirective):
    def content_nodes(self, root):
        return [nodes.raw("", dependency_diagram(root), format="html")]


class ExerciseList(NotebookDirective):
    def content_nodes(self, root):
        text = list_of_exercises(root)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class SymbolIndex(NotebookDirective):
    def content_nodes(self, root):
        return self.parse_text_to_nodes(index_of_symbols(root))


def add_scripts(app, pagename, templatename, context, doctree):
    """Add the scripts that a page needs."""
    body = context.get("body", "")
    if re.search(r'class="[^"]*\bquiz\b', body):
        app.add_js_file("quiz.js")
        app.add_js_file("progress.js")
    elif "map-of-chapters" in body:
        app.add_js_file("progress.js")


def setup(app):
    """Register the directives and the listener that adds the scripts."""
    app.add_directive("chapter-dependencies", ChapterDependencies)
    app.add_directive("exercises", ExerciseList)
    app.add_directive("symbols", SymbolIndex)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
