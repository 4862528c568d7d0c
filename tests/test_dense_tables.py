"""Tables with seven columns or more get the CSS class "dense", which sets a smaller font."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

EXTENSION = Path(__file__).resolve().parent.parent / "book" / "_ext" / "tables.py"
spec = importlib.util.spec_from_file_location("tables", EXTENSION)
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)


@pytest.mark.parametrize("n_columns, is_dense", [(6, False), (7, True), (8, True)])
def test_tables_of_seven_columns_or_more_are_dense(n_columns, is_dense):
    document = new_document("page", get_default_settings(Parser()))
    rule, header, row = (" ".join([text] * n_columns) for text in ("===", "abc", "1.5"))
    Parser().parse("\n".join([rule, header, rule, row, rule]), document)
    tables.FormatTables(document).apply()
    (table,) = document.findall(nodes.table)
    assert ("dense" in table["classes"]) == is_dense
    assert tables.MIN_DENSE_COLUMNS == 7
