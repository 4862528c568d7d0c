"""Write one deck of slides per chapter, and an index of the decks, from the notebooks.

Usage: python tools/slides.py [_build/slides [chapter ...]]

The metadata `slides` of a cell lists the slides that are made from it:

    [{"title": "The dual", "points": ["one unknown per point"], "show": ["eq-dual"],
      "notes": "Why is every value of D a lower bound?"}]

`show` names parts of a text cell: the labels of formulas, theorems, tables and exercises, a
fragment of an unlabelled formula after a dollar sign, or "summary" for the box of the summary. Of a code cell it
shows "code", "output" or both; without `show`, a slide has the output, and the code unless it is
hidden on the page. The first slide is made from the title and the question of the chapter.
"""

import html
import json
import re
import shutil
import sys
from pathlib import Path
from string import Template
from urllib.parse import quote, unquote

import nbformat
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from chapters import chapters  # noqa: E402

TARGET = ROOT / "_build" / "slides"
SOURCES = ROOT / "tools" / "decks"
CODE = HtmlFormatter(style="a11y-high-contrast-light", nowrap=True)
SVG_SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
TABLE = re.compile(r"<table>.*</table>", re.S)
RICH = ("image/svg+xml", "text/html", "text/markdown")
TALL = 1.7  # narrower figures stand beside the points
# Directives: fence, name, title, options and body.
BLOCK = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ ]*(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)(?:(?P<body>.*?)\n)??(?P=fence)$",
    re.M | re.S,
)
EXERCISE = re.compile(
    r"^```\{exercise-start\}[ ]*(?P<title>[^\n]*)\n:label: (?P<label>\S+)\n.*?^```\n"
    r"(?P<body>.*?)\n```\{exercise-end\}",
    re.M | re.S,
)
DISPLAYED = re.compile(r"^\$\$\n?(?P<tex>.*?)\n?\$\$(?: \((?P<label>[\w-]+)\))?$", re.M | re.S)
HEADING = re.compile(r"^\((?P<label>[\w-]+)\)=\n+#+ (?P<title>.*)$", re.M)
TITLE = re.compile(r"^# (.*)$", re.M)
QUESTION = re.compile(r"^\*([^*].*)\*$", re.M)


def label_of(block):
    """Return the label or the name in the options of a directive, or None."""
    found = re.search(r"^:(?:label|name): (\S+)", block["options"], re.M)
    return found and found[1]


def numbered_in(cell):
    """Yield kind and label of everything in a cell that the book numbers, in order."""
    if cell.cell_type == "code":
        name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
        if name:
            yield ("Table" if name.startswith("tab-") else "Figure"), name
        return
    kinds = {"math": "", "explorable": "Figure", "table": "Table", "exercise-start": "Exercise"}
    kinds["prf:theorem"] = "Theorem"
    found = [
        (block.start(), kinds[block["name"]], label_of(block))
        for block in BLOCK.finditer(cell.source)
        if block["name"] in kinds
    ]
    found += [(match.start(), "", match["label"]) for match in DISPLAYED.finditer(cell.source)]
    for _, kind, label in sorted(found, key=lambda entry: entry[0]):
        if label:
            yield kind, label


class References:
    """The texts of references to labels and pages: "Figure 2.3", "(2.3)", or a title."""

    def __init__(self):
        self.texts, self.titles = {}, {}
        for path in [*ROOT.glob("book/*.md"), *ROOT.glob("notebooks/**/*.ipynb")]:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".ipynb":
                cells = nbformat.reads(text, as_version=4).cells
                text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
            self.texts.update((found["label"], found["title"]) for found in HEADING.finditer(text))
            if title := TITLE.search(text):
                self.titles[path.with_suffix("")] = title[1]
        for number, chapter in enumerate(chapters(ROOT), start=1):
            counts = {}
            for cell in nbformat.read(chapter.path, as_version=4).cells:
                for kind, label in numbered_in(cell):
                    counts[kind] = counts.get(kind, 0) + 1
                    place = f"{number}.{counts[kind]}"
                    self.texts[label] = f"{kind} {place}" if kind else f"({place})"

    def resolve(self, role, content):
        """Return the text that stands for a role, as HTML."""
        explicit = re.fullmatch(r"(.*?)\s*<([^>]*)>", content, re.S)
        if role in ("func", "class"):
            return f"<code>{html.escape(content.rsplit('.', 1)[-1].strip('~'))}</code>"
        if explicit or role == "term":
            return html.escape(explicit[1] if explicit else content)
        if role == "doc":
            page = (ROOT / "notebooks" / content).resolve()
            return f"<em>{html.escape(self.titles[page])}</em>"
        if role in ("ref", "numref", "eq", "prf:ref"):
            return html.escape(self.texts[content])
        raise ValueError(f"a slide cannot show the role {{{role}}}`{content}`")


class Writer:
    """Turns Markdown and cells into HTML."""

    def __init__(self, references):
        self.references = references
        self.markdown = MarkdownIt("commonmark", {"typographer": True}).enable(
            ["table", "smartquotes"]
        )
        self.markdown.use(dollarmath_plugin, renderer=self.formula).use(myst_role_plugin)
        self.markdown.renderer.rules |= {
            "myst_role": self.role,
            "fence": self.fence,
            "math_block_label": self.labelled,
        }

    def formula(self, tex, options):
        start, end = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
        return start + html.escape(tex.strip(), quote=False) + end

    def role(self, tokens, index, options, env):
        return self.references.resolve(tokens[index].meta["name"], tokens[index].content)

    def fence(self, tokens, index, options, env):
        token = tokens[index]
        if token.info.strip() == "{math}":
            return self.equation(
                *re.fullmatch(r"(?::label: (\S+)\n)?(.*)", token.content, re.S).groups()
            )
        return f"<pre>{highlight(token.content, PythonLexer(), CODE)}</pre>"

    def labelled(self, tokens, index, options, env):
        return self.equation(tokens[index].info, tokens[index].content)

    def equation(self, label, tex):
        """Return a displayed formula with its number in the book."""
        tag = rf" \tag{{{self.references.texts[label].strip('()')}}}" if label else ""
        return f'<div class="formula">{self.formula(tex + tag, {"display_mode": True})}</div>'

    def text(self, source):
        return self.markdown.render(source)

    def inline(self, source):
        return self.markdown.renderInline(source)

    def part(self, cell, name):
        """Return the part of a text cell that `show` names."""
        for block in BLOCK.finditer(cell.source):
            if block["name"] == "math" and label_of(block) == name:
                return self.equation(name, block["body"])
            if block["name"].startswith("prf:") and label_of(block) == name:
                kind = self.references.texts[name]
                return self.box(f"{kind} ({self.inline(block['title'])})", block["body"])
            if block["name"] == "table" and label_of(block) == name:
                return f"<figure>{self.text(block['body'])}</figure>"
            if name == "summary" and ":class: summary" in block["options"]:
                return self.box("", block["body"], "summary")
        for exercise in EXERCISE.finditer(cell.source):
            if exercise["label"] == name:
                title = f"{self.references.texts[name]} ({self.inline(exercise['title'])})"
                return self.box(title, exercise["body"])
        for formula in DISPLAYED.finditer(cell.source):
            if formula["label"] == name or (name[0] == "$" and name[1:] in formula["tex"]):
                return self.equation(formula["label"], formula["tex"])
        raise ValueError(f"no part {name!r} in the cell {cell.source[:60]!r}")

    def box(self, title, body, kind="box"):
        heading = f"<p><strong>{title}.</strong></p>" if title else ""
        return f'<div class="{kind}">{heading}{self.text(body)}</div>'

    def code(self, cell, shown):
        """Return code and output of a code cell."""
        is_hidden = {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", ()))
        shown = shown or (["output"] if is_hidden else ["code", "output"])
        parts = []
        if "code" in shown:
            parts.append(f"<pre>{highlight(cell.source, PythonLexer(), CODE)}</pre>")
        if "output" in shown:
            rich = [output for output in cell.outputs if set(output.get("data", ())) & {*RICH}]
            outputs = rich if rich and is_hidden else cell.outputs
            parts += [self.output(cell, output) for output in outputs]
        return "".join(parts)

    def output(self, cell, output):
        """Return one output: a figure, a table, or text."""
        data, settings = output.get("data", {}), cell.metadata.get("mystnb", {})
        name = settings.get("figure", {}).get("name")
        number = f"<figcaption>{self.references.texts[name]}</figcaption>" if name else ""
        if "image/svg+xml" in data:
            svg = data["image/svg+xml"]
            alt = html.escape(settings.get("image", {}).get("alt", ""))
            picture = f'<img src="data:image/svg+xml,{quote(svg)}" alt="{alt}">'
            return f"<figure>{picture}{number}</figure>"
        if "text/html" in data:
            return f"<figure>{data['text/html']}{number}</figure>"
        if "text/markdown" in data:
            table = TABLE.search(self.text(data["text/markdown"]))[0]  # without its footnotes
            return f"<figure>{table}{number}</figure>"
        text = output.get("text") or data.get("text/plain", "")
        return f'<pre class="output">{html.escape(text.rstrip())}</pre>'

    def slide(self, cell, slide):
        """Return a slide of a cell."""
        shown = slide.get("show", [])
        if cell.cell_type == "code":
            content = self.code(cell, shown)
        else:
            content = "".join(self.part(cell, name) for name in shown)
        points = "".join(f"<li>{self.inline(point)}</li>" for point in slide.get("points", ()))
        points = f"<ul>{points}</ul>" if points else ""
        layout = "beside" if points and is_tall(content) else "below"
        return section(
            f"<h2>{self.inline(slide['title'])}</h2>"
            f'<div class="{layout}">{points}{content and f"<div class=shown>{content}</div>"}</div>',
            self.text(slide["notes"]),
        )


def is_tall(content):
    """Return whether a slide shows a single figure that is not much wider than high."""
    start = re.match(r'<figure>(?:<div class="moving">)?<img src="data:image/svg\+xml,', content)
    size = start and SVG_SIZE.search(unquote(content[start.end() : start.end() + 3000]))
    return bool(size) and float(size[1]) < TALL * float(size[2])


def section(content, notes="", kind=""):
    aside = f'<aside class="notes">{notes}</aside>' if notes else ""
    return f'<section><div class="frame {kind}">{content}</div>{aside}</section>\n'


def slides_of(path):
    """Return the pairs of cell and slide that are marked in a notebook, in order."""
    cells = nbformat.read(path, as_version=4).cells
    return [(cell, slide) for cell in cells for slide in cell.metadata.get("slides", ())]


def deck(writer, number, chapter, book):
    """Return the title and the slides of a chapter."""
    first = nbformat.read(chapter.path, as_version=4).cells[0].source
    title = writer.inline(TITLE.search(first)[1])
    cover = section(
        f"<p>{html.escape(book)}</p><h1>{number}. {title}</h1>"
        f"<p><em>{writer.inline(QUESTION.search(first)[1])}</em></p>",
        kind="cover",
    )
    slides = [writer.slide(cell, slide) for cell, slide in slides_of(chapter.path)]
    return title, [cover, *slides]


def main(target=TARGET, *only):
    target = Path(target)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(SOURCES / "vendor", target / "vendor")
    shutil.copytree(ROOT / "book" / "_vendor" / "mathjax", target / "vendor" / "mathjax")
    style = (SOURCES / "deck.css").read_text(encoding="utf-8") + CODE.get_style_defs("pre")
    (target / "deck.css").write_text(style, encoding="utf-8")
    shutil.copy(SOURCES / "deck.js", target)
    mathjax = json.dumps(config["sphinx"]["config"]["mathjax3_config"])
    template = Template((SOURCES / "deck.html").read_text(encoding="utf-8"))
    writer, rows = Writer(References()), []
    for number, chapter in enumerate(chapters(ROOT), start=1):
        if only and chapter.name not in only:
            continue
        title, slides = deck(writer, number, chapter, config["title"])
        page = template.substitute(title=title, slides="".join(slides), mathjax=mathjax)
        (target / f"{chapter.name}.html").write_text(page, encoding="utf-8")
        rows.append(
            f'<tr><td>{number}</td><td><a href="{chapter.name}.html">{title}</a></td>'
            f'<td>{len(slides)}</td><td><a href="{chapter.name}.html?print-pdf">to print</a></td></tr>'
        )
    template = Template((SOURCES / "index.html").read_text(encoding="utf-8"))
    index = template.substitute(title=html.escape(config["title"]), rows="\n".join(rows))
    (target / "index.html").write_text(index, encoding="utf-8")
    print(f"{target}: {len(rows)} decks")


if __name__ == "__main__":
    main(*sys.argv[1:])
