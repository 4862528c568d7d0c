"""Figures typed from the sources: each table adds up to what its source's does."""

import math
from importlib import import_module

import pytest

# Added up from the sources. Where a suite has a line twice, under two names, so has the sum.
SUMS = {
    ("exploring.parameters", "REPORTED"): 1525.0,
    ("lin2005.kernels", "PRINTED"): 753.96 + 12.77,  # ringnorm
    ("lin2005.kernels", "SECONDS"): 1066.24 + 78.5,
    ("lin2005.boosting", "PRINTED"): 755.25 + 30.63 + 42.93,  # with a hard margin; ringnorm
    ("usvc2004.cases", "REPORTED"): 218.91 + 217.61,
    ("usvc2004.linear", "BY_TABLE"): 293.1,
    ("usvc2004.gaussian", "BY_TABLE"): 160.5,
    ("usvc2004.gaussian", "SIZES"): 31910.0,
    ("usvc2004.biomedical", "BY_TABLE"): 869.51,
    ("shen2013.printed", "PRINTED"): 8842.13,
    ("shen2013.printed", "PRINTED_SIZES"): 3156.0,
}


def numbers(value):
    """Yield all numbers of a table, whatever it is made of."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, str):
        value = map(float, value.split())
    elif isinstance(value, int | float):
        yield value
        return
    for part in value:
        yield from numbers(part)


@pytest.mark.parametrize("module, table", SUMS)
def test_a_table_adds_up_to_what_its_source_does(module, table):
    printed = getattr(import_module(f"svmbook.experiments.suites.{module}"), table)
    assert math.fsum(numbers(printed)) == pytest.approx(SUMS[module, table], abs=1e-6)
