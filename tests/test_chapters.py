"""Length and structure of the chapters: number of words, visible code, summary at the end."""

import re
from pathlib import Path
from statistics import median

import pytest
from prose import count_words, read_cells, read_markdown, sentences

CHAPTERS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
MAX_WORDS, MAX_MEDIAN_WORDS = 4000, 3500
MAX_CODE_LINES, MAX_MEDIAN_CODE_LINES, MAX_CELL_LINES, MAX_IMPORT_LINES = 250, 200, 25, 10
FOLDED_BLOCK = re.compile(
    r"^```\{solution-start\}.*?^```\{solution-end\}\n```$|"
    r"^:::\{dropdown\}[^\n]*\n:class-container: quiz.*?^:::$",
    re.MULTILINE | re.DOTALL,
)
HIDING_TAGS = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def unfolded_text(path):
    """Return the Markdown of a chapter without solutions and self-check questions."""
    return FOLDED_BLOCK.sub("", read_markdown(path))


def count_chapter_words(path):
    return sum(map(count_words, sentences(unfolded_text(path))))


def visible_line_counts(path):
    """Return the number of lines of each visible code cell; cells of solutions are not visible."""
    return [
        len([line for line in cell["source"].splitlines() if line.strip()])
        for cell in read_cells(path, "code")
        if not HIDING_TAGS & {*cell["metadata"].get("tags", ())}
        and not cell["metadata"].get("jupyter", {}).get("source_hidden", False)
    ]


def test_solutions_and_questions_are_not_counted():
    solution = "```{solution-start} a\n:class: dropdown\n```\nOne.\n```{solution-end}\n```\n"
    question = ":::{dropdown} Two?\n:class-container: quiz\n\nThree\n: Four.\n:::\n"
    remaining_text = FOLDED_BLOCK.sub("", f"Five.\n\n{solution}\n{question}\nSix.")
    assert list(sentences(remaining_text)) == ["Five.", "Six."]


@every_chapter
def test_lengths_of_a_chapter_and_its_code_are_within_their_limits(path):
    line_counts = visible_line_counts(path)
    assert count_chapter_words(path) <= MAX_WORDS
    assert sum(line_counts) <= MAX_CODE_LINES
    assert max(line_counts) <= MAX_CELL_LINES
    import_source = read_cells(path, "code")[1]["source"].split("plotting.use_book_style()")[0]
    assert 3 < len([line for line in import_source.splitlines() if line]) <= MAX_IMPORT_LINES


def test_median_lengths_of_chapters_are_within_their_limits():
    assert median(map(count_chapter_words, CHAPTERS)) <= MAX_MEDIAN_WORDS
    assert median(sum(visible_line_counts(path)) for path in CHAPTERS) <= MAX_MEDIAN_CODE_LINES


@every_chapter
def test_chapter_ends_with_a_summary_and_further_reading(path):
    _, summary = unfolded_text(path).split("\n## Summary\n")
    assert "{admonition} To remember\n:class: summary\n" in summary
    assert "*Calls" in summary and "*When to use" in summary
    assert "*Further reading" in summary


@every_chapter
def test_package_is_imported_in_the_first_third_of_the_code_cells(path):
    sources = [cell["source"] for cell in read_cells(path, "code")]
    importing_cell_indices = [
        k for k, source in enumerate(sources) if re.search(r"from svmbook import", source)
    ]
    assert importing_cell_indices and importing_cell_indices[0] <= len(sources) / 3
