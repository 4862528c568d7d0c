"""Read numpydoc's long type lines: a backslash at the end carries a line on to the next."""


def join_continued_lines(app, what, name, obj, options, lines):
    """Join the lines in place before napoleon takes each of them for a field of its own."""
    joined = []
    for line in lines:
        if joined and joined[-1].endswith(", \\"):
            joined[-1] = joined[-1][:-1] + line.lstrip()
        else:
            joined.append(line)
    lines[:] = joined


def setup(app):
    """Register before napoleon, which listens with the default priority of 500."""
    app.connect("autodoc-process-docstring", join_continued_lines, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
