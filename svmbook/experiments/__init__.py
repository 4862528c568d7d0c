"""Experiments behind the book's tables: each writes one JSON record a run, committed with the book.

The command ``svmbook`` lists, runs and shows them; see ``svmbook --help``.
"""

from importlib import import_module

__all__ = ["load_records", "report"]


def __getattr__(name):
    # Loaded when asked for: the command lives below, and catches a Ctrl-C while it loads the rest.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = ".suites" if name == "report" else ".running.records"
    return getattr(import_module(home, __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
