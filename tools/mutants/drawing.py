"""Small changes of a module, as cosmic-ray makes them."""

import ast
import difflib
import hashlib
import random
import re

from assigned import ROOT, place, statement
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# Any test would notice `<<` or `&` in place of `+`, or `is` in place of `<`.
SILLY = re.compile("Shift|Operator_(Bit.*_(?!Bit)|(?!Bit).*_Bit|Is.*_(?!Is)|(?!Is).*_Is)")


def no_program(node):
    """Say whether a place is in an annotation or in the text of an exception."""
    field = node.search_ancestor("annassign")
    return (
        node.search_ancestor("raise_stmt", "tfpdef") is not None
        or (field is not None and node.start_pos < field.children[1].end_pos)
        or (node.type == "operator" and node.parent.type == "parameters")
    )


def fingerprint(source):
    """Return a few letters that change with the text of a file."""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def mutants_of(file, seed):
    """Return one mutant for each place of a file; where it has several, one is drawn."""
    source = (ROOT / file).read_text(encoding="utf-8")
    mark, tree, nodes = fingerprint(source), ast.parse(source), list(ast_nodes(get_ast(source)))
    places = {}
    for name in operator_names():
        operator = get_operator(name)
        # Those with arguments want to be told the names of variables.
        if SILLY.search(name) or operator.arguments():
            continue
        found = ((node, *spot) for node in nodes for spot in operator().mutation_positions(node))
        for number, (node, (line, column), _) in enumerate(found):
            if not no_program(node):
                mutant = {"file": file, "line": line, "operator": name, "occurrence": number}
                mutant["key"] = f"{file} {mark} {line:04} {name} {number}"
                mutant |= {"place": place(tree, line), "statement": statement(tree, line)}
                places.setdefault((line, column, name.split("_")[0]), []).append(mutant)
    draw = random.Random(f"{seed} {file}")
    return [draw.choice(choices) for _, choices in sorted(places.items())]


def mutated(mutant, before):
    """Return the text of a file with the change, and the difference; nothing if there is none."""
    try:
        operator = get_operator(mutant["operator"])()
        after = mutate_code(before, operator, mutant["occurrence"])
        compile(after, mutant["file"], "exec")
    except (AttributeError, SyntaxError):  # the operator knows no dotted name of an exception
        return None, ""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm="")
    return after, "\n".join(list(lines)[2:])
