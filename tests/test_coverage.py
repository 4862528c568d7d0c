"""The coverage table: the items of the papers and theses, their places in the book, and verdicts.

References are checked by the build of the pages, where warnings are errors.
"""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent / "book/coverage.md"
VERDICT = re.compile(
    r"reproduced|proved|stated|refuted or corrected: \{ref\}`errata`"
    r"|(reproduced, differs|left out): \S.*"
)
# The numbered items of each paper or thesis, which must have rows in its section of the table. The
# key is a word of the section's heading.
NUMBERED_ITEMS = {
    "Exploring": [f"Figure {k}" for k in range(1, 9)],
    "unbiased": [f"Table {k}" for k in range(1, 5)]
    + [f"Figure {k}" for k in range(1, 3)]
    + ["Figures 3, 4", "Figure 4 (e)", "Step 0", "Step 1", "Steps 2 to 5"],
    "Lin 2005": [f"Theorem {k}" for k in (1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 14, 15)]
    + ["Theorem 8", "Theorems 10, 13", "Algorithm 1", "Algorithm 2", "Algorithm 3"]
    + ["Table 5.1", "Tables 5.2, 5.3", "Table 5.4", "Table 5.5"]
    + [f"$P_{{{k}}}$" if k > 9 else f"$P_{k}$" for k in range(1, 11)],
    "Shen 2013": [f"Algorithm {k}" for k in range(1, 5)]
    + ["Algorithms 5, 6"]
    + [f"Table 5.{k}" for k in range(1, 8)],
}


def rows_by_heading():
    """Return the rows of the table of each section, as lists of cells, with its heading as key."""
    rows = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, table = section.partition("\n")
        lines = [line.strip("|") for line in table.splitlines() if line.startswith("| ")]
        rows[heading] = [[cell.strip() for cell in line.split(" | ")] for line in lines[1:]]
    return rows


@pytest.mark.parametrize("heading_word", NUMBERED_ITEMS)
def test_every_numbered_item_of_a_paper_or_thesis_has_a_row(heading_word):
    (rows,) = [rows for heading, rows in rows_by_heading().items() if heading_word in heading]
    listed_text = " ; ".join(f"{row[0]} {row[1]}" for row in rows)
    patterns = {item: re.escape(item) + r"(?!\d)" for item in NUMBERED_ITEMS[heading_word]}
    assert [item for item, pattern in patterns.items() if not re.search(pattern, listed_text)] == []


def test_every_row_has_a_reference_and_a_verdict():
    rows = [row for table_rows in rows_by_heading().values() for row in table_rows]
    assert len(rows) > 240
    for row in rows:
        assert len(row) == 4, row
        assert re.search(r"\{[\w:]+\}`[^`]+`", row[2]), row
        assert VERDICT.fullmatch(row[3]), row
