"""What the text of a cell says: its statements, and the names that it uses and defines."""

import ast
import re
import symtable

__all__ = [
    "UNREADABLE",
    "defined_names",
    "free_names",
    "imported_names",
    "parts_of_test",
    "without_commands",
]

#: What Python raises for a text that it cannot read; the last two where it is nested too deeply.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def parts_of_test(source, hidden):
    """Return the statements of a test in groups that are shown or hidden.

    Parameters
    ----------
    source : str
        The test.
    hidden : set of int
        Lines that are not handed out, from 1.

    Returns
    -------
    list of tuple
        Whether a group is hidden, and its text, in which lines keep their numbers. A statement
        that has a hidden line is hidden.

    Raises
    ------
    SyntaxError
        The test is not plain Python.
    """
    lines, groups = source.split("\n"), []
    for statement in ast.parse(source, "<test>").body:
        first = min(
            [statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))]
        )
        own = range(first, statement.end_lineno + 1)
        is_hidden = not hidden.isdisjoint(own)
        if not groups or groups[-1][0] != is_hidden:
            groups.append((is_hidden, []))
        groups[-1][1].append(own)
    return [
        (
            is_hidden,
            "\n" * (spans[0].start - 1) + "\n".join(lines[spans[0].start - 1 : spans[-1].stop - 1]),
        )
        for is_hidden, spans in groups
    ]


def free_names(source):
    """Return the names that Python looks up among the globals when it runs a text."""
    return {
        symbol.get_name()
        for table in _scopes(source)
        for symbol in table.get_symbols()
        if symbol.is_global() or (table.get_type() == "module" and symbol.is_referenced())
    }


def defined_names(source):
    """Return the names that a text defines among the globals."""
    module, *inner = _scopes(source)
    top = (
        s for s in module.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()
    )
    inside = (symbol for table in inner for symbol in table.get_symbols())
    declared = (s for s in inside if s.is_assigned() and s.is_declared_global())
    return {symbol.get_name() for symbols in (top, declared) for symbol in symbols}


def imported_names(source):
    """Return the names under which a text imports modules and their parts."""
    return {
        symbol.get_name() for symbol in _scopes(source)[0].get_symbols() if symbol.is_imported()
    }


def _scopes(source):
    """Return the symbol tables of a text and of all its functions and classes."""
    try:
        tables = [symtable.symtable(without_commands(source), "<cell>", "exec")]
    except UNREADABLE:  # which will show where the cell is run
        tables = [symtable.symtable("", "<cell>", "exec")]
    for table in tables:
        tables += table.get_children()
    return tables


def without_commands(source):
    """Return the text of a cell without the commands of IPython, if it has any."""
    try:
        ast.parse(source)
        return source
    except UNREADABLE:
        return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.M)
