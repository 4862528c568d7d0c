"""Companion package of the book *Support Vector Machines, from the dual up*."""

from importlib import import_module

__all__ = ["DualSVC", "ImportVectorMachine", "KernelLogisticRegression", "__version__"]


def __getattr__(name):
    # Loaded when asked for: the machines need scikit-learn, which takes longer than a --help may.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        return import_module("importlib.metadata").version("svmbook")
    return getattr(import_module(".svm" if name == "DualSVC" else ".logistic", __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
