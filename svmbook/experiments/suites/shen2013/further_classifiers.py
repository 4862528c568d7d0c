r"""Beyond Shen (2013): further classifiers on her data sets and folds.

The suite `shen2013` has the prototype SVMs on these data sets. Localized SVMs, profile SVMs and
exemplar SVMs with a distance-weighted vote have C = 100 like the prototype SVMs. Three-fold
cross-validation inside each training set chooses the number of neighbours, the number of k-means
clusters, gamma of the Gaussian kernel and of the localized SVM's weights, and C of the Gaussian SVM
and of the stump ensemble. Profile SVMs have eight clusters, and random forests have a hundred
trees.

If gamma is chosen, the features are standardised on all data sets, and gamma is 1, 10 or 100
divided by the number of features. Exemplar SVMs that mine all their negatives have the defaults of
`ExemplarSVM`. They are left out on `isolated`, `striated` and `segment`, where a cross-validation
takes minutes.
"""

from functools import partial

from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ....ensembles import StumpEnsembleSVC
from ....prototypes import ExemplarSVM, LocalizedSVM, ProfileSVM
from ...running.suite import Suite
from .cross_validation import (
    CLEAN_DATA_SETS,
    COMMON_DATA_SETS,
    cross_validate,
    data_tables,
    names_with_noise,
)
from .result_tables import clean_label_table_maker, compare_methods

__all__ = ["METHODS", "SUITE", "carry_out_run"]

DATA_SETS = (*CLEAN_DATA_SETS, *names_with_noise(0.1, COMMON_DATA_SETS))
METHODS = (
    "exemplars, distance-weighted vote",
    "exemplars, hard negatives",
    "localized",
    "profiles",
    "k-means and linear SVMs",
    "nearest neighbours",
    "Gaussian",
    "random forest",
    "stump ensemble",
)
C = 100.0
FIXED_ESTIMATORS = {
    "exemplars, distance-weighted vote": ExemplarSVM(
        C, mining=False, positive_weight=1.0, voting="local"
    ),
    "exemplars, hard negatives": ExemplarSVM(),
    "profiles": ProfileSVM(C),
    "random forest": RandomForestClassifier(),
}


def carry_out_run(data_set, method, run):
    """Carry out one run: a ten-fold cross-validation of one classifier."""
    return cross_validate(partial(_make_estimator, method), data_set, run)


def _make_estimator(method, X, y):
    """Return the estimator of a method; the grid of gamma depends on the number of features."""
    if method in FIXED_ESTIMATORS:
        return FIXED_ESTIMATORS[method]
    gammas = tuple(scaled_gamma / X.shape[1] for scaled_gamma in (1.0, 10.0, 100.0))
    estimator, grid = {
        "localized": (
            make_pipeline(StandardScaler(), LocalizedSVM(C)),
            {"localizedsvm__n_neighbors": (10, 20), "localizedsvm__gamma": gammas},
        ),
        "k-means and linear SVMs": (
            ProfileSVM(C, balance=0.0, use_profiles=False),
            {"n_clusters": (4, 16)},
        ),
        "nearest neighbours": (KNeighborsClassifier(), {"n_neighbors": (1, 5, 15)}),
        "Gaussian": (
            make_pipeline(StandardScaler(), SVC()),
            {"svc__C": (1, 10, 100), "svc__gamma": gammas},
        ),
        "stump ensemble": (
            OneVsOneClassifier(StumpEnsembleSVC(feature_scale=None)),
            {"estimator__C": (0.1, 1.0, 10.0)},
        ),
    }[method]
    # The folds are shuffled, because the points of the spirals are sorted by their radius.
    return GridSearchCV(estimator, grid, cv=StratifiedKFold(3, shuffle=True, random_state=0))


SUITE = Suite(
    name="shen2013-beyond",
    title="Beyond Shen (2013): further classifiers on her folds",
    data_sets=DATA_SETS,
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    compare=compare_methods,
    make_table=clean_label_table_maker(COMMON_DATA_SETS, METHODS),
    extra_tables={
        "larger": clean_label_table_maker(CLEAN_DATA_SETS[-2:], METHODS),
        "noise": clean_label_table_maker(names_with_noise(0.1, COMMON_DATA_SETS), METHODS),
    },
    data_tables=data_tables(DATA_SETS),
    excluded_data_sets={
        "exemplars, hard negatives": (
            *COMMON_DATA_SETS[:2],
            "segment",
            *names_with_noise(0.1, COMMON_DATA_SETS[:2]),
        )
    },
)
