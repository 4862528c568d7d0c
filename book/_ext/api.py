"""The directive ``{api} MODULE``: a table of the public names of a module, then their docstrings.

The names come from ``__all__``, so that pages need no change when a name is added. The option
``:names:`` selects some of them.
"""

import sys
from importlib import import_module
from typing import ClassVar

from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

# Base classes from outside this package, whose inherited members are not shown.
EXTERNAL_BASES = "BaseEstimator, ClassifierMixin, object, tuple"


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
        (module_name,) = self.arguments
        module = import_module(module_name)
        names = [name for name in module.__all__ if not name.startswith("__")]
        names = self.options.get("names", names)
        rows = []
        for name in names:
            is_linked = callable(getattr(module, name))
            label = f":py:obj:`{name} <{module_name}.{name}>`" if is_linked else f"``{name}``"
            rows.append(f"   * - {label}\n     - {summary(module, name)}")
        # Members inherited from a class on the same page are documented only there.
        classes = [name for name in names if isinstance(getattr(module, name), type)]
        inherited_option = f"   :inherited-members: {', '.join([EXTERNAL_BASES, *classes])}"
        if "names" in self.options:
            directives = [
                [f".. autoclass:: {module_name}.{name}", "   :members:", inherited_option]
                for name in names
            ]
        else:
            directives = [
                [f".. automodule:: {module_name}", "   :imported-members:", inherited_option]
            ]
        text = [
            "```{eval-rst}",
            ".. list-table::",
            "   :widths: 30 70",
            "   :class: api-names",
            "",
            *rows,
            "",
            *["\n".join([*directive, ""]) for directive in directives],
            "```",
        ]
        return self.parse_text_to_nodes("\n".join(text))


def setup(app):
    """Register the directive."""
    app.add_directive("api", Api)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
