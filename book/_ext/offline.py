"""Tidy the scripts of a page: each once, and no live-cell launcher where there is none."""


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


def setup(app):
    """Register after every other listener, so that no script is added later."""
    app.connect("html-page-context", tidy_scripts, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
