"""Print the built book into one file: a title, contents, all pages, and the solutions at the back.

Usage: python tools/pdf.py [_build/svmbook.pdf [page ...]]

Each page is printed by Chromium as a reader would print it, with the numbers going on where the
page before ended. Then the prints are put together: links between pages lead to their places in the
file, and the headings become its outline.

LaTeX, tried beside it on the same pages, makes 651 pages and is not kept: 59 figures are left out,
since they are drawn as SVG, tables and listings run off the paper, and solutions stand behind their
exercises.
"""

import html
import io
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urljoin, urlparse

import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject, TextStringObject
from serve import CHROMIUM, serving

ROOT = Path(__file__).resolve().parents[1]
HTML, TARGET = ROOT / "_build" / "html", ROOT / "_build" / "svmbook.pdf"
PAPER = 665  # pixels across the text of a page of A4
PAGE_STYLE = """
@page {
  size: A4; margin: 18mm 17mm 20mm;
  @bottom-center { content: counter(page, %s); font-size: 9pt }
}
html { counter-reset: page %d; }
"""
# Everything is there and nothing is wider than the paper.
SETTLE = """async paper => {
  for (const image of document.querySelectorAll("img")) image.loading = "eager";
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
  const boxes = "div.math mjx-container, .bd-article table, .bd-article svg.whole";
  for (const box of document.querySelectorAll(boxes)) {
    const wide = box.scrollWidth || box.getBoundingClientRect().width;
    const room = Math.min(paper, box.parentElement.clientWidth || paper);
    if (wide > room + 1) box.style.zoom = room / wide;
  }
}"""
# Places that other pages lead to become places of the file only where the page itself leads there.
NAME_PLACES = """places => {
  const names = document.createElement("p");
  names.style.cssText = "font-size: 1px; line-height: 1px; color: transparent";
  for (const place of places) {
    if (!document.getElementById(place)) continue;
    const link = document.createElement("a");
    link.href = `#${place}`;
    link.textContent = ".";
    names.append(link);
  }
  document.querySelector(".bd-article").append(names);
}"""
ONLY_SOLUTIONS = """title => {
  const article = document.querySelector(".bd-article");
  const solutions = [...article.querySelectorAll("details.solution")];
  const heading = document.createElement("h1");
  heading.textContent = title;
  for (const solution of solutions) solution.open = true;
  article.replaceChildren(heading, ...solutions);
  return solutions.length;
}"""
FRONT = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>{style}
body {{ font: 11pt/1.5 "Source Sans 3", "DejaVu Sans", sans-serif; }}
.cover {{ height: 230mm; align-content: center; break-after: page; }}
.cover img {{ width: 55mm; }}
.cover h1 {{ font-size: 30pt; line-height: 1.15; margin: 12mm 0 4mm; }}
h2 {{ font-size: 12pt; margin: 5mm 0 1mm; }}
p {{ margin: 0; display: flex; gap: 2mm; }}
p span {{ flex: 1; }}
p.section {{ padding-left: 8mm; font-size: 10pt; }}
a {{ color: inherit; text-decoration: none; }}
</style>
<div class="cover"><img src="{site}_static/logo.svg" alt=""><h1>{title}</h1>{author}</div>
<h1>Contents</h1>{lines}"""


# A formula in a heading is told as a screen reader would hear it.
TITLES = """() => [...document.querySelectorAll(
  ".bd-article :is(h1, h2, h3, h4, h5, h6)")].map(heading => {
  const copy = heading.cloneNode(true);
  copy.querySelectorAll(".headerlink").forEach(link => link.remove());
  for (const formula of copy.querySelectorAll("mjx-container")) {
    formula.replaceWith(formula.querySelector("mjx-assistive-mml")?.textContent ?? "");
  }
  return copy.textContent.replace(/\\s+/g, " ").trim();
})"""


@dataclass
class Print:
    """A printed page of the book: its file, and where in the whole it begins."""

    name: str
    reader: PdfReader
    first: int
    part: str = ""
    titles: list = field(default_factory=list)  # of all headings, in order
    headings: list = field(default_factory=list)  # (title, number of its page in the whole, level)


def contents(only):
    """Return the parts of the book and the names of their pages, in order: all, or some."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [("", [toc["root"]])]
    for part in toc["parts"]:
        names = []
        for chapter in part["chapters"]:
            names += [chapter["file"], *(one["file"] for one in chapter.get("sections", ()))]
        found.append((part["caption"], names))
    return [(part, [name for name in names if not only or name in only]) for part, names in found]


def places_led_to(names, site):
    """Return for each page the places in it that another one leads to."""
    found = {name: set() for name in names}
    for name in names:
        soup = BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for link in soup.select(".bd-article a[href]"):
            page, place = target(urljoin(f"{site}{name}.html", link["href"]), site) or (name, "")
            if page in found and page != name and place:
                found[page].add(place)
    return found


def target(link, site):
    """Return page and place of a link within the book, or None."""
    if not link.startswith(site):
        return None
    parts = urlparse(link)
    return parts.path.strip("/").removesuffix(".html"), unquote(parts.fragment)


def printed(page, style="decimal", before=0):
    """Print what a tab shows, its first page numbered one more than `before`."""
    page.add_style_tag(content=PAGE_STYLE % (style, before))
    return PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True, outline=True)))


def opened(page, address):
    page.goto(address)
    page.evaluate("() => { document.documentElement.dataset.theme = 'light' }")
    page.emulate_media(media="print")
    page.evaluate(SETTLE, PAPER)


def print_pages(page, site, parts):
    """Print all pages of the book, then all solutions."""
    places = places_led_to([name for _, names in parts for name in names], site)
    prints, solved, total = [], [], 0
    for part, names in parts:
        for name in names:
            opened(page, f"{site}{name}.html")
            page.evaluate(NAME_PLACES, sorted(places[name]))
            if page.locator("details.solution").count():
                solved.append(name)
            titles = page.evaluate(TITLES)
            prints.append(Print(name, printed(page, before=total), total, part, titles))
            total += len(prints[-1].reader.pages)
            print(f"{name}: {len(prints[-1].reader.pages)} pages", flush=True)
    for name in solved:
        opened(page, f"{site}{name}.html")
        page.evaluate(ONLY_SOLUTIONS, f"Solutions: {page.evaluate(TITLES)[0]}")
        page.evaluate(SETTLE, PAPER)
        titles, reader = page.evaluate(TITLES), printed(page, before=total)
        prints.append(Print(f"{name}/solutions", reader, total, "Solutions", titles))
        total += len(prints[-1].reader.pages)
    return prints


def find_headings(one):
    """Keep the headings of a print, of its first two levels."""
    titles = iter(one.titles)  # the outline has them as well, but without formulas

    def walk(items, level):
        for item in items:
            if isinstance(item, list):
                walk(item, level + 1)
                continue
            title = next(titles)
            if level < 2:
                place = one.first + one.reader.get_destination_page_number(item)
                one.headings.append((title, place, level))

    walk(one.reader.outline, 0)


def front(page, site, prints, config):
    """Print title and contents."""
    lines, part = [], None
    for one in prints:
        if one.part != part and one.part:
            lines.append(f"<h2>{html.escape(one.part)}</h2>")
        part = one.part
        for title, place, level in one.headings[: 1 if part == "Solutions" else None]:
            kind = ' class="section"' if level else ""
            number = f'<a href="{site}page/{place}">{place + 1}</a>'
            lines.append(f"<p{kind}><span>{html.escape(title)}</span>{number}</p>")
    style = PAGE_STYLE % ("lower-roman", 0)
    given = {"title": config["title"], "author": config["author"], "site": site, "style": style}
    page.set_content(FRONT.format(lines="".join(lines), **given), wait_until="networkidle")
    return printed(page, "lower-roman")


def put_together(cover, prints, site):
    """Return the whole file, with its links and its outline."""
    writer, ahead = PdfWriter(), len(cover.pages)
    for reader in (cover, *(one.reader for one in prints)):
        writer.append(reader, import_outline=False)
    begins = {one.name: ahead + one.first for one in prints}
    places = {
        (one.name, name.lstrip("/")): (
            ahead + one.first + one.reader.get_destination_page_number(place),
            place.top,
        )
        for one in prints
        for name, place in one.reader.named_destinations.items()
    }
    for page in writer.pages:
        for reference in page.get("/Annots", ()):
            mend(reference.get_object(), writer, site, begins, places, ahead)
    for one in prints:
        above = None
        for title, place, level in one.headings:
            parent = above if level else None
            item = writer.add_outline_item(title=title, page_number=ahead + place, parent=parent)
            above = above if level else item
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.add_metadata({"/Title": "Support Vector Machines, from the dual up"})
    return writer


def mend(annotation, writer, site, begins, places, ahead):
    """Let a link to a page of the book lead to its place in the file."""
    where = target(annotation.get("/A", {}).get("/URI", ""), site)
    if where is None:
        return
    if where[0].startswith("page/"):
        number, top = ahead + int(where[0].removeprefix("page/")), None
    else:
        number, top = places.get(where, (begins.get(where[0]), None))
    del annotation["/A"]
    if number is not None:
        height = NullObject() if top is None else FloatObject(top)
        fit = [NameObject("/XYZ"), NullObject(), height, NullObject()]
        annotation[NameObject("/Dest")] = ArrayObject(
            [writer.pages[number].indirect_reference, *fit]
        )


def main(path=TARGET, *only):
    if CHROMIUM is None:
        raise SystemExit("no Chromium: install the distribution's package chromium")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    with serving(HTML) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": PAPER, "height": 900}, reduced_motion="reduce")
        prints = print_pages(page, site, contents(only))
        for one in prints:
            find_headings(one)
        put_together(front(page, site, prints, config), prints, site).write(path)
        browser.close()
    print(f"{path}: {len(PdfReader(path).pages)} pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
