"""Questions exported for learning platforms: `questions.py`, `moodle.py` and `qti.py`."""

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
from .test_study import chapter_questions

MOODLE_FILE, QTI_FILE = "svmbook-questions-moodle.xml", "svmbook-questions-qti.zip"
SCHEMAS = {path.stem: etree.RelaxNG(file=path) for path in (ROOT / "tests" / "web").glob("*.rng")}
FORMULA = re.compile(r"\\\(.*?\\\)", re.S)
REFERENCE = re.compile(r"\{[a-z:]+\}`[^`]*`")
# Before two texts are compared, quotation marks and the characters of Markdown are removed, and
# no-break spaces become spaces.
TYPOGRAPHIC_QUOTES = (
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
)
NORMALISATION = str.maketrans("\N{NO-BREAK SPACE}", " ", f"*`\"'{TYPOGRAPHIC_QUOTES}")


class Question(NamedTuple):
    """An exported question: the reason for each choice, and the correct choices, as HTML."""

    name: str
    text: str
    reason_by_choice: dict
    correct_choices: list


def moodle_questions():
    """Return the questions in the file for Moodle by chapter title."""
    found = {}
    for element in ElementTree.parse(HTML / MOODLE_FILE).getroot():
        if element.get("type") == "category":
            category = found.setdefault(element.findtext("category/text").split("/")[-1], [])
            continue
        answers = {answer.findtext("text"): answer for answer in element.iterfind("answer")}
        reason_by_choice = {
            text: answer.findtext("feedback/text") for text, answer in answers.items()
        }
        scores = {text: answer.get("fraction") for text, answer in answers.items()}
        correct_choices = [text for text, score in scores.items() if score != "0"]
        assert [scores[text] for text in correct_choices] == ["100"]
        name, text = element.findtext("name/text"), element.findtext("questiontext/text")
        category.append(Question(name, text, reason_by_choice, correct_choices))
    return found


def read_qti_package():
    """Return the manifest of the QTI package, and the quizzes in the order of the manifest."""
    with zipfile.ZipFile(HTML / QTI_FILE) as archive:
        manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
        names = [file.get("href") for file in manifest.iterfind(".//{*}file")]
        assert sorted([*names, "imsmanifest.xml"]) == sorted(archive.namelist())
        return manifest, [ElementTree.fromstring(archive.read(name)) for name in names]


def qti_questions():
    """Return the questions in the QTI package by chapter title."""
    found = {}
    for quiz in read_qti_package()[1]:
        title = quiz.find("{*}assessment").get("title")
        found[title] = [qti_question(item) for item in quiz.iterfind(".//{*}item")]
    return found


def qti_question(item):
    """Return the question of an item, whose rules connect choices and reasons by identifiers."""
    elements = {element.get("ident"): element for element in item.iter()}
    texts = {ident: element.findtext(".//{*}mattext") for ident, element in elements.items()}
    reason_by_choice, correct_choices = {}, []
    for rule in item.iterfind(".//{*}respcondition"):
        text = texts[rule.findtext(".//{*}varequal")]
        for feedback in rule.iterfind("{*}displayfeedback"):
            reason_by_choice[text] = texts[feedback.get("linkrefid")]
        correct_choices += [text for _ in rule.iterfind("{*}setvar")]
    text = item.findtext(".//{*}mattext")
    return Question(item.get("title"), text, reason_by_choice, correct_choices)


@pytest.fixture(scope="module", params=[moodle_questions, qti_questions])
def exported(request, book):
    """Return the exported questions by chapter title, for each of the two files."""
    return request.param()


@pytest.fixture(scope="module")
def notebook_questions():
    """Return the questions in the notebooks, in Markdown, by chapter title."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    files = [page["file"] for part in parts for page in part["chapters"]]
    paths = [ROOT / f"{file}.ipynb" for file in files if re.fullmatch(r"notebooks/\w+", file)]
    titles = [re.search(r'"# (.*?)\\n"', path.read_text(encoding="utf-8"))[1] for path in paths]
    return dict(zip(titles, map(chapter_questions, paths), strict=True))


def text_of_html(html):
    """Return the text of HTML, with formulas as TeX."""
    return unescape(re.sub(r"<[^>]*>", "", html)).translate(NORMALISATION)


def text_of_markdown(source):
    r"""Return the text of Markdown, with formulas between ``\(`` and ``\)``."""
    return re.sub(r"\$(.*?)\$", r"\\(\1\\)", source).translate(NORMALISATION)


def questions_with_choices(exported, notebook_questions):
    """Yield each exported question with its choices in the notebook."""
    for title, found in exported.items():
        for question, (_, choices) in zip(found, notebook_questions[title], strict=True):
            yield question, choices


def all_questions(exported):
    return [question for chapter in exported.values() for question in chapter]


def test_every_question_is_exported_once(exported, notebook_questions):
    assert list(exported) == list(notebook_questions)
    for title, found in exported.items():
        expected = [text_of_markdown(question) for question, _ in notebook_questions[title]]
        assert [text_of_html(question.text) for question in found] == expected
        assert [question.name.translate(NORMALISATION) for question in found] == expected


def test_chapters_are_categories_in_moodle(book, notebook_questions):
    title = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    quiz = ElementTree.parse(book / MOODLE_FILE).getroot()
    found = [text.text for text in quiz.iterfind("question/category/text")]
    assert found == [f"$course$/top/{title}/{chapter}" for chapter in notebook_questions]


def test_exported_questions_have_all_choices_with_their_reasons(exported, notebook_questions):
    for question, choices in questions_with_choices(exported, notebook_questions):
        found = {
            text_of_html(text): text_of_html(reason)
            for text, reason in question.reason_by_choice.items()
        }
        assert found.keys() == {text_of_markdown(text) for text, _ in choices}
        for text, reason in choices:
            parts = [re.escape(text_of_markdown(part)) for part in REFERENCE.split(reason)]
            assert re.fullmatch(".+".join(parts), found[text_of_markdown(text)])


def test_only_the_first_choice_of_the_notebook_is_correct(exported, notebook_questions):
    for question, choices in questions_with_choices(exported, notebook_questions):
        assert [text_of_html(text) for text in question.correct_choices] == [
            text_of_markdown(choices[0][0])
        ]


def test_exported_choices_are_shuffled(exported):
    """Some platforms do not shuffle the choices, so the files must."""
    correct_is_first = [
        next(iter(question.reason_by_choice)) == question.correct_choices[0]
        for question in all_questions(exported)
    ]
    assert 0.2 < sum(correct_is_first) / len(correct_is_first) < 0.5


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (
            r"\(\sum_iy_i\alpha_i = 0\)",
            "<p>This condition comes from the intercept. Without an intercept, the constant "
            "would matter.</p>",
        ),
        (
            "They become more equal",
            "<p><em>Dividing</em> all outputs by 7 would have this effect.</p>",
        ),
        (
            "At most half of the new points and at most half of the training points are "
            "misclassified",
            "<p>The parameter \N{GREEK SMALL LETTER NU} bounds the fraction of margin errors among "
            "training points, not among new points.</p>",
        ),
        (
            "One neighbour; no, more are not always better",
            "<p>One neighbour copies every wrong label. But a vote in which points of the other "
            "class have the majority is wrong even without noise. On the islands with a fifth of "
            "the labels changed, the error of 135 neighbours is nearly twice that of one (Exercise "
            "17.2).</p>",
        ),
    ],
)
def test_exported_reasons_have_markdown_as_html_and_references_resolved(exported, choice, reason):
    found = [
        question.reason_by_choice[choice]
        for question in all_questions(exported)
        if choice in question.reason_by_choice
    ]
    assert found == [reason]


PLAIN_TAGS = {f"<{end}{name}>" for name in ("p", "em", "code") for end in ("", "/")}


def test_exported_texts_contain_only_plain_tags_and_formulas(exported):
    for question in all_questions(exported):
        for html in (
            question.text,
            *question.reason_by_choice,
            *question.reason_by_choice.values(),
        ):
            assert set(re.findall("<[^>]*>?", html)) <= PLAIN_TAGS
            assert not re.search(r"[$`*\\{}]|\]\(", FORMULA.sub("", html)), html


def is_valid(schema, root):
    return SCHEMAS[schema].validate(etree.fromstring(ElementTree.tostring(root)))


def test_exported_files_match_their_schemas(book):
    assert is_valid("moodle", ElementTree.parse(book / MOODLE_FILE).getroot())
    manifest, quizzes = read_qti_package()
    assert is_valid("manifest", manifest)
    assert all(is_valid("qti", quiz) for quiz in quizzes)


def element_remover(path):
    """Return a function that removes an element from a question."""
    return lambda question: question.remove(question.find(path))


@pytest.mark.parametrize(
    "corrupt",
    [
        element_remover("name"),
        element_remover("questiontext"),
        element_remover("answer[@fraction='100']"),
        lambda question: question.append(deepcopy(question.find("answer[@fraction='100']"))),
        lambda question: question.find("answer").set("fraction", "50"),
        lambda question: question.find("answer").remove(question.find("answer/feedback")),
        lambda question: question.find("questiontext").set("format", "markdown"),
        lambda question: setattr(question.find("name/text"), "text", "n" * 256),
        lambda question: setattr(question.find("answer/text"), "text", ""),
        lambda question: setattr(question.find("answer"), "text", "no place for text"),
    ],
)
def test_schema_rejects_files_that_moodle_would_misread(book, corrupt):
    small_quiz = ElementTree.Element("quiz")
    small_quiz.extend(ElementTree.parse(book / MOODLE_FILE).getroot()[:2])
    assert is_valid("moodle", small_quiz)
    corrupt(small_quiz[1])
    assert not is_valid("moodle", small_quiz)


def test_guide_for_teachers_links_to_the_files(book):
    page = (book / "book" / "teaching.html").read_text(encoding="utf-8")
    for name in (MOODLE_FILE, QTI_FILE):
        assert f'href="../{name}"' in page and (book / name).exists()
