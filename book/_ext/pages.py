"""Tidy each page as it is written: its scripts, and the roles of its bibliography."""


def tidy_scripts(app, pagename, templatename, context, doctree):
    """Drop repeated scripts, and sphinx-thebe's where the book does not launch Thebe.

    Themes and extensions register inline scripts twice, and a second `let` or `const` of the
    same name is an error in the browser's console.
    """
    launch = app.config.html_theme_options.get("launch_buttons", {})
    kept = {}
    for script in context["script_files"]:
        body = script.attributes.get("body", "")
        if not launch.get("thebe") and "thebe" in f"{script.filename} {body}":
            continue
        kept.setdefault((script.filename, body), script)
    context["script_files"] = list(kept.values())


def tidy_roles(app, pagename, templatename, context, doctree):
    """Give the entries of a bibliography the role of list items, which screen readers know."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app):
    """Register after every other listener, so that no script is added later."""
    app.connect("html-page-context", tidy_scripts, priority=999)
    app.connect("html-page-context", tidy_roles, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
