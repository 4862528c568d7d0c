"""Previews end with a sentence: what a link shows of the section that it leads to.

sphinx_tippy takes the heading and up to two paragraphs, of which the last often leads to a formula
or a list that is left out. It parses each page for them. Code cells and tables without links hold
no preview and are the largest part of a page, so it does not get to see their text.
"""

import re

from bs4 import BeautifulSoup, NavigableString

CELL = re.compile(r'(<div class="highlight-(?:ipython3|myst-ansi) .*?<pre>).*?(?=</pre>)', re.S)
TABLE = re.compile(r"<tbody>((?!<a ).)*?</tbody>", re.S)
WHOLE = "whole_body"  # of a page's context
END = re.compile(r"[.?!][)\N{RIGHT DOUBLE QUOTATION MARK}]?(?=\s|$)")


def last_end(paragraph):
    """Return the piece of text in which the last sentence ends, and where in it; else None."""
    for piece in reversed([one for one in paragraph.children if isinstance(one, NavigableString)]):
        ends = [found.end() for found in END.finditer(piece)]
        if ends:
            return piece, ends[-1]
    return None


def whole_sentences(html):
    """Return a preview without the sentence that nothing ends."""
    body = BeautifulSoup(html, "html.parser")
    paragraphs = body.find_all("p", recursive=False)
    if not paragraphs or END.search(paragraphs[-1].get_text().rstrip()[-2:]):
        return html
    last = paragraphs[-1]
    if place := last_end(last):
        piece, end = place
        for later in list(piece.next_siblings):
            later.extract()
        piece.replace_with(piece[:end])
    elif len(paragraphs) > 1:
        last.decompose()
    return str(body)


def mend(app, error):
    """Mend the previews of all pages before they are written."""
    if error or app.builder.format != "html":
        return
    for page in getattr(app.env, "tippy_data", {"pages": {}})["pages"].values():
        shown = page["id_to_html"]
        for name, html in shown.items():
            if html.startswith(("<h1", "<h2", "<h3", "<h4")):
                shown[name] = whole_sentences(html)


def hide(app, pagename, templatename, context, doctree):
    """Take the text of code cells, and of tables without links, out of a page."""
    if doctree:
        context[WHOLE] = context["body"]
        context["body"] = TABLE.sub("", CELL.sub(r"\1", context["body"]))


def show(app, pagename, templatename, context, doctree):
    """Put the whole body of the page back."""
    if doctree:
        context["body"] = context.pop(WHOLE)


def setup(app):
    """Register around sphinx_tippy, which reads and writes at the default priority of 500."""
    app.connect("html-page-context", hide, priority=499)
    app.connect("html-page-context", show, priority=501)
    app.connect("build-finished", mend, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
