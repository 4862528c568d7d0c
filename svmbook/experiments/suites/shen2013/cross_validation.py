r"""The cross-validations of Shen (2013): her data, with or without label noise, in ten folds.

A run is a ten-fold cross-validation with one seed; the thesis prints one such run. `isolated` and
`striated`, in the settings that `search` found, and the messages, which replace her tweets, are
drawn anew for each seed. The features of tables are standardised on each training set, and those of
the other sets are not.

Label noise changes a fraction of all labels to another class before the folds are made, as in the
thesis. This includes test labels, so the accuracy on the unchanged labels is recorded as well.
Folds are random and stratified, except for `spirals in turn`. There fold k has every tenth point,
from point k on. Because the points of the two arms alternate, each fold has points of one arm only.
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
from ..prototypes.data_sets import with_seed
from .search import draw_samples

__all__ = [
    "CLEAN_DATA_SETS",
    "COMMON_DATA_SETS",
    "N_FOLDS",
    "SPIRALS_INTERLEAVED",
    "cross_validate",
    "data_tables",
    "load_data",
    "names_with_noise",
    "parse_data_set_name",
]

N_FOLDS = 10
SYNTHETIC_DATA_SETS = ("isolated", "striated", "spirals")
TABLES = ("iris", "glass", "vehicle", "segment")  # loaded by name; the others are generated
COMMON_DATA_SETS = (*SYNTHETIC_DATA_SETS, *TABLES[:-1])  # in all suites on this thesis
CLEAN_DATA_SETS = (*SYNTHETIC_DATA_SETS, *TABLES, "messages")
SPIRALS_INTERLEAVED = "spirals in turn"
#: Names of settings in `search.SETTINGS`, by data set.
GENERATOR_SETTINGS = {
    "isolated": "isolated, spread 0.075, unit 3",
    "striated": "striated, width 0.1, length 16, tilt 45, unit 3",
}


def names_with_noise(share, data_sets):
    """Return the names of data sets in which a fraction ``share`` of the labels is changed.

    Examples
    --------
    >>> from svmbook.experiments.suites.shen2013 import cross_validation as cv
    >>> cv.names_with_noise(0.1, ["iris"]), cv.names_with_noise(0.0, ["iris"])
    (('iris, 10 % noise',), ('iris',))
    """
    return tuple(f"{name}, {100 * share:.0f} % noise" if share else name for name in data_sets)


def data_tables(data_sets):
    """Return the names by which tables are loaded, for those data sets that are tables."""
    return {
        name: parse_data_set_name(name)[0]
        for name in data_sets
        if parse_data_set_name(name)[0] in TABLES
    }


def parse_data_set_name(data_set):
    """Return the name of a data set without its noise, and the fraction of changed labels.

    Examples
    --------
    >>> from svmbook.experiments.suites.shen2013 import cross_validation as cv
    >>> cv.parse_data_set_name("glass, 10 % noise")
    ('glass', 0.1)
    """
    name, *noise = data_set.split(", ")
    return name, int(noise[0].split(" ")[0]) / 100 if noise else 0.0


def load_data(data_set, seed):
    """Return points, class codes, and the class codes with the label noise of the data set."""
    name, share = parse_data_set_name(data_set)
    if name in GENERATOR_SETTINGS:
        X, y = draw_samples(GENERATOR_SETTINGS[name], seed)
    elif name in ("spirals", SPIRALS_INTERLEAVED):
        X, y = spirals()
    elif name == "messages":
        texts, y = messages(600, random_state=seed)
        X, _ = message_features(texts)
    else:
        table = load(name)
        X, y = table.data, table.target
    classes, codes = np.unique(y, return_inverse=True)
    rng = np.random.default_rng(run_seed(seed, 0, purpose=1))
    changed_rows = rng.choice(len(codes), round(share * len(codes)), replace=False)
    noisy_codes = codes.copy()
    noisy_codes[changed_rows] += rng.integers(1, len(classes), len(changed_rows))
    return np.asarray(X, dtype=float), codes, noisy_codes % len(classes)


def cross_validate(make_estimator, data_set, run, *, invert_standardisation=False):
    """Return the record of a run: ten accuracies, and means of the model size and of the shifts.

    ``make_estimator(X, y)`` is called with the points and their labels without noise. With
    ``invert_standardisation`` the features of tables are not standardised, and those of the other
    data sets are.
    """
    seed, (name, _) = run_seed(0, run), parse_data_set_name(data_set)
    X, clean_labels, noisy_labels = load_data(data_set, seed)
    is_standardised = (name in TABLES) != invert_standardisation
    scaler = StandardScaler() if is_standardised else "passthrough"
    pipeline = with_seed(make_pipeline(scaler, make_estimator(X, clean_labels)), seed)
    accuracies, clean_accuracies, sizes, shift_counts = [], [], [], []
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    if name == SPIRALS_INTERLEAVED:
        folds = PredefinedSplit(np.arange(len(X)) % N_FOLDS)
    for train, test in folds.split(X, noisy_labels):
        fitted = _fit_copy(pipeline, X[train], noisy_labels[train])
        predicted = fitted.predict(X[test])
        accuracies.append(float(np.mean(predicted == noisy_labels[test])))
        clean_accuracies.append(float(np.mean(predicted == clean_labels[test])))
        is_one_vs_one = isinstance(fitted[-1], OneVsOneClassifier)
        models = fitted[-1].estimators_ if is_one_vs_one else fitted[-1:]
        sizes.append(sum(len(getattr(model, "members_", [model])) for model in models))
        shift_counts.append(np.mean([getattr(model, "n_shifts_", 0) for model in models]))
    return {
        "seed": seed,
        "parameters": {},
        "error": round(1.0 - float(np.mean(accuracies)), 6),
        "model_size": round(float(np.mean(sizes))),
        "accuracies": [round(value, 6) for value in accuracies],
        "clean_accuracy": round(float(np.mean(clean_accuracies)), 6),
        "n_shifts": round(float(np.mean(shift_counts)), 1),
    }


def _fit_copy(pipeline, X, y):
    """Fit a copy; suppress the warning that the network stops after a fixed number of epochs."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Stochastic Optimizer", ConvergenceWarning)
        return clone(pipeline).fit(X, y)
