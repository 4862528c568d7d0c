"""Print the built book to one PDF: a title page, a table of contents, all pages, and all solutions.

Usage: python tools/pdf.py [_build/svmbook.pdf [page ...]]

Chromium prints each page of the book, with continuous page numbers. The prints are then merged:
links between pages become links within the file, the headings become its outline, and the tags of
the prints become one tree of tags.

A PDF made by LaTeX (651 pages) would lack the 59 figures that are SVG drawings. Its tables and
listings would overflow the page, and its solutions would follow their exercises.
"""

import html
import io
import sys
from dataclasses import dataclass, field
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from built_pages import (
    COVER_STYLE,
    COVER_TEMPLATE,
    HTML,
    ROOT,
    TEXT_WIDTH,
    browser_tab,
    open_page,
    parse_link,
    read_configuration,
    read_contents,
)
from pdf_tags import merge_tags
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject, TextStringObject

DEFAULT_OUTPUT = ROOT / "_build" / "svmbook.pdf"
PAGE_STYLE_TEMPLATE = """
@page {
  size: A4; margin: 18mm 17mm 20mm;
  @bottom-center { content: counter(page, %s); font-size: 9pt }
}
html { counter-reset: page %d; }
"""
# Load all formulas, pictures and fonts, and shrink boxes that are wider than the text.
PREPARE_FOR_PRINT = """async textWidth => {
  dispatchEvent(new Event("scroll"));
  for (const image of document.querySelectorAll("img")) image.loading = "eager";
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
  const boxes = "div.math mjx-container, .bd-article table, .bd-article svg.whole";
  for (const box of document.querySelectorAll(boxes)) {
    const width = box.scrollWidth || box.getBoundingClientRect().width;
    const available = Math.min(textWidth, box.parentElement.clientWidth || textWidth);
    if (width > available + 1) box.style.zoom = available / width;
  }
}"""
# Chromium writes a named destination only for targets of links on the same page, so invisible links
# to the targets of other pages' links are added.
ADD_LINKS = """anchors => {
  const links = document.createElement("p");
  links.style.cssText = "font-size: 1px; line-height: 1px; color: transparent";
  for (const anchor of anchors) {
    if (!document.getElementById(anchor)) continue;
    const link = document.createElement("a");
    link.href = `#${anchor}`;
    link.textContent = ".";
    links.append(link);
  }
  document.querySelector(".bd-article").append(links);
}"""
KEEP_ONLY_SOLUTIONS = """title => {
  const article = document.querySelector(".bd-article");
  const solutions = [...article.querySelectorAll("details.solution")];
  const heading = document.createElement("h1");
  heading.textContent = title;
  for (const solution of solutions) solution.open = true;
  article.replaceChildren(heading, ...solutions);
  return solutions.length;
}"""
FRONT_MATTER_TEMPLATE = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>{style}
h2 {{ font-size: 12pt; margin: 5mm 0 1mm; }}
p {{ margin: 0; display: flex; gap: 2mm; }}
p span {{ flex: 1; }}
p.section {{ padding-left: 8mm; font-size: 10pt; }}
a {{ color: inherit; text-decoration: none; }}
</style>
{cover}
<h1>Contents</h1>{entries}"""
# The texts of all headings, with formulas as MathML text.
HEADING_TITLES = """() => [...document.querySelectorAll(
  ".bd-article :is(h1, h2, h3, h4, h5, h6)")].map(heading => {
  const copy = heading.cloneNode(true);
  copy.querySelectorAll(".headerlink").forEach(link => link.remove());
  for (const formula of copy.querySelectorAll("mjx-container")) {
    formula.replaceWith(formula.querySelector("mjx-assistive-mml")?.textContent ?? "");
  }
  return copy.textContent.replace(/\\s+/g, " ").trim();
})"""


@dataclass
class PrintedPage:
    """A page of the book, or the solutions of a page, as a PDF.

    Indices of PDF pages count from the page after the front matter.
    """

    name: str
    reader: PdfReader
    first_page_index: int
    part: str = ""
    titles: list = field(default_factory=list)  # of all headings, in order
    headings: list = field(default_factory=list)  # (title, index of its PDF page, level)


def linked_anchors(names, site):
    """Return for each page the anchors that other pages link to."""
    anchors = {name: set() for name in names}
    for name in names:
        soup = BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for link in soup.select(".bd-article a[href]"):
            target = parse_link(urljoin(f"{site}{name}.html", link["href"]), site)
            page, anchor = target or (name, "")
            if page in anchors and page != name and anchor:
                anchors[page].add(anchor)
    return anchors


def print_tab(tab, style="decimal", offset=0):
    """Return a browser tab as a PDF, with page numbers starting at ``offset + 1``."""
    tab.add_style_tag(content=PAGE_STYLE_TEMPLATE % (style, offset))
    return PdfReader(io.BytesIO(tab.pdf(prefer_css_page_size=True, outline=True, tagged=True)))


def prepare_page(tab, address):
    open_page(tab, address)
    tab.evaluate(PREPARE_FOR_PRINT, TEXT_WIDTH)


def print_pages(tab, site, parts):
    """Return all pages of the book, then all solutions, as PDFs."""
    anchors = linked_anchors([name for _, names in parts for name in names], site)
    printed_pages, names_with_solutions, n_pages = [], [], 0
    for part, names in parts:
        for name in names:
            prepare_page(tab, f"{site}{name}.html")
            tab.evaluate(ADD_LINKS, sorted(anchors[name]))
            if tab.locator("details.solution").count():
                names_with_solutions.append(name)
            titles = tab.evaluate(HEADING_TITLES)
            printed_pages.append(
                PrintedPage(name, print_tab(tab, offset=n_pages), n_pages, part, titles)
            )
            n_pages += len(printed_pages[-1].reader.pages)
            print(f"{name}: {len(printed_pages[-1].reader.pages)} pages", flush=True)
    for name in names_with_solutions:
        prepare_page(tab, f"{site}{name}.html")
        tab.evaluate(KEEP_ONLY_SOLUTIONS, f"Solutions: {tab.evaluate(HEADING_TITLES)[0]}")
        tab.evaluate(PREPARE_FOR_PRINT, TEXT_WIDTH)
        titles, reader = tab.evaluate(HEADING_TITLES), print_tab(tab, offset=n_pages)
        printed_pages.append(PrintedPage(f"{name}/solutions", reader, n_pages, "Solutions", titles))
        n_pages += len(reader.pages)
    return printed_pages


def set_headings(printed_page):
    """Set the headings of the first two levels of a printed page."""
    titles = iter(printed_page.titles)  # the titles in the PDF outline lack formulas

    def walk(items, level):
        for item in items:
            if isinstance(item, list):
                walk(item, level + 1)
                continue
            title = next(titles)
            if level < 2:
                page_index = (
                    printed_page.first_page_index
                    + printed_page.reader.get_destination_page_number(item)
                )
                printed_page.headings.append((title, page_index, level))

    walk(printed_page.reader.outline, 0)


def print_front_matter(tab, site, printed_pages, config):
    """Return the title page and the table of contents as a PDF."""
    entries, part = [], None
    for printed_page in printed_pages:
        if printed_page.part != part and printed_page.part:
            entries.append(f"<h2>{html.escape(printed_page.part)}</h2>")
        part = printed_page.part
        for title, page_index, level in printed_page.headings[: 1 if part == "Solutions" else None]:
            attribute = ' class="section"' if level else ""
            link = f'<a href="{site}page/{page_index}">{page_index + 1}</a>'
            entries.append(f"<p{attribute}><span>{html.escape(title)}</span>{link}</p>")
    content = FRONT_MATTER_TEMPLATE.format(
        title=config["title"],
        cover=COVER_TEMPLATE.format(site=site, **config),
        style=PAGE_STYLE_TEMPLATE % ("lower-roman", 0) + COVER_STYLE,
        entries="".join(entries),
    )
    tab.set_content(content, wait_until="networkidle")
    return print_tab(tab, "lower-roman")


def merge(front_matter, printed_pages, site):
    """Return the complete PDF, with its links, its outline and its tags."""
    writer, n_front_pages = PdfWriter(), len(front_matter.pages)
    readers = [front_matter, *(printed_page.reader for printed_page in printed_pages)]
    for reader in readers:
        writer.append(reader, import_outline=False)
    merge_tags(writer, readers)
    first_pages = {
        printed_page.name: n_front_pages + printed_page.first_page_index
        for printed_page in printed_pages
    }
    destinations = {
        (printed_page.name, name.lstrip("/")): (
            n_front_pages
            + printed_page.first_page_index
            + printed_page.reader.get_destination_page_number(destination),
            destination.top,
        )
        for printed_page in printed_pages
        for name, destination in printed_page.reader.named_destinations.items()
    }
    for page in writer.pages:
        for reference in page.get("/Annots", ()):
            annotation = reference.get_object()
            redirect_link(annotation, writer, site, first_pages, destinations, n_front_pages)
    for printed_page in printed_pages:
        parent = None
        for title, page_index, level in printed_page.headings:
            item = writer.add_outline_item(
                title=title,
                page_number=n_front_pages + page_index,
                parent=parent if level else None,
            )
            parent = parent if level else item
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.add_metadata({"/Title": "Support Vector Machines, from the dual up"})
    return writer


def redirect_link(annotation, writer, site, first_pages, destinations, n_front_pages):
    """Replace a link to a page of the book by a link within the file."""
    link = parse_link(annotation.get("/A", {}).get("/URI", ""), site)
    if link is None:
        return
    if link[0].startswith("page/"):
        target_index, top = n_front_pages + int(link[0].removeprefix("page/")), None
    else:
        target_index, top = destinations.get(link, (first_pages.get(link[0]), None))
    del annotation["/A"]
    if target_index is not None:
        vertical = NullObject() if top is None else FloatObject(top)
        fit = [NameObject("/XYZ"), NullObject(), vertical, NullObject()]
        annotation[NameObject("/Dest")] = ArrayObject(
            [writer.pages[target_index].indirect_reference, *fit]
        )


def main(path=DEFAULT_OUTPUT, *names):
    with browser_tab() as (tab, site):
        printed_pages = print_pages(tab, site, read_contents(names))
        for printed_page in printed_pages:
            set_headings(printed_page)
        front_matter = print_front_matter(tab, site, printed_pages, read_configuration())
        merge(front_matter, printed_pages, site).write(path)
    print(f"{path}: {len(PdfReader(path).pages)} pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
