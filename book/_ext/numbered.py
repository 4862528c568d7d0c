"""Resolve numbered references from memory.

For each "Table 3.2" Sphinx asks where the table stands, and loads the whole page that has it from
the disk, pickled, to look at one node. Here each page is loaded once for all references to it.
"""

from functools import cached_property

from sphinx.domains.std import StandardDomain


class Pages:
    """The environment of a build, with pages that are kept; nobody may change them."""

    def __init__(self, env):
        self.env, self.kept = env, {}

    def __getattr__(self, name):
        return getattr(self.env, name)

    def get_doctree(self, docname):
        """Return a page as it was read."""
        if docname not in self.kept:
            self.kept[docname] = self.env.get_doctree(docname)
        return self.kept[docname]


class Numbers(StandardDomain):
    """The standard domain, which looks at a page and changes nothing."""

    @cached_property
    def pages(self):
        return Pages(self.env)

    def resolve_xref(self, env, fromdocname, builder, typ, target, node, contnode):
        """Resolve a reference; one to a number with pages from memory."""
        env = self.pages if typ == "numref" else env
        return super().resolve_xref(env, fromdocname, builder, typ, target, node, contnode)


def setup(app):
    """Take the place of the standard domain."""
    app.add_domain(Numbers, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
