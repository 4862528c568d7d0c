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


def fingerprint(source):
    """Return a short hash of a text."""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def sample_mutants_of_file(file, seed):
    """Return one mutant per place of a file, chosen at random if there are several."""
    source = (ROOT / file).read_text(encoding="utf-8")
    digest, tree, nodes = fingerprint(source), ast.parse(source), list(ast_nodes(get_ast(source)))
    places = {}
    for name in operator_names():
        operator = get_operator(name)
        # Operators with arguments need the names of variables.
        if TRIVIAL_OPERATORS.search(name) or operator.arguments():
            continue
        occurrences = (
            (node, *position) for node in nodes for position in operator().mutation_positions(node)
        )
        for number, (node, (line, column), _) in enumerate(occurrences):
            if not is_excluded(node):
                mutant = {"file": file, "line": line, "operator": name, "occurrence": number}
                mutant["key"] = f"{file} {digest} {line:04} {name} {number}"
                mutant["place"] = enclosing_name(tree, line)
                mutant["statement"] = statement_lines(tree, line)
                places.setdefault((line, column, name.split("_")[0]), []).append(mutant)
    rng = random.Random(f"{seed} {file}")
    return [rng.choice(choices) for _, choices in sorted(places.items())]


def apply_mutant(mutant, original):
    """Return the text of a file with the mutant and their diff, or None and "" if it is invalid."""
    try:
        operator = get_operator(mutant["operator"])()
        mutated = mutate_code(original, operator, mutant["occurrence"])
        compile(mutated, mutant["file"], "exec")
    except (AttributeError, SyntaxError):  # the operator cannot handle a dotted exception name
        return None, ""
    lines = difflib.unified_diff(original.split("\n"), mutated.split("\n"), n=1, lineterm="")
    return mutated, "\n".join(list(lines)[2:])
