"""Resolve numbered references with cached doctrees, which are Sphinx's parsed pages.

For each reference such as Table 3.2, Sphinx unpickles the doctree of the page with the table from
disk, to read a single node. Here each doctree is loaded only once for all references to its page.
"""

from functools import cached_property

from sphinx.domains.std import StandardDomain


class CachingEnvironment:
    """A build environment that caches its doctrees, which must not be modified."""

    def __init__(self, env):
        self.env, self.doctrees = env, {}

    def __getattr__(self, name):
        return getattr(self.env, name)

    def get_doctree(self, docname):
        """Return the doctree of a page from the cache, or load it."""
        if docname not in self.doctrees:
            self.doctrees[docname] = self.env.get_doctree(docname)
        return self.doctrees[docname]


class CachingDomain(StandardDomain):
    """The standard domain with cached doctrees, which it only reads."""

    @cached_property
    def caching_environment(self):
        return CachingEnvironment(self.env)

    def resolve_xref(self, env, fromdocname, builder, typ, target, node, contnode):
        """Resolve a reference; for numbered references use the cached doctrees."""
        env = self.caching_environment if typ == "numref" else env
        return super().resolve_xref(env, fromdocname, builder, typ, target, node, contnode)


def setup(app):
    """Replace the standard domain."""
    app.add_domain(CachingDomain, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
