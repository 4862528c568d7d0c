"""The directive ``{api} MODULE``: a table of its public names, then their docstrings.

Made from ``__all__``, so that a new name needs no line on a page; or from some of the names, where
a page groups them.
"""

import sys
from importlib import import_module
from typing import ClassVar

from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

# Not made by us, and documented by scikit-learn.
FOREIGN = "BaseEstimator, ClassifierMixin, object, tuple"


def summary(module, name):
    """Return the first sentence on a public name: of its docstring, or of its comment."""
    value = getattr(module, name)
    if callable(value):
        return " ".join(value.__doc__.split("\n\n")[0].split())
    for inner in [m for key, m in sys.modules.items() if key.startswith(module.__name__ + ".")]:
        if vars(inner).get(name) is value:
            comment = ModuleAnalyzer.for_module(inner.__name__).find_attr_docs().get(("", name))
            if comment:
                return " ".join(" ".join(comment).split())
    raise LookupError(f"{module.__name__}.{name} has neither a docstring nor a `#:` comment")


class Api(SphinxDirective):
    """Show what a module offers."""

    required_arguments = 1
    option_spec: ClassVar[dict] = {"names": str.split}

    def run(self):
        (where,) = self.arguments
        module = import_module(where)
        names = [name for name in module.__all__ if not name.startswith("__")]
        names = self.options.get("names", names)
        rows = []
        for name in names:
            linked = callable(getattr(module, name))
            shown = f":py:obj:`{name} <{where}.{name}>`" if linked else f"``{name}``"
            rows.append(f"   * - {shown}\n     - {summary(module, name)}")
        # What a class has from one that stands beside it is said there.
        shown = [name for name in names if isinstance(getattr(module, name), type)]
        inherited = f"   :inherited-members: {', '.join([FOREIGN, *shown])}"
        if "names" in self.options:
            entries = [[f".. autoclass:: {where}.{n}", "   :members:", inherited] for n in names]
        else:
            entries = [[f".. automodule:: {where}", "   :imported-members:", inherited]]
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
