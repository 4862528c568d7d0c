"""Analysis of the source code of a cell: its statements, and the names it uses and defines."""

import ast
import re
import symtable

__all__ = [
    "PARSE_ERRORS",
    "defined_names",
    "free_names",
    "imported_names",
    "replace_ipython_commands",
    "split_test",
]

#: Errors that Python raises for code it cannot parse; the last two if it is nested too deeply.
PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)


def split_test(source, hidden_line_numbers):
    """Split a test into parts: runs of statements that are all visible or all hidden.

    Parameters
    ----------
    source : str
        The test.
    hidden_line_numbers : set of int
        Numbers of the lines that are not handed out, from 1.

    Returns
    -------
    list of tuple
        For each part, whether it is hidden, and its code padded with blank lines so that line
        numbers do not change. A statement with a hidden line is hidden as a whole.

    Raises
    ------
    SyntaxError
        The test is not plain Python.
    """
    lines, parts = source.split("\n"), []
    for statement in ast.parse(source, "<test>").body:
        decorators = getattr(statement, "decorator_list", ())
        first_line = min(node.lineno for node in (statement, *decorators))
        is_hidden = not hidden_line_numbers.isdisjoint(range(first_line, statement.end_lineno + 1))
        if not parts or parts[-1][0] != is_hidden:
            parts.append((is_hidden, first_line, statement.end_lineno))
        else:
            parts[-1] = (is_hidden, parts[-1][1], statement.end_lineno)
    return [
        (is_hidden, "\n" * (first_line - 1) + "\n".join(lines[first_line - 1 : last_line]))
        for is_hidden, first_line, last_line in parts
    ]


def free_names(source):
    """Return the names that the code looks up among the globals when it runs."""
    return {
        symbol.get_name()
        for table in _symbol_tables(source)
        for symbol in table.get_symbols()
        if symbol.is_global() or (table.get_type() == "module" and symbol.is_referenced())
    }


def defined_names(source):
    """Return the global names that the code defines."""
    module, *inner_tables = _symbol_tables(source)
    top_level_symbols = (
        s for s in module.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()
    )
    inner_symbols = (symbol for table in inner_tables for symbol in table.get_symbols())
    symbols_declared_global = (
        s for s in inner_symbols if s.is_assigned() and s.is_declared_global()
    )
    return {
        symbol.get_name()
        for symbols in (top_level_symbols, symbols_declared_global)
        for symbol in symbols
    }


def imported_names(source):
    """Return the names that the code binds by imports."""
    module = _symbol_tables(source)[0]
    return {symbol.get_name() for symbol in module.get_symbols() if symbol.is_imported()}


def _symbol_tables(source):
    """Return the symbol tables of a cell and of all its functions and classes."""
    try:
        tables = [symtable.symtable(replace_ipython_commands(source), "<cell>", "exec")]
    except PARSE_ERRORS:  # the error is reported when the cell runs
        tables = [symtable.symtable("", "<cell>", "exec")]
    for table in tables:
        tables += table.get_children()
    return tables


def replace_ipython_commands(source):
    """Return the source of a cell with `pass` in place of IPython commands, if it has any."""
    try:
        ast.parse(source)
        return source
    except PARSE_ERRORS:
        return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.M)
