r"""What moves the prototypes of Shen (2013): one setting changed at a time.

All others differ in one respect from her ensemble with our C = 100, by majority vote and by
distance-weighted vote. The settings are C, the scale of the features, the number of first
negatives, the probability of negative updates, shifting at all, the weight of the positives, other
votes, and, by majority vote, three readings of what the thesis leaves open: a member is positive
where LIBSVM's probability exceeds one half; positive sets are lists that grow at every shift; and
one ensemble is trained per pair of classes. On these sets no exemplar is given up at this C before
the negative updates, so that shifts without them change next to nothing.
"""

from sklearn.multiclass import OneVsOneClassifier

from ....prototypes import PrototypeSVM
from ....tables import Table
from ...methods.statistics import summarise
from ...running.suite import Suite
from .folds import SMALL, cross_validated, tables
from .printed import runs_of_each
from .readings import ByProbability, GrowingLists

__all__ = ["METHODS", "SUITE", "work"]

DATA_SETS = SMALL
BASE = "as it is"
CHANGES = {
    BASE: {},
    "price 0.01": {"C": 0.01},
    "price 1": {"C": 1.0},
    "price 10000": {"C": 10_000.0},
    "other scale": {},
    "3 negatives": {"n_negatives": 3},
    "15 negatives": {"n_negatives": 15},
    "30 negatives": {"n_negatives": 30},
    "mining 2 %": {"p_negative": 0.02},
    "mining 5 %": {"p_negative": 0.05},
    "no shifts": {"n_shifts": 0},
    "heavy positives": {"positive_weight": "balanced"},
}
READINGS = {
    "positive above one half": ByProbability,
    "growing lists": GrowingLists,
    "one against one": lambda **options: OneVsOneClassifier(PrototypeSVM(**options)),
}
VOTES = {"by count": {"voting": "count"}, "by nearness": {"voting": "local"}}
OTHER_VOTES = {
    "by probability": {"voting": "probability"},
    "by 1 nearest": {"voting": "local", "n_neighbors": 1},
    "by 5 nearest": {"voting": "local", "n_neighbors": 5},
    "by 25 nearest": {"voting": "local", "n_neighbors": 25},
}
SETTINGS = {
    f"{change} {vote}": {**options, **how}
    for vote, how in VOTES.items()
    for change, options in CHANGES.items()
}
SETTINGS |= {f"{BASE} {vote}": how for vote, how in OTHER_VOTES.items()}
SETTINGS |= {f"{reading} by count": VOTES["by count"] for reading in READINGS}
METHODS = tuple(SETTINGS)


def work(data_set, method, run):
    """Do one run: a ten-fold cross-validation of one setting."""
    change = method.partition(" by ")[0]
    machine = READINGS.get(change, PrototypeSVM)(**SETTINGS[method])
    other_scale = method.startswith("other scale")
    return cross_validated(lambda X, y: machine, data_set, run, other_scale=other_scale)


def _compare(records):
    """Return the accuracy of each setting, and the difference to the same vote as it is, paired."""
    rows, by = [], runs_of_each(records)
    for (data_set, method), runs in by.items():
        base = by[data_set, f"{BASE} {method[method.index('by ') :]}"]
        accuracy = summarise([100 * (1 - r["error"]) for r in runs.values()])
        row = {"data_set": data_set, "method": method, "runs": len(runs)}
        row |= {"reproduced": accuracy.mean, "reproduced_error": accuracy.error}
        row["members"] = summarise([r["model_size"] for r in runs.values()]).mean
        gain = summarise([100 * (base[run]["error"] - runs[run]["error"]) for run in runs])
        row["gain"], row["gain_error"] = gain.mean, gain.error
        rows.append(row)
    return rows


def _layout(head, methods, text):
    """Return the layout with one line per method, under its own name, and one column per set."""

    def layout(rows):
        cells = {(row["data_set"], row["method"]): row for row in rows}
        lines = []
        for name, method in methods.items():
            here = [cells.get((data_set, method)) for data_set in DATA_SETS]
            if any(here):
                lines.append([_shown(name), *(text(row) if row else "" for row in here)])
        return Table([head, *DATA_SETS], lines)

    return layout


def _shown(name):
    """Return the name of a change as the page has it; records keep the former words."""
    words = {"price ": "$C$ = ", "mining": "negative updates", "shifts": "iterations"}
    for former, word in words.items():
        name = name.replace(former, word)
    return name


def _accuracy(row):
    return f"{row['reproduced']:.1f}"


def _gain(row):
    """Return the accuracy without a change, or else the gain; a star marks two errors."""
    if row["method"].startswith(BASE):
        return _accuracy(row)
    return f"{row['gain']:+z.1f}{'*' if abs(row['gain']) > 2 * row['gain_error'] else ''}"


COUNTED, NEAR = ({change: f"{change} {vote}" for change in CHANGES} for vote in VOTES)
COUNTED |= {reading: f"{reading} by count" for reading in READINGS}
VOTED = {vote: f"{BASE} {vote}" for vote in (*VOTES, *OTHER_VOTES)}

SUITE = Suite(
    name="shen2013-ablation",
    title="Shen (2013): what moves the prototypes, one setting at a time",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    compare=_compare,
    layout=_layout("majority vote (%)", COUNTED, _gain),
    more={
        "nearness": _layout("distance-weighted vote (%)", NEAR, _gain),
        "votes": _layout("vote (%)", VOTED, _accuracy),
        "members": _layout("members", COUNTED, lambda row: f"{row['members']:.0f}"),
    },
    tables=tables(DATA_SETS),
)
