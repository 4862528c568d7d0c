r"""Prototype machines beside their rivals: Tables 5.2 to 5.7 of Shen (2013).

A run is a whole ten-fold cross-validation from one seed, with the accuracy of each fold; the thesis
prints one such run. `isolated` and `striated` are drawn anew for each seed, in the settings that
`shen2013_search` found; they and the spirals keep their coordinates, the features of real sets are
standardised on each training set. With label noise a share of all labels is changed to another
class before the folds are made, those of test points too, as in the thesis; how the same machines
do on the labels as they were before is kept as well. `segment`, the largest set, is run without
noise only.

Her machines are Weka's in its defaults. The prototypes keep our price of 100. The rivals have the
price 1, a tree by entropy that does not prune, ten rounds of boosting, and a network of one layer
with as many units as half of features and classes, 200 rounds of steps of 0.3 with momentum 0.2,
ten points a step.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ...datasets import load, spirals
from ...prototypes import PrototypeSVM, SampledPrototypeSVM
from ...svm import DualSVC
from ..methods.protocols import run_seed
from ..running.suite import Suite
from .shen2013_search import drawn
from .shen2013_tables import FOLDS, NOISE, RIVALS, SETS, accuracies, compare_runs, sizes, wins

__all__ = ["METHODS", "SUITE", "cross_validated", "data", "named", "work"]

DRAWN = {
    "isolated": "isolated, spread 0.075, unit 3",
    "striated": "striated, width 0.1, length 16, tilt 45, unit 3",
}
TABLES = SETS[3:]  # loaded by name; the others are made
DATA_SETS = (*SETS, *(name + NOISE for name in SETS if name != "segment"))

OURS = {
    "PSVM by count": PrototypeSVM(voting="count"),
    "PSVM by probability": PrototypeSVM(voting="probability"),
    "PSVM by nearness": PrototypeSVM(),
    "sampled by count": SampledPrototypeSVM(voting="count"),
    "sampled by nearness": SampledPrototypeSVM(),
}
METHODS = (*OURS, *RIVALS)


def named(data_set):
    """Return the name of a set without its noise, and the share of changed labels.

    Examples
    --------
    >>> from svmbook.experiments.suites.shen2013 import named
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
    elif name == "spirals":
        X, y = spirals()
    else:
        table = load(name)
        X, y = table.data, table.target
    classes, codes = np.unique(y, return_inverse=True)
    rng = np.random.default_rng(run_seed(seed, 0, purpose=1))
    changed = rng.choice(len(codes), round(share * len(codes)), replace=False)
    noisy = codes.copy()
    noisy[changed] += rng.integers(1, len(classes), len(changed))
    return np.asarray(X, dtype=float), codes, noisy % len(classes)


def cross_validated(machine, data_set, run):
    """Return what a run records of a machine: ten accuracies, members, and rounds.

    ``machine(X, y)`` makes it for the points and their labels without noise.
    """
    seed = run_seed(0, run)
    X, clean, y = data(data_set, seed)
    scaler = StandardScaler() if named(data_set)[0] in TABLES else "passthrough"
    machine = _seeded(make_pipeline(scaler, machine(X, clean)), seed)
    right, right_on_clean, members, shifts = [], [], [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        fitted = _fitted(machine, X[train], y[train])
        answers = fitted.predict(X[test])
        right.append(float(np.mean(answers == y[test])))
        right_on_clean.append(float(np.mean(answers == clean[test])))
        members.append(len(getattr(fitted[-1], "prototypes_", [fitted])))
        shifts.append(getattr(fitted[-1], "n_shifts_", 0))
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


def _fitted(machine, X, y):
    """Fit a pipeline; where boosting finds its first machine no better than chance, that stays."""
    try:
        with warnings.catch_warnings():
            # The network is stopped after as many rounds as the source gives it.
            warnings.filterwarnings("ignore", "Stochastic Optimizer", ConvergenceWarning)
            return clone(machine).fit(X, y)
    except ValueError as error:
        if "worse than random" not in str(error):
            raise
    # Its weights are all 1/n, and so is the price they leave.
    alone = Pipeline([("scaler", machine[0]), ("alone", machine[-1].estimator)])
    return clone(alone).fit(X, y, alone__sample_weight=np.full(len(X), 1.0 / len(X)))


def work(data_set, method, run):
    """Do one run: a ten-fold cross-validation of one machine."""
    return cross_validated(partial(_machine, method), data_set, run)


def _machine(method, X, y):
    """Return the machine of a method for these points and labels."""
    if method in OURS:
        return OURS[method]
    n_classes = len(np.unique(y))
    if method == "network":
        units = (X.shape[1] + n_classes) // 2
        return MLPClassifier(
            (units,),
            activation="logistic",
            solver="sgd",
            learning_rate_init=0.3,
            momentum=0.2,
            nesterovs_momentum=False,
            alpha=0.0,
            batch_size=10,
            max_iter=200,
            tol=0.0,
            n_iter_no_change=201,
        )
    # Ours is exact, and quick where LIBSVM is not; more than two classes are scikit-learn's.
    machine = DualSVC if n_classes == 2 else SVC
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
    return {
        "CART": tree,
        "boosted CART": AdaBoostClassifier(tree, n_estimators=10),
        "linear": machine(kernel="linear"),
        # Boosting's weights sum to one, and a price is multiplied by them.
        "boosted linear": AdaBoostClassifier(
            machine(kernel="linear", C=len(y) * (1 - 1 / FOLDS)), n_estimators=10
        ),
        "quadratic": machine(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
    }[method]


SUITE = Suite(
    name="shen2013",
    title="Shen (2013): prototype machines and their rivals, with and without noise",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    compare=compare_runs,
    layout=accuracies("PSVM", ""),
    more={
        "sampled": accuracies("sampled", ""),
        "noise": accuracies("PSVM", NOISE),
        "sampled-noise": accuracies("sampled", NOISE),
        "wins": wins,
        "sizes": sizes,
    },
    tables={name: named(name)[0] for name in DATA_SETS if named(name)[0] in TABLES},
)
