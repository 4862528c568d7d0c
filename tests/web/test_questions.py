"""The questions as files for learning platforms: `questions.py`, `moodle.py` and `qti.py`."""

import re
import zipfile
from copy import deepcopy
from html import unescape
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
import yaml
from lxml import etree

from .conftest import HTML, ROOT
from .test_study import questions

MOODLE, QTI = "svmbook-questions-moodle.xml", "svmbook-questions-qti.zip"
SCHEMAS = {path.stem: etree.RelaxNG(file=path) for path in (ROOT / "tests" / "web").glob("*.rng")}
FORMULA = re.compile(r"\\\(.*?\\\)", re.S)
REFERENCE = re.compile(r"\{[a-z:]+\}`[^`]*`")
# Marks of Markdown, and what pages print differently. They are left out of both texts that a test
# compares.
QUOTES = (
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
)
MARKS = str.maketrans("\N{NO-BREAK SPACE}", " ", f"*`\"'{QUOTES}")


class Question(NamedTuple):
    """A question of a file: its choices and their reasons as HTML, and the right choices."""

    name: str
    text: str
    reasons: dict
    right: list


def moodle_questions():
    """Return the chapters of the file for Moodle: titles, and the questions of each."""
    found = {}
    for one in ElementTree.parse(HTML / MOODLE).getroot():
        if one.get("type") == "category":
            category = found.setdefault(one.findtext("category/text").split("/")[-1], [])
            continue
        answers = {answer.findtext("text"): answer for answer in one.iterfind("answer")}
        reasons = {text: answer.findtext("feedback/text") for text, answer in answers.items()}
        scores = {text: answer.get("fraction") for text, answer in answers.items()}
        right = [text for text, score in scores.items() if score != "0"]
        assert [scores[text] for text in right] == ["100"]
        name, text = one.findtext("name/text"), one.findtext("questiontext/text")
        category.append(Question(name, text, reasons, right))
    return found


def qti_files():
    """Return the manifest of the package, and the quizzes in the order in which it lists them."""
    with zipfile.ZipFile(HTML / QTI) as packed:
        manifest = ElementTree.fromstring(packed.read("imsmanifest.xml"))
        names = [one.get("href") for one in manifest.iterfind(".//{*}file")]
        assert sorted([*names, "imsmanifest.xml"]) == sorted(packed.namelist())
        return manifest, [ElementTree.fromstring(packed.read(name)) for name in names]


def qti_questions():
    """Return the chapters of the package: titles, and the questions of each."""
    found = {}
    for quiz in qti_files()[1]:
        title = quiz.find("{*}assessment").get("title")
        found[title] = [qti_question(item) for item in quiz.iterfind(".//{*}item")]
    return found


def qti_question(item):
    """Return a question; its rules say by name which reason belongs to which choice."""
    shown = {
        one.get("ident"): one.findtext(".//{*}mattext") for one in item.iter() if one.get("ident")
    }
    reasons, right = {}, []
    for rule in item.iterfind(".//{*}respcondition"):
        text = shown[rule.findtext(".//{*}varequal")]
        for told in rule.iterfind("{*}displayfeedback"):
            reasons[text] = shown[told.get("linkrefid")]
        right += [text for _ in rule.iterfind("{*}setvar")]
    return Question(item.get("title"), item.findtext(".//{*}mattext"), reasons, right)


@pytest.fixture(scope="module", params=[moodle_questions, qti_questions])
def asked(request, book):
    """Return title and questions of each chapter, from one file and from the other."""
    return request.param()


@pytest.fixture(scope="module")
def sources():
    """Return the same from the notebooks, in Markdown, in the order of the contents."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    files = [page["file"] for part in parts for page in part["chapters"]]
    paths = [ROOT / f"{file}.ipynb" for file in files if file.startswith("notebooks/")]
    titles = [re.search(r'"# (.*?)\\n"', path.read_text(encoding="utf-8"))[1] for path in paths]
    return dict(zip(titles, map(questions, paths), strict=True))


def words_of(html):
    """Return the text of HTML, with formulas as TeX."""
    return unescape(re.sub(r"<[^>]*>", "", html)).translate(MARKS)


def words_of_markdown(source):
    r"""Return the text of Markdown, with formulas between ``\(`` and ``\)``."""
    return re.sub(r"\$(.*?)\$", r"\\(\1\\)", source).translate(MARKS)


def pairs(asked, sources):
    """Yield each question of a file with its choices in the notebook."""
    for title, found in asked.items():
        for one, (_, choices) in zip(found, sources[title], strict=True):
            yield one, choices


def test_each_chapter_has_all_its_questions_once(asked, sources):
    assert list(asked) == list(sources)
    for title, found in asked.items():
        expected = [words_of_markdown(question) for question, _ in sources[title]]
        assert [words_of(one.text) for one in found] == expected
        assert [one.name.translate(MARKS) for one in found] == expected


def test_the_chapters_are_categories_of_the_book_in_moodle(book, sources):
    title = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    quiz = ElementTree.parse(book / MOODLE).getroot()
    found = [one.text for one in quiz.iterfind("question/category/text")]
    assert found == [f"$course$/top/{title}/{chapter}" for chapter in sources]


def test_each_question_has_all_choices_with_their_reasons(asked, sources):
    for one, choices in pairs(asked, sources):
        found = {words_of(text): words_of(reason) for text, reason in one.reasons.items()}
        assert found.keys() == {words_of_markdown(text) for text, _ in choices}
        for text, reason in choices:
            parts = [re.escape(words_of_markdown(part)) for part in REFERENCE.split(reason)]
            assert re.fullmatch(".+".join(parts), found[words_of_markdown(text)])


def test_the_first_choice_of_the_notebook_is_right_and_no_other(asked, sources):
    for one, choices in pairs(asked, sources):
        assert [words_of(text) for text in one.right] == [words_of_markdown(choices[0][0])]


def test_the_right_choice_stands_anywhere(asked):
    """Not every platform shuffles the choices."""
    found = [one for chapter in asked.values() for one in chapter]
    first = [next(iter(one.reasons)) == one.right[0] for one in found]
    assert 0.2 < sum(first) / len(first) < 0.5


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (
            r"\(\sum_iy_i\alpha_i = 0\)",
            "<p>This condition belongs to the intercept. Without an intercept the constant "
            "would matter.</p>",
        ),
        (
            "They come nearer to one another",
            "<p>That is what <em>dividing</em> all outputs by 7 would do.</p>",
        ),
        (
            "The error on new points is at most one half, and as many training points as that are "
            "misclassified",
            "<p>\N{GREEK SMALL LETTER NU} speaks of training points alone, and of margins that are "
            "missed.</p>",
        ),
        (
            "One; and no, a vote may reach beyond its class",
            "<p>One neighbour: it copies every wrong label. But a vote that reaches beyond its "
            "class is wrong without any noise: 135 neighbours err twice as often on the islands as "
            "one does with a fifth of the labels changed (Exercise 15.2).</p>",
        ),
    ],
)
def test_texts_are_those_of_the_pages(asked, choice, reason):
    found = [one.reasons for chapter in asked.values() for one in chapter]
    assert [reasons[choice] for reasons in found if choice in reasons] == [reason]


PLAIN = {f"<{end}{name}>" for name in ("p", "em", "code") for end in ("", "/")}


def test_no_markup_of_the_source_or_of_the_page_is_left(asked):
    for one in [one for chapter in asked.values() for one in chapter]:
        for html in (one.text, *one.reasons, *one.reasons.values()):
            assert set(re.findall("<[^>]*>?", html)) <= PLAIN
            assert not re.search(r"[$`*\\{}]|\]\(", FORMULA.sub("", html)), html


def is_valid(schema, root):
    return SCHEMAS[schema].validate(etree.fromstring(ElementTree.tostring(root)))


def test_the_files_are_valid(book):
    assert is_valid("moodle", ElementTree.parse(book / MOODLE).getroot())
    manifest, quizzes = qti_files()
    assert is_valid("manifest", manifest)
    assert all(is_valid("qti", quiz) for quiz in quizzes)


def without(path):
    return lambda question: question.remove(question.find(path))


@pytest.mark.parametrize(
    "spoil",
    [
        without("name"),
        without("questiontext"),
        without("answer[@fraction='100']"),
        lambda question: question.append(deepcopy(question.find("answer[@fraction='100']"))),
        lambda question: question.find("answer").set("fraction", "50"),
        lambda question: question.find("answer").remove(question.find("answer/feedback")),
        lambda question: question.find("questiontext").set("format", "markdown"),
        lambda question: setattr(question.find("name/text"), "text", "n" * 256),
        lambda question: setattr(question.find("answer/text"), "text", ""),
        lambda question: setattr(question.find("answer"), "text", "no place for text"),
    ],
)
def test_the_schema_refuses_what_moodle_would_misread(book, spoil):
    small = ElementTree.Element("quiz")
    small.extend(ElementTree.parse(book / MOODLE).getroot()[:2])
    assert is_valid("moodle", small)
    spoil(small[1])
    assert not is_valid("moodle", small)


def test_the_guide_for_teachers_links_to_the_files(book):
    page = (book / "book" / "teaching.html").read_text(encoding="utf-8")
    for name in (MOODLE, QTI):
        assert f'href="../{name}"' in page and (book / name).exists()
