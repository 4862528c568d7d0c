"""Length and structure of the chapters: words, visible code, and the summary at the end."""

import re
from pathlib import Path
from statistics import median

import pytest
from prose import cells, count_words, markdown, sentences

CHAPTERS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
MAX_WORDS, MEDIAN_WORDS = 4000, 3500
MAX_LINES, MEDIAN_LINES, MAX_CELL_LINES, MAX_IMPORT_LINES = 250, 200, 25, 10
FOLDED = re.compile(
    r"^```\{solution-start\}.*?^```\{solution-end\}\n```$|"
    r"^:::\{dropdown\}[^\n]*\n:class-container: quiz.*?^:::$",
    re.MULTILINE | re.DOTALL,
)
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def text_of(path):
    """Return the Markdown of a chapter without solutions and self-check questions."""
    return FOLDED.sub("", markdown(path))


def n_words(path):
    return sum(map(count_words, sentences(text_of(path))))


def visible_lines(path):
    """Return the number of lines of each visible code cell; solutions are folded."""
    return [
        len([line for line in cell["source"].splitlines() if line.strip()])
        for cell in cells(path, "code")
        if not HIDDEN & {*cell["metadata"].get("tags", ())}
        and not cell["metadata"].get("jupyter", {}).get("source_hidden", False)
    ]


def test_solutions_and_questions_do_not_count():
    hidden = "```{solution-start} a\n:class: dropdown\n```\nOne.\n```{solution-end}\n```\n"
    question = ":::{dropdown} Two?\n:class-container: quiz\n\nThree\n: Four.\n:::\n"
    left = FOLDED.sub("", f"Five.\n\n{hidden}\n{question}\nSix.")
    assert list(sentences(left)) == ["Five.", "Six."]


@every_chapter
def test_chapter_can_be_read_in_one_sitting(path):
    lines = visible_lines(path)
    assert n_words(path) <= MAX_WORDS
    assert sum(lines) <= MAX_LINES
    assert max(lines) <= MAX_CELL_LINES
    imports = cells(path, "code")[1]["source"].split("plotting.use_book_style()")[0]
    assert 3 < len([line for line in imports.splitlines() if line]) <= MAX_IMPORT_LINES


def test_median_chapter_is_shorter():
    assert median(map(n_words, CHAPTERS)) <= MEDIAN_WORDS
    assert median(sum(visible_lines(path)) for path in CHAPTERS) <= MEDIAN_LINES


@every_chapter
def test_chapter_ends_with_a_summary_and_further_reading(path):
    _, summary = text_of(path).split("\n## Summary\n")
    assert "{admonition} To remember\n:class: summary\n" in summary
    assert "*Calls" in summary and "*When to use" in summary
    assert "*Further reading" in summary


@every_chapter
def test_package_is_used_in_the_first_third_of_the_visible_code(path):
    sources = [cell["source"] for cell in cells(path, "code")]
    used = [k for k, source in enumerate(sources) if re.search(r"from svmbook import", source)]
    assert used and used[0] <= len(sources) / 3
