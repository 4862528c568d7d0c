r"""Which voting rules are robust to label noise? Neighbours and prototype SVMs on the islands.

These experiments reproduce no published results. Each run draws 300 training points and 1,000 test
points, the same for all methods. "islands, 20 % noise" has the points of "islands", but a fifth of
the training labels are changed; the test labels are correct. C = 100 unless the name of the method
states another value. In two methods some members abstain at prediction: those whose exemplar has a
changed label, or as many random members. Differences from the reference, the distance-weighted
vote, and between the two data sets are paired.
"""

from copy import copy

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from ....prototypes import PrototypeSVM
from ....prototypes.ensemble import evaluate_hyperplanes
from ....tables import Table
from ...methods.protocols import GeneratedSamples, run_seed
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell, paired_summaries
from .data_sets import islands, with_seed

__all__ = [
    "DATA_SETS",
    "METHODS",
    "SUITE",
    "carry_out_run",
    "draw_samples",
    "flip_labels",
    "remove_votes",
]

CLEAN, NOISY = "islands", "islands, 20 % noise"
#: Fraction of changed training labels by data set.
NOISE_SHARES = {CLEAN: 0.0, NOISY: 0.2}
DATA_SETS = tuple(NOISE_SHARES)
REFERENCE = "distance-weighted vote"
MISLABELLED_ABSTAIN, RANDOM_ABSTAIN = METHODS_WITH_ABSTENTION = (
    "mislabelled members abstain",
    "random members abstain",
)
METHODS = {
    "1 neighbour": KNeighborsClassifier(1),
    "15 neighbours": KNeighborsClassifier(15),
    REFERENCE: PrototypeSVM(),
    "vote of the 25 nearest": PrototypeSVM(n_neighbors=25),
    "majority vote": PrototypeSVM(voting="majority"),
    "distance-weighted vote, C = 3": PrototypeSVM(C=3.0),
    "distance-weighted vote, C = 10": PrototypeSVM(C=10.0),
    **dict.fromkeys(METHODS_WITH_ABSTENTION, PrototypeSVM()),
}


def flip_labels(y, share, seed):
    """Return labels +1 and -1, of which a fraction ``share`` is changed."""
    changed = np.random.default_rng(seed).choice(len(y), round(share * len(y)), replace=False)
    noisy = y.copy()
    noisy[changed] *= -1
    return noisy


def draw_samples(data_set, run):
    """Return the points and seed of a run, and the training labels with the noise of a data set."""
    parts = GeneratedSamples(islands, n_train=300, n_test=1000, n_runs=run + 1)[run]
    return parts, flip_labels(parts.y_train, NOISE_SHARES[data_set], run_seed(0, run, purpose=3))


def remove_votes(fitted, abstaining):
    """Return a copy of a fitted ensemble without the votes of the members that a mask selects."""
    reduced, ensemble = copy(fitted), fitted._ensemble_
    fields = ("coef", "intercept", "exemplars", "codes")
    reduced._ensemble_ = ensemble._replace(
        **{field: getattr(ensemble, field)[~abstaining] for field in fields}
    )
    return reduced


def carry_out_run(data_set, method, run):
    """Carry out one run: train on the labels of the data set, and test on correct labels."""
    parts, noisy_labels = draw_samples(data_set, run)
    model = with_seed(METHODS[method], parts.seed).fit(parts.X_train, noisy_labels)
    record = {"seed": parts.seed, "parameters": {}, "model_size": len(noisy_labels)}
    if isinstance(model, PrototypeSVM):
        exemplars = np.array([member.exemplar for member in model.members_])
        is_mislabelled = noisy_labels[exemplars] != parts.y_train[exemplars]
        is_positive = evaluate_hyperplanes(parts.X_test, model.coef_, model.intercept_)[1]
        record |= {"model_size": len(exemplars), "n_mislabelled_members": int(is_mislabelled.sum())}
        record |= {"votes_per_point": round(float(is_positive.sum(axis=1).mean()), 2)}
        if method in METHODS_WITH_ABSTENTION:
            rng = np.random.default_rng(run_seed(0, run, purpose=4))
            abstaining = {
                MISLABELLED_ABSTAIN: is_mislabelled,
                RANDOM_ABSTAIN: rng.permutation(is_mislabelled),
            }[method]
            model = remove_votes(model, abstaining)
    error = np.mean(model.predict(parts.X_test) != parts.y_test)
    return record | {"error": round(float(error), 6)}


def _compare(records):
    """Return mean errors, and paired differences from the reference and between the data sets."""
    rows = comparison_rows(records, DATA_SETS, METHODS, lambda _: REFERENCE, {"error": 100})
    # With data sets in the place of methods, the differences are between the data sets.
    swapped_records = [r | {"data_set": r["method"], "method": r["data_set"]} for r in records]
    for row in rows:
        summaries = paired_summaries(swapped_records, row["method"], NOISY, CLEAN)
        if row["data_set"] == NOISY and summaries:
            row |= {
                "noise_difference": summaries[1].mean,
                "noise_difference_se": summaries[1].standard_error,
            }
    return rows


def _table_maker(methods):
    """Return a function that makes the table with one row for each of some methods."""
    columns = {"clean labels": (CLEAN, "error", ".1f"), "a fifth changed": (NOISY, "error", ".1f")}
    columns |= {
        "loss": (NOISY, "noise_difference", "+.1f"),
        "minus reference": (NOISY, "difference", "+.1f"),
    }

    def make_table(rows):
        rows_by_key = {(row["method"], row["data_set"]): row for row in rows}
        table_rows = [
            [
                m,
                *(
                    format_cell(rows_by_key.get((m, d), {}), field, format_spec)
                    for d, field, format_spec in columns.values()
                ),
            ]
            for m in methods
        ]
        return Table(["", *columns], table_rows)

    return make_table


SUITE = Suite(
    name="noise-islands",
    title="Neighbours and prototype SVMs under label noise, on the islands",
    data_sets=DATA_SETS,
    methods=tuple(METHODS),
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_table_maker(METHODS),
    extra_tables={
        "votes": _table_maker(
            [m for m in METHODS if "C =" not in m and m not in METHODS_WITH_ABSTENTION]
        ),
        "abstaining": _table_maker([REFERENCE, *METHODS_WITH_ABSTENTION]),
        "C": _table_maker([m for m in METHODS if m.startswith(REFERENCE)]),
    },
    excluded_data_sets=dict.fromkeys(METHODS_WITH_ABSTENTION, (CLEAN,)),
)
