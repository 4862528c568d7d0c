"""Adapt the docstrings of the package for autodoc."""

from sklearn.base import BaseEstimator, ClassifierMixin

SHOWN_BASES = (ClassifierMixin, BaseEstimator)  # shown in place of svmbook's own


def join_continued_lines(app, what, name, obj, options, lines):
    """Join, in place, type lines that numpydoc continues after a backslash.

    Napoleon would treat each line as a separate field.
    """
    joined = []
    for line in lines:
        if joined and joined[-1].endswith(", \\"):
            joined[-1] = joined[-1][:-1] + line.lstrip()
        else:
            joined.append(line)
    lines[:] = joined


def hide_own_bases(app, name, obj, options, bases):
    """Show only base classes of other projects; most of svmbook's own have no entry."""
    inherited = [base for base in SHOWN_BASES if issubclass(obj, base)]
    external_bases = [base for base in bases if not base.__module__.startswith("svmbook")]
    bases[:] = external_bases or inherited or [object]


def skip_named_tuple_fields(app, what, name, obj, skip, options):
    """Skip the fields of named tuples, which the docstring of the class describes."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None


def setup(app):
    """Register before Napoleon, which has the default priority of 500."""
    app.connect("autodoc-process-docstring", join_continued_lines, priority=400)
    app.connect("autodoc-process-bases", hide_own_bases)
    app.connect("autodoc-skip-member", skip_named_tuple_fields)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
