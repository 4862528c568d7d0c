"""The directive ``{api} MODULE``: a table of the public names of a module, then their docstrings.

The names come from ``__all__``, so that a new name needs no line on a page. The option ``:names:``
selects some of them.
"""

import sys
from importlib import import_module
from typing import ClassVar

from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

# Base classes of other projects, whose inherited members are not shown.
FOREIGN_BASES = "BaseEstimator, ClassifierMixin, object, tuple"


def summary(module, name):
    """Return the first paragraph of the docstring of a public name, or its ``#:`` comment."""
    value = getattr(module, name)
    if callable(value):
        return " ".join(value.__doc__.split("\n\n")[0].split())
    prefix = f"{module.__name__}."
    for submodule in [m for key, m in sys.modules.items() if key.startswith(prefix)]:
        if vars(submodule).get(name) is value:
            comment = ModuleAnalyzer.for_module(submodule.__name__).find_attr_docs().get(("", name))
            if comment:
                return " ".join(" ".join(comment).split())
    raise LookupError(f"{module.__name__}.{name} has neither a docstring nor a `#:` comment")


class Api(SphinxDirective):
    """Show the public names of a module."""

    required_arguments = 1
    option_spec: ClassVar[dict] = {"names": str.split}

    def run(self):
        (path,) = self.arguments
        module = import_module(path)
        names = [name for name in module.__all__ if not name.startswith("__")]
        names = self.options.get("names", names)
        rows = []
        for name in names:
            is_linked = callable(getattr(module, name))
            label = f":py:obj:`{name} <{path}.{name}>`" if is_linked else f"``{name}``"
            rows.append(f"   * - {label}\n     - {summary(module, name)}")
        # Members inherited from a class on the same page are documented only there.
        classes = [name for name in names if isinstance(getattr(module, name), type)]
        inherited = f"   :inherited-members: {', '.join([FOREIGN_BASES, *classes])}"
        if "names" in self.options:
            entries = [[f".. autoclass:: {path}.{n}", "   :members:", inherited] for n in names]
        else:
            entries = [[f".. automodule:: {path}", "   :imported-members:", inherited]]
        text = [
            "```{eval-rst}",
            ".. list-table::",
            "   :widths: 30 70",
            "   :class: api-names",
            "",
            *rows,
            "",
            *["\n".join([*entry, ""]) for entry in entries],
            "```",
        ]
        return self.parse_text_to_nodes("\n".join(text))


def setup(app):
    """Register the directive."""
    app.add_directive("api", Api)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
