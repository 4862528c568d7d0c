"""Sample the mutants of a module, and apply them, with the operators of cosmic-ray."""

import ast
import difflib
import hashlib
import random
import re

from assigned_tests import ROOT, enclosing_name, statement_lines
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# Any test would detect `<<` or `&` in place of `+`, or `is` in place of `<`.
TRIVIAL_OPERATORS = re.compile(
    "Shift|Operator_(Bit.*_(?!Bit)|(?!Bit).*_Bit|Is.*_(?!Is)|(?!Is).*_Is)"
)


def is_excluded(node):
    """Return whether a node is part of an annotation, a signature's syntax or a raise statement."""
    annotated = node.search_ancestor("annassign")
    return (
        node.search_ancestor("raise_stmt", "tfpdef") is not None
        or (annotated is not None and node.start_pos < annotated.children[1].end_pos)
        or (node.type == "operator" and node.parent.type == "parameters")
    )


def fingerprint(text):
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def sample_mutants_of_file(file, seed):
    """Return one randomly chosen mutant per position and kind of operator."""
    source = (ROOT / file).read_text(encoding="utf-8")
    tree, nodes = ast.parse(source), list(ast_nodes(get_ast(source)))
    source_fingerprint, mutants_by_position = fingerprint(source), {}
    for name in operator_names():
        operator = get_operator(name)
        # Operators with arguments need the names of variables.
        if TRIVIAL_OPERATORS.search(name) or operator.arguments():
            continue
        occurrences = (
            (node, *start_and_end)
            for node in nodes
            for start_and_end in operator().mutation_positions(node)
        )
        for number, (node, (line, column), _) in enumerate(occurrences):
            if not is_excluded(node):
                mutant = {"file": file, "line": line, "operator": name, "occurrence": number}
                mutant["key"] = f"{file} {source_fingerprint} {line:04} {name} {number}"
                mutant["place"] = enclosing_name(tree, line)
                mutant["statement"] = statement_lines(tree, line)
                position = (line, column, name.split("_")[0])
                mutants_by_position.setdefault(position, []).append(mutant)
    rng = random.Random(f"{seed} {file}")
    return [rng.choice(mutants) for _, mutants in sorted(mutants_by_position.items())]


def apply_mutant(mutant, original):
    """Return the mutated text of a file and its diff, or None and "" if the mutant is invalid."""
    try:
        operator = get_operator(mutant["operator"])()
        mutated = mutate_code(original, operator, mutant["occurrence"])
        compile(mutated, mutant["file"], "exec")
    except (AttributeError, SyntaxError):  # the operator cannot handle a dotted exception name
        return None, ""
    lines = difflib.unified_diff(original.split("\n"), mutated.split("\n"), n=1, lineterm="")
    return mutated, "\n".join(list(lines)[2:])
