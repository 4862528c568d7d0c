"""Companion package of the book *Support Vector Machines, from the dual up*."""

from importlib import import_module

HOMES = {  # the folder of each estimator
    "AdaBoostStump": "ensembles",
    "DualSVC": "svm",
    "ERMSVC": "unbiased",
    "ExemplarSVM": "prototypes",
    "IRWLSSVC": "unbiased",
    "ImportVectorMachine": "logistic",
    "KernelLogisticRegression": "logistic",
    "LPBoost": "ensembles",
    "LeastSquaresClassifier": "unbiased",
    "LocalizedSVM": "prototypes",
    "ProfileSVM": "prototypes",
    "PrototypeSVM": "prototypes",
    "SampledPrototypeSVM": "prototypes",
    "StumpEnsembleLogistic": "ensembles",
    "StumpEnsembleSVC": "ensembles",
    "USVC": "unbiased",
}

__all__ = [*HOMES, "__version__"]


def __getattr__(name):
    # Loaded when asked for: the machines need scikit-learn, which takes longer than a --help may.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        return import_module("importlib.metadata").version("svmbook")
    return getattr(import_module(f".{HOMES[name]}", __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
