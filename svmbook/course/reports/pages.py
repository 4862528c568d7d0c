"""HTML pages of feedback and reports, each one self-contained file.

Text written by students is shown but never executed: a page has no scripts, and its security policy
forbids loading anything from outside it. Formulas are MathML, which browsers render themselves.
"""

import re
from html import escape
from xml.etree import ElementTree

import mistune
from latex2mathml.converter import convert
from mistune.plugins.math import math
from mistune.plugins.table import table
from nbconvert.filters import strip_ansi
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

__all__ = ["render_code", "render_markdown", "render_page", "render_text"]

MAX_MARKDOWN_LENGTH = 50_000  # characters; longer texts are shown without rendering
SECURITY_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; "
    "base-uri 'none'"
)
# Characters; longer formulas and longer code are shown without rendering.
MAX_FORMULA_LENGTH, MAX_CODE_LENGTH = 2_000, 20_000
MATHML_TAG = re.compile(
    r"math|m(i|n|o|s|text|space|row|frac|sqrt|root|style|padded|phantom|fenced|enclose|sub|sup"
    r"|subsup|under|over|underover|multiscripts|table|tr|td|labeledtr|prescripts)"
)
# latex2mathml cannot read a size command, such as \big, before another command.
SIZE_COMMAND = re.compile(r"\\[Bb]igg?[lmr]?(?=\s*\\)")
CODE_STYLES = ("default", "github-dark")  # colours of code in the light and the dark theme
PAGE_CSS = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: 0.6rem 0.8rem; background: var(--soft); font-size: 0.85rem; }
div.code { background: none; }
pre.error { border-left: 4px solid #c33; }
table { border-collapse: collapse; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left; }
h1 { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.item { border: 1px solid var(--line); border-radius: 4px; padding: 0 0.8rem; margin: 1rem 0; }
.item > h3 { margin: 0.4rem 0; font-size: 1rem; }
.scroll { overflow-x: auto; }
img, svg { max-width: 100%; height: auto; }
math[display="block"] { margin: 0.8rem 0; }
"""


class _Renderer(mistune.HTMLRenderer):
    """Renderer of untrusted Markdown: tags are escaped, and images are not loaded."""

    def __init__(self):
        super().__init__(escape=True)

    def image(self, text, url, title=None):
        return f"[{escape(text or 'image')}]"

    def inline_math(self, text):
        return _render_formula(text, "inline")

    def block_math(self, text):
        return _render_formula(text, "block")

    def block_code(self, code, info=None):
        return render_text(code)


def _render_formula(tex, display):
    """Return a formula as MathML, or its source if it cannot be converted or is unsafe."""
    source = f"<code>{escape(tex)}</code>"
    if len(tex) > MAX_FORMULA_LENGTH or "\\newcommand" in tex or "\\def" in tex:
        return source
    try:
        root = ElementTree.fromstring(convert(SIZE_COMMAND.sub("", tex), display=display))
    except Exception:  # the converter may raise anything for an untrusted formula
        return source
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        if not MATHML_TAG.fullmatch(tag) or not element.attrib.keys().isdisjoint(("href", "src")):
            return source
        element.tag = tag
    formula = ElementTree.tostring(root, encoding="unicode")
    return f'<div class="scroll">{formula}</div>' if display == "block" else formula


_convert_markdown = mistune.create_markdown(renderer=_Renderer(), plugins=[table, math])


def render_markdown(text):
    """Return Markdown as HTML.

    Examples
    --------
    >>> from svmbook.course.reports.pages import render_markdown
    >>> render_markdown("a <b>c</b>").strip()
    '<p>a &lt;b&gt;c&lt;/b&gt;</p>'
    """
    return _convert_markdown(text) if len(text) <= MAX_MARKDOWN_LENGTH else render_text(text)


def render_code(text):
    """Return Python code as HTML with syntax highlighting."""
    if len(text) > MAX_CODE_LENGTH:
        return render_text(text)
    text = "\n".join(map(str.rstrip, text.split("\n")))  # trailing spaces slow pygments down
    return highlight(text, PythonLexer(), HtmlFormatter(cssclass="code"))


def render_text(text, css_class=""):
    """Return a text of any length as preformatted HTML, without terminal colour codes."""
    return f'<pre class="{css_class}">{escape(strip_ansi(text))}</pre>'


def render_page(title, body):
    """Return a complete HTML page."""
    light, dark = (HtmlFormatter(style=style).get_style_defs(".code") for style in CODE_STYLES)
    css = f"{PAGE_CSS}{light}@media (prefers-color-scheme: dark) {{ {dark} }}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{SECURITY_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{css}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>\n{body}</main></body></html>\n"
    )
