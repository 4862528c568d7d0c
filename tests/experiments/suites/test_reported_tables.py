"""Tables copied by hand from the sources: each has the same sum as the printed table."""

import math
from importlib import import_module

import pytest

# Sums of the printed tables. A row that a suite has under two names is included twice.
SUMS = {
    ("exploring.parameters", "REPORTED"): 1525.0,
    ("lin2005.kernels", "REPORTED_BY_DATA_SET"): 753.96 + 12.77,  # ringnorm
    ("lin2005.kernels", "REPORTED_SECONDS"): 1066.24 + 78.5,
    ("lin2005.boosting", "REPORTED_BY_DATA_SET"): 755.25 + 30.63 + 42.93,  # hard margin; ringnorm
    ("usvc2004.cases", "REPORTED"): 218.91 + 217.61,
    ("usvc2004.linear", "REPORTED_BY_DATA_SET"): 293.1,
    ("usvc2004.gaussian_kernels", "REPORTED_BY_DATA_SET"): 160.5,
    ("usvc2004.gaussian_kernels", "REPORTED_KERNEL_COUNTS"): 31910.0,
    ("usvc2004.biomedical", "REPORTED_BY_DATA_SET"): 869.51,
    ("shen2013.result_tables", "REPORTED_ACCURACIES"): 8842.13,
    ("shen2013.result_tables", "REPORTED_ITERATIONS_AND_SIZES"): 3156.0,
}


def iterate_numbers(value):
    """Yield all numbers of a table made of dicts, sequences and strings."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, str):
        value = map(float, value.split())
    elif isinstance(value, int | float):
        yield value
        return
    for part in value:
        yield from iterate_numbers(part)


@pytest.mark.parametrize("module_name, table_name", SUMS)
def test_sum_of_a_copied_table_equals_that_of_the_printed_table(module_name, table_name):
    copied_table = getattr(import_module(f"svmbook.experiments.suites.{module_name}"), table_name)
    assert math.fsum(iterate_numbers(copied_table)) == pytest.approx(
        SUMS[module_name, table_name], abs=1e-6
    )
