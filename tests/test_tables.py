"""Tables in which no text can break a cell, and reports that give access to their numbers."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbook.tables import Report, Table


def parse_cells(table):
    """Return the cells of each row as parsed by markdown-it."""
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(table._repr_markdown_())
    assert tokens[0].type == "table_open" and tokens[-1].type == "table_close"
    texts = [token.content for token in tokens if token.type == "inline"]
    n_columns = len(table.columns)
    assert len(texts) == n_columns * (1 + len(table.rows))
    return [texts[start : start + n_columns] for start in range(0, len(texts), n_columns)]


@given(st.lists(st.text("a|\\$`\n\r\u2028 ", max_size=8), min_size=6, max_size=6))
def test_no_text_breaks_a_cell(texts):
    cells = parse_cells(Table(texts[:2], [texts[2:4], texts[4:]]))
    for cell, text in zip(itertools.chain(*cells), texts, strict=True):
        assert cell.count("a") == text.count("a")


def test_bars_and_line_breaks_are_escaped_or_replaced():
    table = Table(["$|x|$", "n"], [["a|b", 1], [r"a\|b", 2], ["two\nlines", r"$\|w\|$, $|b|$"]])
    assert parse_cells(table) == [
        [r"$\vert{}x\vert{}$", "n"],
        ["a|b", "1"],
        ["a|b", "2"],
        ["two lines", r"$\Vert{}w\Vert{}$, $\vert{}b\vert{}$"],
    ]


def test_numbers_get_a_minus_sign_and_words_keep_the_hyphen():
    cells = parse_cells(
        Table(["a", "b"], [[-1.5, "-.2 to -1"], ["6e-14, 1-9", "-w, --runs, `-1`"]])
    )
    assert cells[1:] == [["\u22121.5", "\u2212.2 to \u22121"], ["6e-14, 1-9", "-w, --runs, `-1`"]]


def test_table_of_iterators_can_be_shown_twice():
    table = Table(iter(["n", "square"]), ((n, n * n) for n in range(2)))
    assert repr(table) == repr(table) == "| n | square |\n|---|---|\n| 0 | 0 |\n| 1 | 1 |"


@pytest.mark.parametrize(
    ("columns", "rows", "error", "message"),
    [
        (
            ["n", "time"],
            [[1, 2], [3]],
            ValueError,
            r"row 1 has length 1, but columns has length 2: \(3,\)",
        ),
        (["n"], [[1, 2]], ValueError, "row 0 has length 2, but columns has length 1"),
        ([], [], ValueError, "columns is empty"),
        ("n", [[1]], TypeError, "columns is 'n'; give a sequence"),
        (["n", "m"], ["12"], TypeError, "row 0 is '12'; give a sequence"),
        (["n"], [1], TypeError, "row 0 is 1; give a sequence"),
        (["n"], None, TypeError, "rows is None; give a sequence"),
    ],
)
def test_invalid_table_is_reported(columns, rows, error, message):
    with pytest.raises(error, match=message):
        Table(columns, rows)


def test_report_gives_its_rows_as_data_frame_and_its_notes_in_markdown():
    pd = pytest.importorskip("pandas")
    rows = ({"data_set": "sonar", "error": 1 / 3}, {"data_set": "heart", "error": 0.25})
    report = Report(Table(["error"], [["33.3"], ["25.0"]]), rows, ("Two runs.", "Versions."))
    frame = report.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.set_index("data_set")["error"]["sonar"] == 1 / 3
    markdown = report._repr_markdown_()
    assert markdown.splitlines()[0] == "| error |" and markdown.endswith(
        "\n\nTwo runs.\n\nVersions."
    )
