"""On a phone, the columns that matter most in a table are visible without scrolling."""

import pytest

PHONE_WIDTH = 390  # pixels

# The right edges of the header cells of a table, by their text.
RIGHT_EDGES = """table => Object.fromEntries([...table.querySelectorAll("thead th")].map(
  cell => [cell.textContent.trim(), cell.getBoundingClientRect().right]))"""


@pytest.mark.parametrize(
    ("chapter", "table_id", "columns"),
    [
        ("ensembles_as_kernels", "tab-stump-ensembles", ["twonorm", "ring", "heart", "vote84"]),
        (
            "glass_boxes",
            "tab-interaction",
            ["log loss, difference from product", "error, difference from product"],
        ),
        ("glass_boxes", "tab-knots", ["ringnorm", "difference"]),
        ("perceptrons_and_trees", "tab-five-kernels", ["reproduced (%)", "diff. (s.e.)"]),
        ("prototype_svms", "tab-price-of-moving", ["before", "after", "majority"]),
        ("which_machine_when", "tab-bracket", ["lower", "upper", "worst"]),
        ("which_machine_when", "tab-needs", ["lower", "upper", "worst", "met"]),
        ("which_machine_when", "tab-advice", ["lower", "upper", "worst"]),
    ],
)
def test_most_important_columns_are_visible_on_a_phone(visit, chapter, table_id, columns):
    opened = visit(f"notebooks/{chapter}.html")
    opened.show(PHONE_WIDTH, "light")
    edges = opened.page.locator(f"#{table_id} table").evaluate(RIGHT_EDGES)
    assert {column: edges[column] for column in columns if edges[column] > PHONE_WIDTH} == {}
    opened.page.close()
