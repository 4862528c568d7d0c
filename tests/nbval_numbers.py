"""A pytest plugin with which nbval tolerates one unit in the last printed digit of a number.

Rounding errors differ between processors, so the last printed digit may differ as well. nbval
compares text. With this plugin, outputs agree if they differ only in such numbers. The summary of a
run lists every cell that needed the tolerance; such a cell should print fewer digits.

The rules:

- The tolerance applies to numbers with a digit after the decimal point, or with an exponent. Two
  integers, such as counts, must be equal.
- The unit is that of the last digit of the number printed with more digits, because trailing
  zeros are not always printed: 9.99 agrees with 10.0, and 0.999 with NumPy's "1."; 9.98 does not
  agree with 10.0.
- The unit must be at most a tenth of the number, so that the number has two significant digits.
  With one digit a unit is a large part of the value and would hide another parameter (C = 0.1 and
  0.2) or another residual (1e-9 and 2e-9). If a single digit depends on rounding, print one digit
  more, or a bound. The plugin cannot detect that a parameter of two digits is replaced by a
  neighbour, such as 0.25 by 0.26: a cell should assert values that must be exact.
- Zeros agree whatever their signs, since tiny values are printed as 0.00 or -0.00.
- Numbers that are part of a word, a version or a date are compared as text: x1.5, 2.5s, 1.2.3,
  svc-1.5.
- If the width of a number changes, the spaces next to numbers may change throughout that output,
  because NumPy pads an array to its widest number. Line breaks and all other spaces must agree.

Only printed text and text representations are compared in this way.
"""

import itertools
import re
from copy import deepcopy
from decimal import Decimal
from functools import partial

from nbval.plugin import IPyNbCell

SIGNS = "+\N{MINUS SIGN}-"
NUMBER = re.compile(
    rf"(?<![\w.])(?<![\w.][{SIGNS}])"  # not inside a word or version, nor after its hyphen
    rf"[{SIGNS}]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?"
    r"(?!\w)(?!\.\d)"
)
DECIMAL_OR_EXPONENT = re.compile(r"\.\d|[eE]")
TEXT_TYPES = {
    "text",  # of a stream
    "text/plain",
    "text/markdown",
    "text/html",
    "text/latex",
}
TOLERANCE_PROPERTY = "numbers that differ in the last digit"


def exact_value(number):
    """Return a printed number exactly, with the exponent of its last digit."""
    return Decimal(number.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def printed_sign(number):
    return number[0] if number[0] in SIGNS else ""


def numbers_agree(number, other):
    """Return whether two numbers are printed alike, or differ by one unit in the last digit.

    Zeros may have different signs.
    """
    a, b = exact_value(number), exact_value(other)
    if a == b == 0:
        return number.lstrip(SIGNS) == other.lstrip(SIGNS)
    if a == b or printed_sign(number) != printed_sign(other):
        return number == other
    if not (DECIMAL_OR_EXPONENT.search(number) or DECIMAL_OR_EXPONENT.search(other)):
        return False
    unit = Decimal(1).scaleb(min(a.as_tuple().exponent, b.as_tuple().exponent))
    return abs(a - b) <= unit <= max(abs(a), abs(b)) / 10


def tolerated_differences(stored_text, fresh_text):
    """Return pairs of numbers that differ in the last digit; None if the texts do not agree.

    Each pair has a number of the stored text and one of the fresh text.
    """
    pairs = list(zip(NUMBER.findall(stored_text), NUMBER.findall(fresh_text), strict=False))
    if not all(numbers_agree(a, b) for a, b in pairs):
        return None
    stored_rest, fresh_rest = (NUMBER.sub("\0", text) for text in (stored_text, fresh_text))
    if any(len(a) != len(b) for a, b in pairs):
        stored_rest, fresh_rest = (
            re.sub(" *\0 *", "\0", rest) for rest in (stored_rest, fresh_rest)
        )
    if stored_rest != fresh_rest:
        return None
    return [(a, b) for a, b in pairs if a != b and exact_value(a) != 0]


def compare_outputs(cell, fresh_outputs, stored_outputs, skip_compare=None):
    """Replace fresh texts by the stored texts with which they agree; then let nbval compare."""
    fresh_outputs = deepcopy(fresh_outputs)
    for outputs in zip(fresh_outputs, stored_outputs, strict=False):
        fresh_data, stored_data = (output.get("data", output) for output in outputs)
        for text_type in sorted(TEXT_TYPES & fresh_data.keys() & stored_data.keys()):
            texts = (cell.sanitize(data[text_type]) for data in (stored_data, fresh_data))
            pairs = tolerated_differences(*texts)
            if pairs is not None:
                fresh_data[text_type] = stored_data[text_type]
                cell.user_properties += [(TOLERANCE_PROPERTY, f"{b} for {a}") for a, b in pairs]
    return type(cell).compare_outputs(cell, fresh_outputs, stored_outputs, skip_compare)


def pytest_itemcollected(item):
    if isinstance(item, IPyNbCell):
        item.compare_outputs = partial(compare_outputs, item)


def pytest_terminal_summary(terminalreporter):
    """List the cells that needed the tolerance."""
    differences_by_cell = {}
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        if getattr(report, "when", None) == "call":
            for name, difference in report.user_properties:
                if name == TOLERANCE_PROPERTY:
                    differences_by_cell.setdefault(report.nodeid, []).append(difference)
    if differences_by_cell:
        terminalreporter.section(f"{TOLERANCE_PROPERTY}: print fewer digits there")
    for cell, differences in sorted(differences_by_cell.items()):
        terminalreporter.line(f"{cell}: {', '.join(differences)}")
