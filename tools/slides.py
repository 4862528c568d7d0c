"""Write one slide deck per chapter, and an index of the decks, from the notebooks.

Usage: python tools/slides.py [_build/slides [chapter ...]]

The metadata `slides` of a cell lists the slides that are made from it:

    [{"title": "The dual", "points": ["one unknown per point"], "show": ["eq-dual"],
      "notes": "Why is every value of D a lower bound?"}]

`show` names parts of a text cell: the labels of formulas, theorems, tables and exercises, a
fragment of an unlabelled formula after a dollar sign, or "summary" for the box of the summary. Of
a code cell it names "code", "output" or both; without `show`, a slide has the output, and the code
unless it is hidden on the page. The first slide is made from the title and the question of the
chapter, and `notes` are the speaker's notes.
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
from cross_references import (
    DIRECTIVE,
    DISPLAYED_FORMULA,
    ROOT,
    TITLE,
    CrossReferences,
    label_of,
    read_chapters,
)
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

DEFAULT_OUTPUT = ROOT / "_build" / "slides"
TEMPLATE_FOLDER = ROOT / "tools" / "decks"
CODE_FORMATTER = HtmlFormatter(style="a11y-high-contrast-light", nowrap=True)
SVG_SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
TABLE = re.compile(r"<table>.*</table>", re.S)
RICH_MIME_TYPES = ("image/svg+xml", "text/html", "text/markdown")
PANELS = re.compile(r'data-panels="([^"]*)"')
MAX_NARROW_RATIO = 1.7  # of width to height, up to which a figure stands beside the points
MIN_PANELS_RATIO = 1.15  # of height to width, from which panels are put side by side
PANELS_SIZE = 1140, 460  # pixels, width and height of all these panels together
EXERCISE = re.compile(
    r"^```\{exercise-start\}[ ]*(?P<title>[^\n]*)\n:label: (?P<label>\S+)\n.*?^```\n"
    r"(?P<body>.*?)\n```\{exercise-end\}",
    re.M | re.S,
)
QUESTION = re.compile(r"^\*([^*].*)\*$", re.M)


class SlideRenderer:
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
            "math_block_label": self.labelled_equation,
        }

    def formula(self, tex, options):
        start, end = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
        return start + html.escape(tex.strip(), quote=False) + end

    def role(self, tokens, index, options, env):
        token = tokens[index]
        return self.inline(self.references.resolve(token.meta["name"], token.content))

    def fence(self, tokens, index, options, env):
        token = tokens[index]
        if token.info.strip() == "{math}":
            return self.equation(
                *re.fullmatch(r"(?::label: (\S+)\n)?(.*)", token.content, re.S).groups()
            )
        return f"<pre>{highlight(token.content, PythonLexer(), CODE_FORMATTER)}</pre>"

    def labelled_equation(self, tokens, index, options, env):
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
        for block in DIRECTIVE.finditer(cell.source):
            if block["name"] == "math" and label_of(block) == name:
                return self.equation(name, block["body"])
            if block["name"].startswith("prf:") and label_of(block) == name:
                reference = self.references.texts[name]
                return self.box(f"{reference} ({self.inline(block['title'])})", block["body"])
            if block["name"] == "table" and label_of(block) == name:
                return f"<figure>{self.text(block['body'])}</figure>"
            if name == "summary" and ":class: summary" in block["options"]:
                return self.box("", block["body"], "summary")
        for exercise in EXERCISE.finditer(cell.source):
            if exercise["label"] == name:
                title = f"{self.references.texts[name]} ({self.inline(exercise['title'])})"
                return self.box(title, exercise["body"])
        formulas = [
            formula
            for formula in DISPLAYED_FORMULA.finditer(cell.source)
            if formula["label"] == name or (name[0] == "$" and name[1:] in formula["tex"])
        ]
        if len(formulas) == 1:
            return self.equation(formulas[0]["label"], formulas[0]["tex"])
        raise ValueError(
            f"{name!r} names no part, or several formulas, of the cell {cell.source[:60]!r}"
        )

    def box(self, title, body, css_class="box"):
        heading = f"<p><strong>{title}.</strong></p>" if title else ""
        return f'<div class="{css_class}">{heading}{self.text(body)}</div>'

    def code_cell(self, cell, shown):
        """Return the code, the output, or both, of a code cell."""
        is_hidden = {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", ()))
        shown = shown or (["output"] if is_hidden else ["code", "output"])
        parts = []
        if "code" in shown:
            parts.append(f"<pre>{highlight(cell.source, PythonLexer(), CODE_FORMATTER)}</pre>")
        if "output" in shown:
            rich_outputs = [
                output
                for output in cell.outputs
                if set(output.get("data", ())) & {*RICH_MIME_TYPES}
            ]
            outputs = rich_outputs if rich_outputs and is_hidden else cell.outputs
            parts += [self.output(cell, output) for output in outputs]
        return "".join(parts)

    def output(self, cell, output):
        """Return one output: a figure, a table, or text."""
        data, settings = output.get("data", {}), cell.metadata.get("mystnb", {})
        name = settings.get("figure", {}).get("name")
        caption = f"<figcaption>{self.references.texts[name]}</figcaption>" if name else ""
        if "image/svg+xml" in data:
            alt = html.escape(settings.get("image", {}).get("alt", ""))
            return f"<figure>{picture(data['image/svg+xml'], alt)}{caption}</figure>"
        if "text/html" in data:
            return f"<figure>{data['text/html']}{caption}</figure>"
        if "text/markdown" in data:
            table = TABLE.search(self.text(data["text/markdown"]))[0]  # without its footnotes
            return f"<figure>{table}{caption}</figure>"
        text = output.get("text") or data.get("text/plain", "")
        return f'<pre class="output">{html.escape(text.rstrip())}</pre>'

    def slide(self, cell, metadata):
        """Return the slide of a cell that an entry of its metadata `slides` describes."""
        shown = metadata.get("show", [])
        if cell.cell_type == "code":
            content = self.code_cell(cell, shown)
        else:
            content = "".join(self.part(cell, name) for name in shown)
        points = "".join(f"<li>{self.inline(point)}</li>" for point in metadata.get("points", ()))
        points = f"<ul>{points}</ul>" if points else ""
        layout = "beside" if points and is_narrow_figure(content) else "below"
        content = f'<div class="shown">{content}</div>' if content else ""
        title = f"<h2>{self.inline(metadata['title'])}</h2>"
        body = f'{title}<div class="{layout}">{points}{content}</div>'
        return slide_html(body, self.text(metadata["notes"]))


def picture(svg, alt):
    """Return a drawing as HTML; the panels of a tall drawing are put side by side."""
    source = f"data:image/svg+xml,{quote(svg)}"
    width, height = (float(length) for length in SVG_SIZE.search(svg).groups())
    panels_attribute = PANELS.search(svg)
    box_texts = panels_attribute[1].split(",") if panels_attribute else ()
    boxes = [[float(x) for x in text.split()] for text in box_texts]
    # What lies below the last panel, such as a legend, belongs to no panel.
    panels_reach_bottom = bool(boxes) and boxes[-1][1] + boxes[-1][3] > 0.95
    if len(boxes) < 3 or not panels_reach_bottom or height < MIN_PANELS_RATIO * width:
        return f'<img src="{source}" alt="{alt}">'
    columns, rows = 3, -(-len(boxes) // 3)
    max_width, max_height = (max(box[k] for box in boxes) for k in (2, 3))
    scale = min(
        PANELS_SIZE[0] / (columns * max_width * width),
        PANELS_SIZE[1] / (rows * max_height * height),
    )
    panels = "".join(
        f'<span style="width: {scale * w * width:.0f}px; height: {scale * h * height:.0f}px; '
        f"background-size: {100 / w:.2f}% {100 / h:.2f}%; "
        f'background-position: {100 * x / (1 - w):.2f}% {100 * y / (1 - h):.2f}%"></span>'
        for x, y, w, h in boxes
    )
    style = f"--columns: {columns}; --drawing: url('{source}')"
    return f'<div class="panels" role="img" aria-label="{alt}" style="{style}">{panels}</div>'


def is_narrow_figure(content):
    """Return whether a slide shows a single figure that is not much wider than tall."""
    start = re.match(
        r'<figure>(?:<div class="slider-figure">)?<img src="data:image/svg\+xml,', content
    )
    size = start and SVG_SIZE.search(unquote(content[start.end() : start.end() + 3000]))
    return bool(size) and float(size[1]) < MAX_NARROW_RATIO * float(size[2])


def slide_html(content, notes="", css_class=""):
    """Return a slide and its notes as reveal.js expects them."""
    aside = f'<aside class="notes">{notes}</aside>' if notes else ""
    return f'<section><div class="frame {css_class}">{content}</div>{aside}</section>\n'


def deck(renderer, number, chapter, book_title):
    """Return the title and the slides of a chapter."""
    cells = nbformat.read(chapter.path, as_version=4).cells
    first = cells[0].source
    title = renderer.inline(TITLE.search(first)[1])
    cover = slide_html(
        f"<p>{html.escape(book_title)}</p><h1>{number}. {title}</h1>"
        f"<p><em>{renderer.inline(QUESTION.search(first)[1])}</em></p>",
        css_class="cover",
    )
    slides = [
        renderer.slide(cell, metadata)
        for cell in cells
        for metadata in cell.metadata.get("slides", ())
    ]
    return title, [cover, *slides]


def main(target=DEFAULT_OUTPUT, *names):
    target = Path(target)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(TEMPLATE_FOLDER / "vendor", target / "vendor")
    shutil.copytree(ROOT / "book" / "_vendor" / "mathjax", target / "vendor" / "mathjax")
    style = (TEMPLATE_FOLDER / "deck.css").read_text(encoding="utf-8")
    style += CODE_FORMATTER.get_style_defs("pre")
    (target / "deck.css").write_text(style, encoding="utf-8")
    shutil.copy(TEMPLATE_FOLDER / "deck.js", target)
    mathjax = json.dumps(config["sphinx"]["config"]["mathjax3_config"])
    template = Template((TEMPLATE_FOLDER / "deck.html").read_text(encoding="utf-8"))
    renderer, rows = SlideRenderer(CrossReferences()), []
    for number, chapter in enumerate(read_chapters(ROOT), start=1):
        if names and chapter.name not in names:
            continue
        title, slides = deck(renderer, number, chapter, config["title"])
        page = template.substitute(title=title, slides="".join(slides), mathjax=mathjax)
        file = f"{chapter.name}.html"
        (target / file).write_text(page, encoding="utf-8")
        entries = (
            number,
            f'<a href="{file}">{title}</a>',
            len(slides),
            f'<a href="{file}?print-pdf">print</a>',
        )
        cells = "".join(f"<td>{entry}</td>" for entry in entries)
        rows.append(f"<tr>{cells}</tr>")
    template = Template((TEMPLATE_FOLDER / "index.html").read_text(encoding="utf-8"))
    index = template.substitute(title=html.escape(config["title"]), rows="\n".join(rows))
    (target / "index.html").write_text(index, encoding="utf-8")
    print(f"{target}: {len(rows)} decks")


if __name__ == "__main__":
    main(*sys.argv[1:])
