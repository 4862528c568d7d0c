"""The suite shen2013-ablation: its settings, and statements of the page on them."""

import pytest

from svmbook import PrototypeSVM
from svmbook.experiments import report
from svmbook.experiments.suites.shen2013 import ablation

C_CHANGES = ("price 0.01", "price 1", "as it is", "price 10000")


@pytest.fixture(scope="module")
def rows():
    """Return the rows of the report by data set and method."""
    return {(row["data_set"], row["method"]): row for row in report("shen2013-ablation").rows}


def column(rows, method, field="gain"):
    """Return a field of a method by data set."""
    return {name: rows[name, method][field] for name in ablation.DATA_SETS}


def test_each_setting_changes_at_most_one_parameter_besides_the_vote():
    defaults = PrototypeSVM().get_params()
    for method, options in ablation.SETTINGS.items():
        changed = {name for name, value in options.items() if defaults[name] != value} - {"voting"}
        unchanged = method.startswith((ablation.BASE, "other scale", *ablation.READINGS))
        assert len(changed) == (0 if unchanged and "nearest" not in method else 1)


def test_statements_of_the_page_on_the_changes(rows):
    by_count, by_nearness, by_nearest = (
        column(rows, f"as it is {vote}", "reproduced")
        for vote in ("by count", "by nearness", "by 1 nearest")
    )
    assert {name: round(by_nearness[name] - by_count[name]) for name in by_count} == {
        **{"isolated": 12, "striated": 19, "spirals": 19},
        **{"iris": 0, "glass": 11, "vehicle": 2},
    }
    better = [name for name in by_count if by_nearest[name] - by_nearness[name] > 0.5]
    assert better == ["spirals", "glass"]
    no_shifts = column(rows, "no shifts by count")
    assert round(no_shifts["vehicle"]) == -25 and round(no_shifts["isolated"]) == -28
    mining = column(rows, "mining 5 % by count")
    assert 9 < mining["glass"] < 10 and 13 < mining["striated"] < 14
    assert rows["glass", "mining 5 % by count"]["reproduced"] > 60
    assert rows["spirals", "price 1 by nearness"]["reproduced"] < 50
    best = max(
        row["reproduced"] for key, row in rows.items() if key[0] == "striated" and "count" in key[1]
    )
    assert best < 97.3 - 5
    for vote in ("by count", "by nearness"):
        assert column(rows, f"price 1 {vote}")["isolated"] <= -30
        assert all(abs(gain) < 1 for gain in column(rows, f"price 10000 {vote}").values())
        gains = column(rows, f"other scale {vote}")
        assert round(gains.pop("striated")) == (-14 if vote == "by count" else -26)
        assert all(abs(gain) < 5 for gain in gains.values())
    for change in ("3 negatives", "15 negatives", "heavy positives"):
        assert all(abs(gain) < 1.5 for gain in column(rows, f"{change} by nearness").values())
    assert round(rows["striated", "15 negatives by count"]["gain"]) == 9
    heavy = column(rows, "heavy positives by count")
    assert round(heavy["striated"]) == 11 and round(heavy["isolated"]) == -12
    for name, bound in (("glass", 1.8 * 35), ("vehicle", 1.7 * 110)):
        assert min(rows[name, method]["members"] for method in ablation.METHODS) > bound
    members = [rows["glass", f"{change} by count"]["members"] for change in C_CHANGES]
    assert (round(min(members)), round(max(members))) == (126, 144)


def test_statements_of_the_page_on_the_three_interpretations(rows):
    members = column(rows, "positive above one half by count", "members")
    assert [round(members[name]) for name in ("vehicle", "glass", "iris")] == [194, 65, 61]
    members = column(rows, "as it is by count", "members")
    assert [round(members[name]) for name in ("vehicle", "glass", "iris")] == [570, 144, 100]
    gains = column(rows, "positive above one half by count")
    assert max(gains.values()) < 0 and round(gains["glass"]) == -15
    gains = column(rows, "growing lists by count")
    assert round(gains.pop("striated")) == 6 and round(gains.pop("isolated")) == 2
    assert all(abs(gain) < 1 for gain in gains.values())
    gains = column(rows, "one against one by count")
    assert round(gains["glass"]) == 12 and round(gains["iris"]) == 2
    assert abs(gains["vehicle"]) < 0.5
    assert all(abs(gains[name]) < 1e-9 for name in ("isolated", "striated", "spirals"))
