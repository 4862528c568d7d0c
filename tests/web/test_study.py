"""Study aids: questions, progress, the map of dependencies, and the list of exercises."""

import re

import nbformat
import pytest

from .conftest import HTML, ROOT, chapters_by_formula_count

CHAPTER_PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TYPESET_SCRIPT = re.compile(r"<script[^>]*/typeset[^>]*></script>")
QUIZ = re.compile(r":::\{dropdown\} (.*?)\n:class-container: quiz\n\n(.*?)\n:::", re.S)


def chapter_questions(path):
    """Return the questions of a chapter, each with its choices and their reasons."""
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    quizzes = QUIZ.findall(text)
    assert len(quizzes) == text.count("class-container: quiz") == text.count(":::{dropdown}")
    return [(question, re.findall(r"^(.+)\n: (.+)$", body, re.M)) for question, body in quizzes]


@pytest.mark.parametrize("path", CHAPTER_PATHS, ids=lambda path: path.stem)
def test_every_question_has_choices_with_reasons(path):
    found = chapter_questions(path)
    assert len(found) >= 4
    for question, choices in found:
        names = [choice for choice, _ in choices]
        assert len(names) == len(set(names)) >= 3, question
        assert all(len(reason) > 15 for _, reason in choices), question


def test_answers_get_feedback_and_are_stored(visit):
    name = "which_machine_when"  # has few formulas, and choices in plain text
    opened = visit(f"notebooks/{name}.html")
    page = opened.page
    quiz = page.locator("details.quiz").nth(1)
    assert quiz.locator(".reason:visible").count() == 0
    _, choices = chapter_questions(ROOT / "notebooks" / f"{name}.ipynb")[1]
    wrong_button = quiz.get_by_role("button", name=choices[2][0])
    wrong_button.focus()
    wrong_button.press("Enter")
    assert quiz.locator(".reason:visible").inner_text().startswith("Wrong.")
    quiz.get_by_role("button", name=choices[0][0], exact=True).press("Enter")
    assert "Right." in quiz.locator("li.right").inner_text()
    first_quiz = page.locator("details.quiz").first
    first_quiz.locator("button").nth(1).click()  # right or wrong
    page.get_by_label("I have read this chapter.").check()
    page.reload()
    assert "of 2 right at the first try" in page.locator("p.reading").inner_text()
    assert page.get_by_label("I have read this chapter.").is_checked()
    page.goto(page.url.replace(f"notebooks/{name}", "book/intro"))
    row = page.locator(".map-of-chapters tr", has=page.locator(f'a[href*="{name}"]'))
    assert "read" in row.inner_text() and "of 2 right at the first try" in row.inner_text()
    page.get_by_role("button", name="Delete my progress").click()
    page.wait_for_function("() => !localStorage.getItem('svmbook-progress')")
    page.wait_for_load_state()
    assert page.locator("span.reading").count() == 0
    # Ignore requests that were cancelled when the page was left, such as for a font.
    assert [error for error in opened.errors if not error.startswith("http")] == []
    page.close()


def test_choice_with_only_a_formula_has_a_name_in_words(visit):
    page = visit("notebooks/ensembles_as_kernels.html").page
    count_nameless = """() => {
      const buttons = [...document.querySelectorAll('details.quiz button')];
      return buttons.filter((button) => {
        const copy = button.cloneNode(true);
        copy.querySelectorAll('.math').forEach((formula) => formula.remove());
        return !copy.textContent.trim();
      }).length;
    }"""
    assert page.evaluate(count_nameless) == 0
    assert page.get_by_role("button", name="a formula:").count() >= 2
    page.close()


def test_choices_are_shuffled(visit):
    """The right choice comes first in the source, and must not always come first on the page."""
    positions = []
    for name in chapters_by_formula_count()[:4]:
        html = (HTML / name).read_text(encoding="utf-8")
        page = visit(name, TYPESET_SCRIPT.sub("", html)).page  # typesetting takes most of the time
        path = (ROOT / name).with_suffix(".ipynb")
        for number, (_, choices) in enumerate(chapter_questions(path)):
            buttons = page.locator("details.quiz").nth(number).locator("button")
            plain_text = re.sub(r"\$[^$]*\$|[\"'`]", "", choices[0][0])
            phrase = max(re.split(r"\s*[:;,.]\s*|\s{2,}", plain_text), key=len).strip()
            texts = buttons.all_inner_texts()
            positions += [k for k, text in enumerate(texts) if phrase and phrase in text][:1]
        page.close()
    assert len(positions) > 10 and 0.1 < positions.count(0) / len(positions) < 0.7


def test_map_of_dependencies_has_every_chapter(book):
    page = (book / "book" / "intro.html").read_text(encoding="utf-8")
    diagram = re.search(r'<svg class="needs".*?</svg>', page, re.S)[0]
    for path in CHAPTER_PATHS:
        assert f'href="../notebooks/{path.stem}.html"' in diagram
    assert diagram.count("<path") >= len(CHAPTER_PATHS)


def test_all_exercises_are_listed_with_their_kind(book):
    page = (book / "book" / "exercises.html").read_text(encoding="utf-8")
    for path in CHAPTER_PATHS:
        for label in re.findall(r":label: (ex-[\w-]+)", path.read_text(encoding="utf-8")):
            assert f"notebooks/{path.stem}.html#{label}" in page, label
    kinds = re.findall(
        r"<p>(by hand|proof|experiment|program|failure to explain|project)</p>", page
    )
    assert len(kinds) == page.count("●</p>") and len(set(kinds)) == 6
