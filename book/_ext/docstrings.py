"""Help autodoc to read the docstrings of the package."""


def join_continued_lines(app, what, name, obj, options, lines):
    """Join, in place, the type lines that numpydoc carries on after a backslash.

    Napoleon would take each of them for a field of its own.
    """
    joined = []
    for line in lines:
        if joined and joined[-1].endswith(", \\"):
            joined[-1] = joined[-1][:-1] + line.lstrip()
        else:
            joined.append(line)
    lines[:] = joined


def hide_private_bases(app, name, obj, options, bases):
    """Name only base classes of other projects: ours have no entry of their own."""
    bases[:] = [base for base in bases if not base.__module__.startswith("svmbook")] or [object]


def skip_fields(app, what, name, obj, skip, options):
    """Leave out the fields of a named tuple: their class has described them."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None


def setup(app):
    """Register before napoleon, which listens with the default priority of 500."""
    app.connect("autodoc-process-docstring", join_continued_lines, priority=400)
    app.connect("autodoc-process-bases", hide_private_bases)
    app.connect("autodoc-skip-member", skip_fields)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
