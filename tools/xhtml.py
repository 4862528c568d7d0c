"""Turn a built page into XHTML without scripts: formulas as MathML, pictures as files.

Chromium typesets the formulas with the page's own MathJax, which also produces their MathML.
Elements that the print style hides are left out. Otherwise only tag names and attributes change.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from urllib.parse import unquote, urljoin

from built_pages import HTML, open_page
from lxml import etree
from lxml.builder import ElementMaker

XHTML, SVG, MATHML = (
    f"{{http://www.w3.org/{name}}}" for name in ("1999/xhtml", "2000/svg", "1998/Math/MathML")
)
E = ElementMaker(namespace=XHTML[1:-1])
ALLOWED_SCRIPTS = re.compile(r"/_static/(mathjax/.*|typeset|quiz)\.js")  # all others are blocked
# Serialize the article after all its formulas are typeset. Formulas and tables get their width in
# em, so that they can be shrunk to narrow screens; inline SVG drawings get their computed style
# as attributes.
SERIALIZE_ARTICLE = r"""async () => {
  dispatchEvent(new Event("scroll"));
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  // Mark what TeX distinguishes and browsers do not: ordinary symbols, fences, signs of numbers.
  const setOperatorAttributes = math => {
    for (const mo of math.querySelectorAll('[data-mjx-texclass="ORD"] > mo:only-child')) {
      mo.setAttribute("lspace", "0");
      mo.setAttribute("rspace", "0");
    }
    for (const [kind, form] of [["OPEN", "prefix"], ["CLOSE", "postfix"]]) {
      const fences = math.querySelectorAll(`mo[data-mjx-texclass="${kind}"]`);
      for (const mo of fences) mo.setAttribute("form", form);
    }
    for (const mo of math.querySelectorAll("mo + mo")) {
      const isSign = /^[+\u2212\u00b1\u2213]$/.test(mo.textContent);
      const before = mo.previousSibling.textContent;
      const endsTerm = /^[)\]}|\u2016\u2223\u2225!\u22a4\u2217]$/.test(before);
      if (isSign && !endsTerm) mo.setAttribute("form", "prefix");
    }
  };
  const article = document.querySelector(".bd-article");
  const fontSize = element => parseFloat(getComputedStyle(element).fontSize);
  for (const solution of article.querySelectorAll("details.solution")) solution.open = true;
  for (const table of article.querySelectorAll("table")) {
    for (const cell of table.querySelectorAll("td.text-right")) cell.style.whiteSpace = "nowrap";
    table.style.width = "min-content";
    table.dataset.fit = table.offsetWidth / fontSize(table);
  }
  const formulas = window.MathJax?.startup?.document?.math ?? [];
  for (const { math: tex, typesetRoot: root, display } of formulas) {
    const math = root.querySelector("mjx-assistive-mml > math");
    if (!math || !article.contains(root)) continue;
    const width = root.querySelector("mjx-math").getBoundingClientRect().width / fontSize(root);
    math.setAttribute("alttext", tex.trim());
    setOperatorAttributes(math);
    if (display) {
      math.setAttribute("display", "block");
      root.parentElement.dataset.fit = width;
    }
    root.replaceWith(math);
  }
  for (const arrow of article.querySelectorAll(".sd-summary-state-marker")) arrow.remove();
  // The print style hides the h1 because it prints the title above the article. Keep the h1.
  for (const element of article.querySelectorAll("*:not(h1, svg *, math, math *)")) {
    if (getComputedStyle(element).display === "none") element.remove();
  }
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const initialValues = {
    "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linecap": "butt",
    "text-anchor": "start", "font-size": "", "font-weight": "400",
  };
  for (const shape of article.querySelectorAll("svg :not(g, a, svg)")) {
    const style = getComputedStyle(shape);
    for (const name of ["fill", "stroke"]) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = style[name] === "none" ? "transparent" : style[name];
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
      shape.setAttribute(name, alpha ? `rgb(${red},${green},${blue})` : "none");
      if (0 < alpha && alpha < 255) shape.setAttribute(`${name}-opacity`, (alpha / 255).toFixed(2));
    }
    for (const [name, value] of Object.entries(initialValues)) {
      const computed = style.getPropertyValue(name);
      if (computed !== value) shape.setAttribute(name, computed);
    }
  }
  return new XMLSerializer().serializeToString(article);
}"""
NEW_TAG_NAMES = {"article": "section", "details": "div", "summary": "p", "button": "span"}
KEPT_ATTRIBUTES = {
    *("id", "class", "href", "src", "alt"),
    *("colspan", "rowspan", "start", "width", "height"),
}
REMOVED_SVG_ATTRIBUTES = re.compile(r"style|data-.*|tabindex|focusable")
PRIMES = ("\N{PRIME}", "\N{DOUBLE PRIME}", "\N{TRIPLE PRIME}")
FIT_STYLES = {
    "table": "font-size: clamp(0.5em, 100cqi / {:.1f}, 0.9em)",
    "div": "--fit: min(1em, 100cqi / {:.1f})",  # inherited by the formula
}
IMAGE_ID = re.compile(rb'(<image\b[^>]*?) id="[^"]*"')
FIT_MARGINS = {"table": 1, "div": 4}  # em, added to the measured width


@dataclass
class Document:
    """A page of the book, or the solutions of a page, as an XHTML file."""

    file: str
    body: etree._Element
    part: str
    headings: list = field(default_factory=list)  # (title, id, level) of the first two levels

    def ids(self):
        return [element.get("id") for element in self.body.iter() if element.get("id")]


def read_page(tab, site, name):
    """Return the article of a page as a tree."""
    tab.route(
        re.compile(r"\.js(\?|$)"),
        lambda route: (
            route.continue_() if ALLOWED_SCRIPTS.search(route.request.url) else route.abort()
        ),
    )
    open_page(tab, f"{site}{name}.html")
    article = etree.fromstring(tab.evaluate(SERIALIZE_ARTICLE))
    for element in article.iter(etree.Element):
        simplify(element)
        for attribute in ("href", "src"):
            if not element.get(attribute, "data:").startswith("data:"):
                element.set(attribute, urljoin(f"{site}{name}.html", element.get(attribute)))
    return article


def simplify(element):
    """Rename tags, remove attributes for scripts and styles, and write letters in Unicode."""
    name = element.tag.split("}")[1]
    if element.tag.startswith(XHTML):
        width = element.get("data-fit")
        element.tag = XHTML + NEW_TAG_NAMES.get(name, name)
        for attribute in set(element.attrib) - KEPT_ATTRIBUTES:
            del element.attrib[attribute]
        if width:
            element.set("style", FIT_STYLES[name].format(float(width) + FIT_MARGINS[name]))
    elif element.tag.startswith(SVG):
        for attribute in filter(REMOVED_SVG_ATTRIBUTES.fullmatch, set(element.attrib)):
            del element.attrib[attribute]
        if "role" in element.attrib:
            element.set("role", "img")
    else:
        for attribute in set(element.attrib):
            if attribute.startswith("data-") or attribute == "class":
                del element.attrib[attribute]
        if element.text in PRIMES:
            # The primes of fonts are small and meant to be enlarged.
            element.set("mathsize", "140%")
        if letter := styled_letter(element.text, element.get("mathvariant")):
            element.text = letter
            element.set("mathvariant", "normal")


def styled_letter(letter, variant):
    """Return the character for a letter of a `mathvariant` that browsers ignore, or None."""
    if variant not in ("double-struck", "script", "fraktur") or len(letter or "") != 1:
        return None
    case = "CAPITAL" if letter.isupper() else "SMALL"
    for name in (f"MATHEMATICAL {variant} {case} {letter}", f"{variant} {case} {letter}"):
        try:
            return unicodedata.lookup(name.upper())
        except KeyError:
            continue
    return None


def extract_solutions(article, address):
    """Take the solutions out of an article and link each exercise with its solution."""
    solutions = []
    element_of_caption = {
        " ".join(caption.itertext()).strip(): caption.getparent().getparent()
        for caption in article.iterfind(f".//{XHTML}span[@class='caption-number']")
    }
    for solution in list(article.iterfind(f".//{XHTML}div[@class='solution']")):
        summary = solution[0]
        number = re.search(r"Exercise [\d.]+\d", "".join(summary.itertext()))[0]
        exercise = element_of_caption[number]
        solution.getparent().remove(solution)
        solution.tail = None
        exercise.append(
            E.p(E.a("Solution", href=f"{address}#{solution.get('id')}"), {"class": "to-solution"})
        )
        link = E.a(summary.text or "", *summary, href=f"{address}#{exercise.get('id')}")
        solution.replace(summary, E.h2(link))
        solutions.append(solution)
    return solutions


def set_headings(document):
    """Set the headings of the first two levels, with formulas as text."""
    for heading in document.body.iter(f"{XHTML}h1", f"{XHTML}h2"):
        anchor = next(
            (element.get("id") for element in (heading, heading.getparent()) if element.get("id")),
            None,
        )
        text = "".join(c for c in "".join(heading.itertext()) if unicodedata.category(c) != "Cf")
        document.headings.append((" ".join(text.split()), anchor, int(heading.tag[-1])))


def read_pages(tab, site, parts):
    """Return all pages, followed by the solutions of each page."""
    documents, solutions = [], []
    for part, names in parts:
        for name in names:
            article, address = read_page(tab, site, name), f"{site}{name}.html"
            page_solutions = extract_solutions(article, address)
            documents.append(Document(f"{name}.xhtml", article, part))
            set_headings(documents[-1])
            if page_solutions:
                title = f"Solutions: {documents[-1].headings[0][0]}"
                body = E.section(E.h1(E.a(title, href=address)), *page_solutions)
                solutions.append(Document(f"solutions/{name}.xhtml", body, "Solutions"))
                set_headings(solutions[-1])
            print(f"{name}: {len(page_solutions)} solutions", flush=True)
    return documents + solutions


def read_picture(source, site):
    """Return the file name and the content of a picture."""
    name = unquote(source.removeprefix(site))
    content = (HTML / name).read_bytes()
    return name, IMAGE_ID.sub(rb"\1", content)  # XML does not allow equal ids
