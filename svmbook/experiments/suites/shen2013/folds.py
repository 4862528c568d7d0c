r"""The cross-validations of Shen (2013): her data, with or without noise, and their ten folds.

A run is a whole ten-fold cross-validation from one seed, with the accuracy of each fold; the thesis
prints one such run. `isolated` and `striated` are drawn anew for each seed, in the settings that
`search` found, and so are the messages, which stand for her tweets; they and the spirals
keep their coordinates, the features of real sets are standardised on each training set. With label
noise a share of all labels is changed to another class before the folds are made, those of test
points too, as in the thesis; how the same machines do on the labels as they were before is kept as
well. Folds are drawn at random and stratified, but for `spirals in turn`: there every tenth line of
the file is a fold, and as arms alternate in it, each fold holds points of one arm only.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ....datasets import load, message_features, messages, spirals
from ...methods.protocols import run_seed
from .search import drawn

__all__ = [
    "FOLDS",
    "IN_TURN",
    "SETS",
    "SMALL",
    "cross_validated",
    "data",
    "named",
    "tables",
    "with_noise",
]

FOLDS = 10
SYNTHETIC = ("isolated", "striated", "spirals")
TABLES = ("iris", "glass", "vehicle", "segment")  # loaded by name; the others are made
SMALL = (*SYNTHETIC, *TABLES[:-1])  # those that all suites have
SETS = (*SYNTHETIC, *TABLES, "messages")
IN_TURN = "spirals in turn"
DRAWN = {
    "isolated": "isolated, spread 0.075, unit 3",
    "striated": "striated, width 0.1, length 16, tilt 45, unit 3",
}


def with_noise(share, sets):
    """Return the names of sets with a share of their labels changed.

    Examples
    --------
    >>> from svmbook.experiments.suites.shen2013.folds import with_noise
    >>> with_noise(0.1, ["iris"]), with_noise(0.0, ["iris"])
    (('iris, 10 % noise',), ('iris',))
    """
    return tuple(f"{name}, {100 * share:.0f} % noise" if share else name for name in sets)


def tables(data_sets):
    """Return for each of these sets that is a real one the name it is loaded by."""
    return {name: named(name)[0] for name in data_sets if named(name)[0] in TABLES}


def named(data_set):
    """Return the name of a set without its noise, and the share of changed labels.

    Examples
    --------
    >>> from svmbook.experiments.suites.shen2013.folds import named
    >>> named("glass"), named("glass, 10 % noise")
    (('glass', 0.0), ('glass', 0.1))
    """
    name, *noise = data_set.split(", ")
    return name, int(noise[0].split(" ")[0]) / 100 if noise else 0.0


def data(data_set, seed):
    """Return points, labels as numbers, and labels some of which are changed to another class."""
    name, share = named(data_set)
    if name in DRAWN:
        X, y = drawn(DRAWN[name], seed)
    elif name in ("spirals", IN_TURN):
        X, y = spirals()
    elif name == "messages":
        texts, y = messages(600, random_state=seed)
        X, _ = message_features(texts)
    else:
        table = load(name)
        X, y = table.data, table.target
    classes, codes = np.unique(y, return_inverse=True)
    rng = np.random.default_rng(run_seed(seed, 0, purpose=1))
    changed = rng.choice(len(codes), round(share * len(codes)), replace=False)
    noisy = codes.copy()
    noisy[changed] += rng.integers(1, len(classes), len(changed))
    return np.asarray(X, dtype=float), codes, noisy % len(classes)


def cross_validated(machine, data_set, run, *, other_scale=False):
    """Return what a run records of a machine: ten accuracies, members, and rounds.

    ``machine(X, y)`` makes it for the points and their labels without noise. With ``other_scale``
    features are standardised where they else would not be, and not where they would.
    """
    seed, (name, _) = run_seed(0, run), named(data_set)
    X, clean, y = data(data_set, seed)
    standardised = (name in TABLES) != other_scale
    scaler = StandardScaler() if standardised else "passthrough"
    machine = _seeded(make_pipeline(scaler, machine(X, clean)), seed)
    right, right_on_clean, members, shifts = [], [], [], []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    if name == IN_TURN:
        folds = PredefinedSplit(np.arange(len(y)) % FOLDS)
    for train, test in folds.split(X, y):
        fitted = _fitted(machine, X[train], y[train])
        answers = fitted.predict(X[test])
        right.append(float(np.mean(answers == y[test])))
        right_on_clean.append(float(np.mean(answers == clean[test])))
        parts = (
            fitted[-1].estimators_ if isinstance(fitted[-1], OneVsOneClassifier) else fitted[-1:]
        )
        members.append(sum(len(getattr(part, "prototypes_", [part])) for part in parts))
        shifts.append(np.mean([getattr(part, "n_shifts_", 0) for part in parts]))
    return {
        "seed": seed,
        "parameters": {},
        "error": round(1.0 - float(np.mean(right)), 6),
        "model_size": round(float(np.mean(members))),
        "accuracies": [round(value, 6) for value in right],
        "on_clean_labels": round(float(np.mean(right_on_clean)), 6),
        "shifts": round(float(np.mean(shifts)), 1),
    }


def _seeded(machine, seed):
    """Return a copy with this seed wherever a part of it draws at random."""
    wanted = [name for name in machine.get_params() if name.endswith("random_state")]
    return clone(machine).set_params(**dict.fromkeys(wanted, seed))


def _fitted(pipeline, X, y):
    """Fit a copy; the network stops after as many iterations as the source gives it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Stochastic Optimizer", ConvergenceWarning)
        return clone(pipeline).fit(X, y)
