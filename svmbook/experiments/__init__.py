"""Experiments behind the book's tables. Each writes one JSON record per run.

The records are committed with the book. The command ``svmbook`` lists, runs and shows the
experiments; see ``svmbook --help``.
"""

from importlib import import_module

__all__ = ["load_records", "report"]


def __getattr__(name):
    # Lazy, so that importing `cli` loads nothing else: `cli` handles Ctrl-C during its imports.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ".suites" if name == "report" else ".running.records"
    return getattr(import_module(module, __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
