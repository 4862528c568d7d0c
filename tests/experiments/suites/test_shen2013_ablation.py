"""What moves the prototypes: each setting alone, and what the page says of it."""

import numpy as np

from svmbook import PrototypeSVM
from svmbook.experiments import report
from svmbook.experiments.suites import shen2013_ablation


def test_the_changes_are_changes_of_the_machine_as_it_is():
    usual = PrototypeSVM().get_params()
    for method, options in shen2013_ablation.SETTINGS.items():
        changed = {name for name, value in options.items() if usual[name] != value} - {"voting"}
        same = (shen2013_ablation.BASE, "other scale", *shen2013_ablation.READINGS)
        plain = method.startswith(same)
        assert len(changed) == (0 if plain and "nearest" not in method else 1)


def test_what_the_page_says_of_the_changes():
    rows = {(row["data_set"], row["method"]): row for row in report("shen2013-ablation").rows}
    sets = shen2013_ablation.DATA_SETS

    def gains(method):
        return dict(zip(sets, (rows[name, method]["gain"] for name in sets), strict=True))

    by_count, by_nearness, by_nearest = (
        np.array([rows[name, f"as it is {vote}"]["reproduced"] for name in sets])
        for vote in ("by count", "by nearness", "by 1 nearest")
    )
    worth = dict(zip(sets, np.round(by_nearness - by_count), strict=True))
    assert worth == {
        **{"isolated": 12, "striated": 19, "spirals": 19},
        **{"iris": 0, "glass": 11, "vehicle": 2},
    }
    better = by_nearest - by_nearness > 0.5
    assert [name for name, it_is in zip(sets, better, strict=True) if it_is] == ["spirals", "glass"]
    idle, mined = gains("no shifts by count"), gains("mining 5 % by count")
    assert round(idle["vehicle"]) == -25 and round(idle["isolated"]) == -28
    assert 9 < mined["glass"] < 10 and 13 < mined["striated"] < 14
    assert rows["glass", "mining 5 % by count"]["reproduced"] > 60
    assert rows["spirals", "price 1 by nearness"]["reproduced"] < 50
    best = max(
        row["reproduced"] for key, row in rows.items() if key[0] == "striated" and "count" in key[1]
    )
    assert best < 97.3 - 5
    for vote in ("by count", "by nearness"):
        assert gains(f"price 1 {vote}")["isolated"] <= -30
        assert all(abs(gain) < 1 for gain in gains(f"price 10000 {vote}").values())
        scale = gains(f"other scale {vote}")
        assert round(scale.pop("striated")) == (-14 if vote == "by count" else -26)
        assert all(abs(gain) < 5 for gain in scale.values())
    for change in ("3 negatives", "15 negatives", "heavy positives"):
        assert all(abs(gain) < 1.5 for gain in gains(f"{change} by nearness").values())
    assert round(gains("15 negatives by count")["striated"]) == 9
    heavy = gains("heavy positives by count")
    assert round(heavy["striated"]) == 11 and round(heavy["isolated"]) == -12
    fewest = {
        name: min(rows[name, m]["members"] for m in shen2013_ablation.METHODS) for name in sets
    }
    assert fewest["glass"] > 3 * 35 and fewest["vehicle"] > 2 * 110
