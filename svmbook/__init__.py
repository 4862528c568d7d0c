"""Companion package of the book *Support Vector Machines, from the dual up*."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors; at run time each estimator is imported on first use
    from .ensembles import AdaBoostStump, LPBoost, StumpEnsembleLogistic, StumpEnsembleSVC
    from .logistic import ImportVectorMachine, KernelLogisticRegression
    from .prototypes import (
        ExemplarSVM,
        LocalizedSVM,
        ProfileSVM,
        PrototypeSVM,
        SampledPrototypeSVM,
    )
    from .svm import DualSVC
    from .unbiased import ERMSVC, IRWLSSVC, USVC, LeastSquaresClassifier

    __version__: str

__all__ = [
    "ERMSVC",
    "IRWLSSVC",
    "USVC",
    "AdaBoostStump",
    "DualSVC",
    "ExemplarSVM",
    "ImportVectorMachine",
    "KernelLogisticRegression",
    "LPBoost",
    "LeastSquaresClassifier",
    "LocalizedSVM",
    "ProfileSVM",
    "PrototypeSVM",
    "SampledPrototypeSVM",
    "StumpEnsembleLogistic",
    "StumpEnsembleSVC",
    "__version__",
]

_FAMILIES = {
    "ensembles": ("AdaBoostStump", "LPBoost", "StumpEnsembleLogistic", "StumpEnsembleSVC"),
    "logistic": ("ImportVectorMachine", "KernelLogisticRegression"),
    "prototypes": (
        *("ExemplarSVM", "LocalizedSVM", "ProfileSVM"),
        *("PrototypeSVM", "SampledPrototypeSVM"),
    ),
    "svm": ("DualSVC",),
    "unbiased": ("ERMSVC", "IRWLSSVC", "LeastSquaresClassifier", "USVC"),
}


def __getattr__(name):
    # Estimators are imported on first use, since scikit-learn would slow down `svmbook --help`.
    if name == "__version__":
        return import_module("importlib.metadata").version("svmbook")
    for family, estimators in _FAMILIES.items():
        if name in estimators:
            return getattr(import_module(f".{family}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
