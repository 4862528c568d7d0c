"""Effects of shifts, voting rules and sampling on prototype SVMs, on three data sets in the plane.

Questions: do the shifts (iterations) lower the test error, and does this come from the positive or
from the negative updates? Which voting rule suits prototypes? Is their error lower than that of
exemplars, which are trained once? Does sampling increase the error?

Protocol: each run draws 300 training points and 2,000 test points, the same for all methods.
Prototype SVMs select the iteration on a validation set, a quarter of the training points. The model
size is the number of ensemble members, or of training points (nearest neighbour).
"""

import itertools
from functools import partial

from sklearn.neighbors import KNeighborsClassifier

from ....prototypes import ExemplarSVM, PrototypeSVM, SampledPrototypeSVM
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import paired_summaries
from .data_sets import DATA_SETS as ALL_DATA_SETS
from .data_sets import WEIGHTED_NEIGHBOURS, with_seed
from .exemplar_votes import table_by_data_set

__all__ = ["METHODS", "REFERENCES", "SUITE", "VOTES", "carry_out_run", "draw_samples"]

DATA_SETS = {name: ALL_DATA_SETS[name] for name in ("islands", "stripes", "wedge")}
VOTES = {"majority vote": "majority", "distance-weighted vote": "local"}
NO_SHIFTS = "no shifts"
SHIFT_OPTIONS = {
    NO_SHIFTS: {"n_shifts": 0},
    "ten shifts": {},
    "positive updates only": {"p_negative": 0.0},
}
WEIGHTED_VOTE, EXEMPLAR_SVM = "C = 100, distance-weighted vote", "C = 100, exemplars of all points"
VOTE_METHODS = {
    "C = 100, majority vote": PrototypeSVM(C=100.0, voting="majority"),
    "C = 100, probability vote": PrototypeSVM(C=100.0, voting="probability"),
    "C = 100, LIBSVM's probability vote": PrototypeSVM(C=100.0, voting="cv_probability"),
    WEIGHTED_VOTE: PrototypeSVM(C=100.0, voting="local"),
    f"{WEIGHTED_VOTE}, no shifts": PrototypeSVM(C=100.0, voting="local", n_shifts=0),
    EXEMPLAR_SVM: ExemplarSVM(C=100.0, mining=False, positive_weight=1.0, voting="local"),
    "nearest neighbour": KNeighborsClassifier(1),
    "5 neighbours, weighted": WEIGHTED_NEIGHBOURS,
}
SHIFT_METHODS = {
    f"C = 10, {vote}, {shifts}": PrototypeSVM(C=10.0, voting=voting, **options)
    for vote, voting in VOTES.items()
    for shifts, options in SHIFT_OPTIONS.items()
}
SAMPLED_METHODS = {
    f"C = 100, {vote}, sampled": SampledPrototypeSVM(C=100.0, voting=voting)
    for vote, voting in VOTES.items()
}
METHODS = SHIFT_METHODS | VOTE_METHODS | SAMPLED_METHODS
#: Reference method of each method for paired differences.
#: A method that serves only as a reference is mapped to itself.
REFERENCES = {name: f"{name.rpartition(', ')[0]}, {NO_SHIFTS}" for name in SHIFT_METHODS}
REFERENCES |= dict.fromkeys(VOTE_METHODS, WEIGHTED_VOTE)
REFERENCES |= {name: name.rpartition(", ")[0] for name in SAMPLED_METHODS}
METHODS_WITH_REFERENCE = tuple(name for name, reference in REFERENCES.items() if name != reference)


def draw_samples(data_set, run):
    """Return training points, test points and seed of a run."""
    return GeneratedSamples(DATA_SETS[data_set], n_train=300, n_test=2000, n_runs=run + 1)[run]


def carry_out_run(data_set, method, run):
    """Carry out one run: fit the classifier, and measure its error on test points."""
    parts = draw_samples(data_set, run)
    model = with_seed(METHODS[method], parts.seed).fit(parts.X_train, parts.y_train)
    record = {
        "seed": parts.seed,
        "parameters": {},
        "error": round(float(1.0 - model.score(parts.X_test, parts.y_test)), 6),
        "model_size": len(getattr(model, "members_", parts.y_train)),
    }
    if isinstance(model, PrototypeSVM):
        record["parameters"] = {"n_shifts": int(model.n_shifts_)}  # of the selected iteration
        record["validation_error"] = round(float(1.0 - model.validation_score_), 6)
    if isinstance(model, SampledPrototypeSVM):
        record["n_added_points"] = len(model.samples_[-1]) - len(model.samples_[0])
    return record


def _compare(records):
    """Return means, and paired differences from the reference of each method."""
    rows = []
    for data_set, (method, reference) in itertools.product(DATA_SETS, REFERENCES.items()):
        summarise_pair = partial(paired_summaries, records, data_set, method)
        summaries_by_prefix = {"": summarise_pair(reference)}
        if summaries_by_prefix[""] is None:
            continue
        row = {
            "data_set": data_set,
            "method": method,
            "n_runs": summaries_by_prefix[""][0].n_values,
        }
        row["model_size"] = summarise_pair(reference, field="model_size", factor=1.0)[0].mean
        if method in SHIFT_METHODS:
            summaries_by_prefix["validation_"] = summarise_pair(reference, field="validation_error")
        if method in SAMPLED_METHODS:
            n_added, _ = summarise_pair(method, field="n_added_points", factor=1.0)
            row["n_added_points"] = n_added.mean
        for prefix, (summary, difference) in summaries_by_prefix.items():
            row |= {f"{prefix}error": summary.mean, f"{prefix}error_se": summary.standard_error}
            row |= {f"{prefix}difference": difference.mean}
            row |= {f"{prefix}difference_se": difference.standard_error}
        rows.append(row)
    return rows


_make_table = partial(table_by_data_set, methods=METHODS, data_sets=DATA_SETS)

SUITE = Suite(
    name="prototype-shifts",
    title="Prototype SVMs: shifts, voting rules and sampling, on three data sets in the plane",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    extra_tables={
        "differences": partial(
            _make_table, methods=METHODS_WITH_REFERENCE, field="difference", format_spec="+.2f"
        ),
        "votes": partial(_make_table, methods=VOTE_METHODS),
    },
)
