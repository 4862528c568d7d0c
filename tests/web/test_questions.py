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
from .test_study import questions

MOODLE_FILE, QTI_FILE = "svmbook-questions-moodle.xml", "svmbook-questions-qti.zip"
SCHEMAS = {path.stem: etree.RelaxNG(file=path) for path in (ROOT / "tests" / "web").glob("*.rng")}
FORMULA = re.compile(r"\\\(.*?\\\)", re.S)
REFERENCE = re.compile(r"\{[a-z:]+\}`[^`]*`")
# Before two texts are compared, typographic quotes and the characters of Markdown are removed.
QUOTES = (
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
)
MARK_REMOVAL = str.maketrans("\N{NO-BREAK SPACE}", " ", f"*`\"'{QUOTES}")


class Question(NamedTuple):
    """An exported question: its choices with their reasons, and the right choices, as HTML."""

    name: str
    text: str
    reasons: dict
    right: list


def moodle_questions():
    """Return the questions in the file for Moodle by the titles of chapters."""
    found = {}
    for element in ElementTree.parse(HTML / MOODLE_FILE).getroot():
        if element.get("type") == "category":
            category = found.setdefault(element.findtext("category/text").split("/")[-1], [])
            continue
        answers = {answer.findtext("text"): answer for answer in element.iterfind("answer")}
        reasons = {text: answer.findtext("feedback/text") for text, answer in answers.items()}
        scores = {text: answer.get("fraction") for text, answer in answers.items()}
        right = [text for text, score in scores.items() if score != "0"]
        assert [scores[text] for text in right] == ["100"]
        name, text = element.findtext("name/text"), element.findtext("questiontext/text")
        category.append(Question(name, text, reasons, right))
    return found


def qti_files():
    """Return the manifest of the QTI package, and the quizzes in its order."""
    with zipfile.ZipFile(HTML / QTI_FILE) as archive:
        manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
        names = [file.get("href") for file in manifest.iterfind(".//{*}file")]
        assert sorted([*names, "imsmanifest.xml"]) == sorted(archive.namelist())
        return manifest, [ElementTree.fromstring(archive.read(name)) for name in names]


def qti_questions():
    """Return the questions in the QTI package by the titles of chapters."""
    found = {}
    for quiz in qti_files()[1]:
        title = quiz.find("{*}assessment").get("title")
        found[title] = [qti_question(item) for item in quiz.iterfind(".//{*}item")]
    return found


def qti_question(item):
    """Return the question of an item, whose rules connect choices and reasons by identifiers."""
    elements = {element.get("ident"): element for element in item.iter()}
    texts = {ident: element.findtext(".//{*}mattext") for ident, element in elements.items()}
    reasons, right = {}, []
    for rule in item.iterfind(".//{*}respcondition"):
        text = texts[rule.findtext(".//{*}varequal")]
        for feedback in rule.iterfind("{*}displayfeedback"):
            reasons[text] = texts[feedback.get("linkrefid")]
        right += [text for _ in rule.iterfind("{*}setvar")]
    return Question(item.get("title"), item.findtext(".//{*}mattext"), reasons, right)


@pytest.fixture(scope="module", params=[moodle_questions, qti_questions])
def exported(request, book):
    """Return the exported questions by the titles of chapters, for each of the two files."""
    return request.param()


@pytest.fixture(scope="module")
def sources():
    """Return the questions in the notebooks, in Markdown, by the titles of chapters."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    files = [page["file"] for part in parts for page in part["chapters"]]
    paths = [ROOT / f"{file}.ipynb" for file in files if re.fullmatch(r"notebooks/\w+", file)]
    titles = [re.search(r'"# (.*?)\\n"', path.read_text(encoding="utf-8"))[1] for path in paths]
    return dict(zip(titles, map(questions, paths), strict=True))


def text_of_html(html):
    """Return the text of HTML, with formulas as TeX."""
    return unescape(re.sub(r"<[^>]*>", "", html)).translate(MARK_REMOVAL)


def text_of_markdown(source):
    r"""Return the text of Markdown, with formulas between ``\(`` and ``\)``."""
    return re.sub(r"\$(.*?)\$", r"\\(\1\\)", source).translate(MARK_REMOVAL)


def questions_with_choices(exported, sources):
    """Yield each exported question with its choices in the notebook."""
    for title, found in exported.items():
        for question, (_, choices) in zip(found, sources[title], strict=True):
            yield question, choices


def all_questions(exported):
    return [question for chapter in exported.values() for question in chapter]


def test_every_question_is_exported_once(exported, sources):
    assert list(exported) == list(sources)
    for title, found in exported.items():
        expected = [text_of_markdown(question) for question, _ in sources[title]]
        assert [text_of_html(question.text) for question in found] == expected
        assert [question.name.translate(MARK_REMOVAL) for question in found] == expected


def test_chapters_are_categories_in_moodle(book, sources):
    title = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    quiz = ElementTree.parse(book / MOODLE_FILE).getroot()
    found = [text.text for text in quiz.iterfind("question/category/text")]
    assert found == [f"$course$/top/{title}/{chapter}" for chapter in sources]


def test_exported_questions_have_all_choices_with_their_reasons(exported, sources):
    for question, choices in questions_with_choices(exported, sources):
        found = {
            text_of_html(text): text_of_html(reason) for text, reason in question.reasons.items()
        }
        assert found.keys() == {text_of_markdown(text) for text, _ in choices}
        for text, reason in choices:
            parts = [re.escape(text_of_markdown(part)) for part in REFERENCE.split(reason)]
            assert re.fullmatch(".+".join(parts), found[text_of_markdown(text)])


def test_only_the_first_choice_of_the_notebook_is_correct(exported, sources):
    for question, choices in questions_with_choices(exported, sources):
        assert [text_of_html(text) for text in question.right] == [text_of_markdown(choices[0][0])]


def test_exported_choices_are_shuffled(exported):
    """Some platforms do not shuffle the choices."""
    is_first = [next(iter(q.reasons)) == q.right[0] for q in all_questions(exported)]
    assert 0.2 < sum(is_first) / len(is_first) < 0.5


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
            "16.2).</p>",
        ),
    ],
)
def test_exported_texts_agree_with_the_pages(exported, choice, reason):
    found = [question.reasons for question in all_questions(exported)]
    assert [reasons[choice] for reasons in found if choice in reasons] == [reason]


PLAIN_TAGS = {f"<{end}{name}>" for name in ("p", "em", "code") for end in ("", "/")}


def test_exported_texts_contain_only_plain_tags_and_formulas(exported):
    for question in all_questions(exported):
        for html in (question.text, *question.reasons, *question.reasons.values()):
            assert set(re.findall("<[^>]*>?", html)) <= PLAIN_TAGS
            assert not re.search(r"[$`*\\{}]|\]\(", FORMULA.sub("", html)), html


def is_valid(schema, root):
    return SCHEMAS[schema].validate(etree.fromstring(ElementTree.tostring(root)))


def test_exported_files_match_their_schemas(book):
    assert is_valid("moodle", ElementTree.parse(book / MOODLE_FILE).getroot())
    manifest, quizzes = qti_files()
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
