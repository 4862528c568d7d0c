r"""Ablation study for the prototypes of Shen (2013): one setting is changed at a time.

The baseline is her ensemble with our C = 100, with the majority vote and with the distance-weighted
vote. The settings are C, the scale of the features, the number of initial negatives, the
probability of negative updates, the number of shifts (iterations), the weight of the positives, and
the voting rule. Three alternative interpretations of the thesis are tested with the majority vote:
a member classifies a point as positive where LIBSVM's probability exceeds one half, positive sets
are lists that grow at every shift, or one ensemble is trained per pair of classes.

On these data sets, with C = 100, no exemplar is removed before the negative updates begin. Shifts
without negative updates therefore change almost nothing.
"""

from sklearn.multiclass import OneVsOneClassifier

from ....prototypes import PrototypeSVM
from ....tables import Table
from ...methods.statistics import summarise
from ...running.suite import Suite
from .cross_validation import COMMON_DATA_SETS, cross_validate, data_tables
from .interpretations import GrowingListPrototypeSVM, ProbabilityPrototypeSVM
from .result_tables import records_by_data_set_and_method

__all__ = ["METHODS", "SUITE", "carry_out_run"]

DATA_SETS = COMMON_DATA_SETS
BASELINE = "defaults"
CHANGES = {
    BASELINE: {},
    "C = 0.01": {"C": 0.01},
    "C = 1": {"C": 1.0},
    "C = 10,000": {"C": 10_000.0},
    "alternative scale": {},
    "3 negatives": {"n_negatives": 3},
    "15 negatives": {"n_negatives": 15},
    "30 negatives": {"n_negatives": 30},
    "p = 2 %": {"p_negative": 0.02},
    "p = 5 %": {"p_negative": 0.05},
    "no iterations": {"n_shifts": 0},
    "balanced weights": {"positive_weight": "balanced"},
}
INTERPRETATIONS = {
    "positive above one half": ProbabilityPrototypeSVM,
    "growing lists": GrowingListPrototypeSVM,
    "one-vs-one": lambda **options: OneVsOneClassifier(PrototypeSVM(**options)),
}
VOTES = {"majority vote": {"voting": "majority"}, "distance-weighted vote": {"voting": "local"}}
OTHER_VOTES = {
    "probability vote": {"voting": "probability"},
    "vote of the nearest": {"voting": "local", "n_neighbors": 1},
    "vote of the 5 nearest": {"voting": "local", "n_neighbors": 5},
    "vote of the 25 nearest": {"voting": "local", "n_neighbors": 25},
}
OPTIONS_BY_METHOD = {
    f"{change}, {vote}": {**options, **vote_options}
    for vote, vote_options in VOTES.items()
    for change, options in CHANGES.items()
}
OPTIONS_BY_METHOD |= {f"{BASELINE}, {vote}": options for vote, options in OTHER_VOTES.items()}
OPTIONS_BY_METHOD |= {
    f"{interpretation}, majority vote": VOTES["majority vote"] for interpretation in INTERPRETATIONS
}
METHODS = tuple(OPTIONS_BY_METHOD)


def carry_out_run(data_set, method, run):
    """Carry out one run: a ten-fold cross-validation of one setting."""
    change = method.partition(", ")[0]
    model = INTERPRETATIONS.get(change, PrototypeSVM)(**OPTIONS_BY_METHOD[method])
    invert_standardisation = method.startswith("alternative scale")
    return cross_validate(
        lambda X, y: model, data_set, run, invert_standardisation=invert_standardisation
    )


def _compare(records):
    """Return the accuracy of each setting, and its gain over the baseline with the same vote."""
    rows, runs_by_key = [], records_by_data_set_and_method(records)
    for (data_set, method), records_by_run in runs_by_key.items():
        baseline_by_run = runs_by_key[data_set, f"{BASELINE}, {method.partition(', ')[2]}"]
        accuracy = summarise([100 * (1 - r["error"]) for r in records_by_run.values()])
        row = {"data_set": data_set, "method": method, "n_runs": len(records_by_run)}
        row |= {"accuracy": accuracy.mean, "accuracy_se": accuracy.standard_error}
        row["n_members"] = summarise([r["model_size"] for r in records_by_run.values()]).mean
        gain = summarise(
            [
                100 * (baseline_by_run[run]["error"] - records_by_run[run]["error"])
                for run in records_by_run
            ]
        )
        row["gain"], row["gain_se"] = gain.mean, gain.standard_error
        rows.append(row)
    return rows


def _table_maker(first_heading, methods_by_label, format_cell):
    """Return a function that makes a table with one row per method and one column per data set.

    ``format_cell`` maps a report row to a cell.
    """

    def make_table(rows):
        rows_by_key = {(row["data_set"], row["method"]): row for row in rows}
        table_rows = []
        for label, method in methods_by_label.items():
            method_rows = [rows_by_key.get((data_set, method)) for data_set in DATA_SETS]
            if any(method_rows):
                table_rows.append(
                    [label, *(format_cell(row) if row else "" for row in method_rows)]
                )
        return Table([first_heading, *DATA_SETS], table_rows)

    return make_table


def _format_accuracy(row):
    return f"{row['accuracy']:.1f}"


def _format_gain(row):
    """Return the accuracy for the baseline, and the gain for other methods.

    A star marks a gain or loss of more than two standard errors.
    """
    if row["method"].startswith(BASELINE):
        return _format_accuracy(row)
    return f"{row['gain']:+z.1f}{'*' if abs(row['gain']) > 2 * row['gain_se'] else ''}"


MAJORITY_VOTE_METHODS, WEIGHTED_VOTE_METHODS = (
    {change: f"{change}, {vote}" for change in CHANGES} for vote in VOTES
)
MAJORITY_VOTE_METHODS |= {
    interpretation: f"{interpretation}, majority vote" for interpretation in INTERPRETATIONS
}
VOTE_METHODS = {vote: f"{BASELINE}, {vote}" for vote in (*VOTES, *OTHER_VOTES)}

SUITE = Suite(
    name="shen2013-ablation",
    title="Shen (2013): ablation study of the prototypes, one setting at a time",
    data_sets=DATA_SETS,
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_table_maker("majority vote (%)", MAJORITY_VOTE_METHODS, _format_gain),
    extra_tables={
        "weighted": _table_maker("distance-weighted vote (%)", WEIGHTED_VOTE_METHODS, _format_gain),
        "votes": _table_maker("vote (%)", VOTE_METHODS, _format_accuracy),
        "members": _table_maker(
            "members", MAJORITY_VOTE_METHODS, lambda row: f"{row['n_members']:.0f}"
        ),
    },
    data_tables=data_tables(DATA_SETS),
)
