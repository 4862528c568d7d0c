r"""Beyond Shen (2013): the rivals she did not have, on her folds.

Prototypes of these data sets are in `shen2013`. Linear and local SVMs have the prototypes' C, 100.
Three folds inside each training set choose the numbers of neighbours and of the clusters of
k-means, gamma of the Gaussian kernel and of the localized SVM's weights, C of the Gaussian SVM and
of the stumps. Profile SVMs keep their eight clusters, a forest its hundred trees. For the two that
choose gamma, features are standardised in any case, and gamma is 1, 10 or 100 divided by their
number. Exemplars that mine all their negatives have the defaults of `ExemplarSVM`; on `isolated`,
`striated` and `segment`, where their cross-validation takes minutes, they are left out.
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
from .folds import SETS, SMALL, cross_validated, tables, with_noise
from .printed import compare_runs, on_clean_labels

__all__ = ["METHODS", "SUITE", "work"]

DATA_SETS = (*SETS, *with_noise(0.1, SMALL))
METHODS = (
    "exemplars by nearness",
    "exemplars that mine",
    "localized",
    "profiles",
    "k-means and lines",
    "nearest neighbours",
    "Gaussian",
    "random forest",
    "stump ensemble",
)
PRICE = 100.0
FIXED = {
    "exemplars by nearness": ExemplarSVM(PRICE, mining=False, positive_weight=1.0, voting="local"),
    "exemplars that mine": ExemplarSVM(),
    "profiles": ProfileSVM(PRICE),
    "random forest": RandomForestClassifier(),
}


def work(data_set, method, run):
    """Do one run: a ten-fold cross-validation of one machine."""
    return cross_validated(partial(_machine, method), data_set, run)


def _machine(method, X, y):
    """Return the machine of a method for points with so many features."""
    if method in FIXED:
        return FIXED[method]
    widths = tuple(width / X.shape[1] for width in (1.0, 10.0, 100.0))
    estimator, grid = {
        "localized": (
            make_pipeline(StandardScaler(), LocalizedSVM(PRICE)),
            {"localizedsvm__n_neighbors": (10, 20), "localizedsvm__gamma": widths},
        ),
        "k-means and lines": (
            ProfileSVM(PRICE, balance=0.0, profiles=False),
            {"n_clusters": (4, 16)},
        ),
        "nearest neighbours": (KNeighborsClassifier(), {"n_neighbors": (1, 5, 15)}),
        "Gaussian": (
            make_pipeline(StandardScaler(), SVC()),
            {"svc__C": (1, 10, 100), "svc__gamma": widths},
        ),
        "stump ensemble": (
            OneVsOneClassifier(StumpEnsembleSVC(feature_scale=None)),
            {"estimator__C": (0.1, 1.0, 10.0)},
        ),
    }[method]
    # Shuffled: the points of the spirals come in the order of their radius.
    return GridSearchCV(estimator, grid, cv=StratifiedKFold(3, shuffle=True, random_state=0))


SUITE = Suite(
    name="shen2013-beyond",
    title="Beyond Shen (2013): other machines on her folds",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    compare=compare_runs,
    layout=on_clean_labels(SMALL, METHODS),
    more={
        "larger": on_clean_labels(SETS[-2:], METHODS),
        "noise": on_clean_labels(with_noise(0.1, SMALL), METHODS),
    },
    tables=tables(DATA_SETS),
    left_out={"exemplars that mine": (*SMALL[:2], "segment", *with_noise(0.1, SMALL[:2]))},
)
