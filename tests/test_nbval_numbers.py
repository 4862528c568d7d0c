"""Which outputs nbval accepts as equal; tests/test_nbval.py tests its report."""

import pytest

pytest.importorskip("nbval")
from nbval_numbers import tolerated_differences

TEXTS_WITH_EQUAL_NUMBERS = {  # identical but for the sign of a zero
    "identical": ("error 1.69 %, 12 of 37\n", "error 1.69 %, 12 of 37\n"),
    "empty": ("", ""),
    "sign of a zero": ("b = -0.00", "b = 0.00"),
    "sign of a zero that is always printed": ("\N{MINUS SIGN}0.0 ± 0.2", "+0.0 ± 0.2"),
    "sign of a zero without decimals": ("-0 points", "0 points"),
    "sign of a zero in an array": ("[-0.  1.]", "[0. 1.]"),
}
TEXTS_WITH_CLOSE_NUMBERS = {
    "one unit": ("error 1.69 %", "error 1.70 %"),
    "one unit less": ("1.70", "1.69"),
    "with a standard error": ("\N{MINUS SIGN}23.8 ± 3.6", "\N{MINUS SIGN}23.7 ± 3.5"),
    "several": ("1.69 against 25.9 and 3.00", "1.70 against 26.0 and 3.00"),
    "one digit before the point": ("share 0.95", "share 0.96"),
    "nine and ten": ("0.9 of it", "1.0 of it"),
    "an exponent": ("gap 1.5e-09", "gap 1.6e-09"),
    "an exponent that changes": ("gap 9.99e-05", "gap 0.0001"),
    "an exponent in place of digits": ("99999 points", "1e+05 points"),
    "thousands": ("1,999.9 points", "2,000.0 points"),
    "integers beside decimals": ("9.99 and 1", "10 and 0.999"),
    "an array": ("[1.    1.857 1.   ]", "[1.    1.857 0.999]"),
    "a wider array": ("[[9.99 1.5 ]\n [2.   3.  ]]", "[[10.    1.5 ]\n [ 2.    3.  ]]"),
    "aligned columns": ("glass   9.95\niris   10.25\n", "glass   9.96\niris   10.26\n"),
    "a column of fixed width": ("glass   9.99\niris   20.25\n", "glass  10.00\niris   20.25\n"),
    "a table": ("| glass | 9.9 |\n| iris | 3 |", "| glass | 10.0 |\n| iris | 3 |"),
    "HTML": ("<td>1.69</td><td>37</td>", "<td>1.70</td><td>37</td>"),
    "LaTeX": ("$1.5 \\times 10^{-3}$", "$1.6 \\times 10^{-3}$"),
    "end of a sentence": ("It is 1.69.", "It is 1.70."),
    "two numbers joined by a sign": ("1.25±0.11", "1.26±0.12"),
}
DIFFERENT_TEXTS = {
    "two units": ("error 1.69 %", "error 1.71 %"),
    "one unit of the number with fewer digits": ("9.98", "10.0"),
    "a count": ("12 of 37", "13 of 37"),
    "a count without its decimals": ("[ 1. 12.]", "[ 1. 13.]"),
    "a count with thousands": ("2,272 numbers", "2,273 numbers"),
    "one significant digit": ("C = 0.1", "C = 0.2"),
    "one significant digit and an exponent": ("residual 1e-09", "residual 2e-09"),
    "zero and nonzero": ("0.00", "0.01"),
    "signs": ("-1.25", "1.25"),
    "a sign that is no longer printed": ("+1.25", "1.26"),
    "another kind of minus": ("-1.25", "\N{MINUS SIGN}1.25"),
    "decimals": ("0.50", "0.5"),
    "decimals of zero": ("0.00", "-0.0"),
    "words": ("chosen: trees, 1.69", "chosen: stumps, 1.69"),
    "words beside a close number": ("trees 1.69", "stumps 1.70"),
    "order": ("1.69 2.75", "2.75 1.69"),
    "one number fewer": ("1.69 2.75", "1.69"),
    "one number more": ("1.69", "1.69 2.75"),
    "lines": ("1.69\n2.75", "1.69 2.75"),
    "lines beside a wider number": ("9.99\n2.75", "10.00 2.75"),
    "an empty line": ("1.69\n", "1.69\n\n"),
    "spaces without a change of width": ("a  1.69", "a 1.70"),
    "spaces between words": ("a  b 9.99", "a b 10.00"),
    "a number against a word": ("1.69", "nan"),
    "a version": ("1.2.30", "1.2.31"),
    "a version of three parts": ("1.20.3", "1.21.3"),
    "a date": ("26.11.2026", "27.11.2026"),
    "a date of integers": ("2026-11-26", "2026-11-27"),
    "an identifier": ("x1.5", "x1.6"),
    "an identifier with a hyphen": ("svc-1.5", "svc-1.6"),
    "a word that begins with a number": ("1.5rem", "1.6rem"),
    "an exponent in LaTeX": ("$1.5 \\times 10^{-3}$", "$1.5 \\times 10^{-4}$"),
    "a colour": ("#aa1125", "#aa1126"),
}


@pytest.mark.parametrize(
    ("stored_text", "fresh_text"), TEXTS_WITH_EQUAL_NUMBERS.values(), ids=TEXTS_WITH_EQUAL_NUMBERS
)
def test_texts_with_equal_numbers_need_no_tolerance(stored_text, fresh_text):
    assert (
        tolerated_differences(stored_text, fresh_text)
        == tolerated_differences(fresh_text, stored_text)
        == []
    )


@pytest.mark.parametrize(
    ("stored_text", "fresh_text"), TEXTS_WITH_CLOSE_NUMBERS.values(), ids=TEXTS_WITH_CLOSE_NUMBERS
)
def test_texts_with_close_numbers_agree_within_the_tolerance(stored_text, fresh_text):
    assert tolerated_differences(stored_text, fresh_text) and tolerated_differences(
        fresh_text, stored_text
    )


@pytest.mark.parametrize(
    ("stored_text", "fresh_text"), DIFFERENT_TEXTS.values(), ids=DIFFERENT_TEXTS
)
def test_different_texts_do_not_agree(stored_text, fresh_text):
    assert tolerated_differences(stored_text, fresh_text) is None
    assert tolerated_differences(fresh_text, stored_text) is None


def test_tolerated_differences_are_pairs_of_a_stored_and_a_fresh_number():
    assert tolerated_differences("1.69 ± 0.3, 25.9", "1.70 ± 0.3, 26.0") == [
        ("1.69", "1.70"),
        ("25.9", "26.0"),
    ]
