"""The questions of *Check yourself* as files that learning platforms import.

The questions are read from the built pages, where references are resolved, so that the files have
the same text as the pages.
"""

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import moodle
import qti
from bs4 import BeautifulSoup
from chapters import read_chapters

MOODLE_FILE = "svmbook-questions-moodle.xml"
QTI_FILE = "svmbook-questions-qti.zip"
QUESTION_BOX = re.compile(r'<details class="[^"]*\bquiz\b[^"]*">.*?</details>', re.S)
KEPT_TAGS = {"code", "em", "p", "strong"}


class Choice(NamedTuple):
    """A choice and the reason why it is correct or wrong, both as HTML."""

    html: str
    reason_html: str
    is_correct: bool


class Question(NamedTuple):
    """A question as plain text and as HTML, and its choices."""

    plain_text: str
    html: str
    choices: list


class ChapterQuestions(NamedTuple):
    """The name of a chapter's notebook, its title and its questions."""

    name: str
    title: str
    questions: list


def clean_html(element):
    r"""Return the content of an element without links, classes and other markup of the page.

    Formulas remain TeX between ``\(`` and ``\)``.
    """
    for tag in element.find_all(True):
        if tag.name in KEPT_TAGS:
            tag.attrs = {}
        else:
            tag.unwrap()
    return element.decode_contents().strip()


def parse_questions(page):
    """Return the questions in the HTML of a built page.

    On the page, the first choice of each question is the correct one. The returned choices are
    sorted by a checksum of their text, since some platforms do not shuffle them.
    """
    questions = []
    for box_html in QUESTION_BOX.findall(page):
        box = BeautifulSoup(box_html, "html.parser")
        summary = box.find(class_="sd-summary-text")
        terms, reasons = box.find_all("dt"), box.find_all("dd")
        choices = [
            Choice(clean_html(term), clean_html(reason), is_correct=term is terms[0])
            for term, reason in zip(terms, reasons, strict=True)
        ]
        choices.sort(key=lambda choice: zlib.crc32(choice.html.encode()))
        questions.append(Question(summary.get_text(), f"<p>{clean_html(summary)}</p>", choices))
    return questions


def write_questions(app, error):
    """Write the questions of all chapters into the folder of the pages."""
    if error or app.builder.format != "html":
        return
    output_folder, chapter_questions = Path(app.outdir), []
    for chapter in read_chapters(Path(app.srcdir)):
        docname = f"notebooks/{chapter.name}"
        page = (output_folder / f"{docname}.html").read_text(encoding="utf-8")
        title = app.env.titles[docname].astext()
        chapter_questions.append(ChapterQuestions(chapter.name, title, parse_questions(page)))
    (output_folder / MOODLE_FILE).write_bytes(
        moodle.question_bank(app.config.html_title, chapter_questions)
    )
    (output_folder / QTI_FILE).write_bytes(qti.package(chapter_questions))


def setup(app):
    """Register the listener."""
    app.connect("build-finished", write_questions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
