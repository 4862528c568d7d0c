"""The questions of *Check yourself* as files that learning platforms import.

The questions are read from the built pages, where every reference has its text, so that the files
say what readers see. They stand beside the pages.
"""

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import moodle
import qti
from bs4 import BeautifulSoup
from chapters import chapters

MOODLE = "svmbook-questions-moodle.xml"
QTI = "svmbook-questions-qti.zip"
FOLD = re.compile(r'<details class="[^"]*\bquiz\b[^"]*">.*?</details>', re.S)
KEPT = {"code", "em", "p", "strong"}


class Choice(NamedTuple):
    """A choice and the reason why it is right or wrong, both as HTML."""

    text: str
    reason: str
    is_right: bool


class Question(NamedTuple):
    """A question as plain text and as HTML, and its choices."""

    name: str
    text: str
    choices: list


class Chapter(NamedTuple):
    """A chapter's file name, its title and its questions."""

    name: str
    title: str
    questions: list


def html_of(element):
    r"""Return the content of an element without links, classes and other markup of the page.

    A formula on a page is TeX between ``\(`` and ``\)``, and stays so.
    """
    for tag in element.find_all(True):
        if tag.name in KEPT:
            tag.attrs = {}
        else:
            tag.unwrap()
    return element.decode_contents().strip()


def questions_of(page):
    """Return the questions of a built page. The first choice of each is right.

    The choices are arranged by a checksum of their text, as not every platform shuffles them.
    """
    found = []
    for fold in FOLD.findall(page):
        quiz = BeautifulSoup(fold, "html.parser")
        title = quiz.find(class_="sd-summary-text")
        terms, reasons = quiz.find_all("dt"), quiz.find_all("dd")
        choices = [
            Choice(html_of(term), html_of(reason), is_right=term is terms[0])
            for term, reason in zip(terms, reasons, strict=True)
        ]
        choices.sort(key=lambda choice: zlib.crc32(choice.text.encode()))
        found.append(Question(title.get_text(), f"<p>{html_of(title)}</p>", choices))
    return found


def finish(app, error):
    """Write the questions of all chapters beside the pages."""
    if error or app.builder.format != "html":
        return
    out, found = Path(app.outdir), []
    for chapter in chapters(Path(app.srcdir)):
        docname = f"notebooks/{chapter.name}"
        page = (out / f"{docname}.html").read_text(encoding="utf-8")
        title = app.env.titles[docname].astext()
        found.append(Chapter(chapter.name, title, questions_of(page)))
    (out / MOODLE).write_bytes(moodle.bank(app.config.html_title, found))
    (out / QTI).write_bytes(qti.package(found))


def setup(app):
    """Register."""
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
