"""Previews of links: end them with a complete sentence, compute them faster, add them later.

A preview of sphinx_tippy is the heading and up to two paragraphs of a section. The last paragraph
often introduces a formula or list that is omitted. sphinx_tippy parses each page. Code cells and
tables without links are the largest part of a page but need no previews, so they are hidden from
sphinx_tippy. The browser adds the previews to the links at the reader's first interaction, not
while the page loads.
"""

import re
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString

CODE_CELL = re.compile(
    r'(<div class="highlight-(?:ipython3|myst-ansi) .*?<pre>).*?(?=</pre>)', re.S
)
TABLE_WITHOUT_LINKS = re.compile(r"<tbody>((?!<a ).)*?</tbody>", re.S)
ONLOAD_START = "window.onload = function () {"
WHOLE_BODY_KEY = "whole_body"  # key in the context of a page
SENTENCE_END = re.compile(r"[.?!][)\N{RIGHT DOUBLE QUOTATION MARK}]?(?=\s|$)")


def last_sentence_end(paragraph):
    """Return the text in which the last complete sentence ends and its position, or None."""
    for text in reversed([t for t in paragraph.children if isinstance(t, NavigableString)]):
        ends = [match.end() for match in SENTENCE_END.finditer(text)]
        if ends:
            return text, ends[-1]
    return None


def remove_incomplete_sentence(html):
    """Return a preview without an incomplete last sentence."""
    preview = BeautifulSoup(html, "html.parser")
    paragraphs = preview.find_all("p", recursive=False)
    if not paragraphs or SENTENCE_END.search(paragraphs[-1].get_text().rstrip()[-2:]):
        return html
    last_paragraph = paragraphs[-1]
    if found := last_sentence_end(last_paragraph):
        text, end = found
        for sibling in list(text.next_siblings):
            sibling.extract()
        text.replace_with(text[:end])
    elif len(paragraphs) > 1:
        last_paragraph.decompose()
    return str(preview)


def trim_previews(app, error):
    """Remove incomplete sentences from the previews of all pages before they are written."""
    if error or app.builder.format != "html":
        return
    for page in getattr(app.env, "tippy_data", {"pages": {}})["pages"].values():
        previews = page["id_to_html"]
        for anchor, html in previews.items():
            if html.startswith(("<h1", "<h2", "<h3", "<h4")):
                previews[anchor] = remove_incomplete_sentence(html)


def hide_code_and_tables(app, pagename, templatename, context, doctree):
    """Remove the text of code cells, and of tables without links, from a page."""
    if doctree:
        context[WHOLE_BODY_KEY] = context["body"]
        context["body"] = TABLE_WITHOUT_LINKS.sub("", CODE_CELL.sub(r"\1", context["body"]))


def restore_body(app, pagename, templatename, context, doctree):
    """Restore the whole body of a page."""
    if doctree:
        context["body"] = context.pop(WHOLE_BODY_KEY)


def delay_previews(app, error):
    """Delay the scripts of sphinx_tippy until `typeset.js` resolves its promise `firstAction`."""
    for path in Path(app.outdir).glob("_static/tippy/**/*.js"):
        before, start, after = path.read_text(encoding="utf-8").partition(ONLOAD_START)
        if start:
            function_body = after.rstrip().removesuffix("};")
            path.write_text(
                f"{before}firstAction.then(function () {{{function_body}}});\n", "utf-8"
            )


def setup(app):
    """Register before and after sphinx_tippy, which has the default priority of 500."""
    app.connect("html-page-context", hide_code_and_tables, priority=499)
    app.connect("html-page-context", restore_body, priority=501)
    app.connect("build-finished", trim_previews, priority=400)
    app.connect("build-finished", delay_previews, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
