"""A bibliography whose labels are those of the text: "Platt, 1999"."""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle


def label(entry):
    """Return names and year as the citations in the text have them."""
    names = [
        " ".join(map(str, [*one.rich_prelast_names, *one.rich_last_names]))
        for one in entry.persons["author"]
    ]
    who = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{who}, {entry.fields['year']}" if "year" in entry.fields else who


class AuthorYear(BaseLabelStyle):
    """Label each entry by its authors and its year."""

    def format_labels(self, entries):
        """Yield the labels in the order of the entries."""
        return (label(entry) for entry in entries)


class BookStyle(Style):
    """Entries in the order of their authors."""

    default_sorting_style = "author_year_title"
    default_label_style = AuthorYear


def setup(app):
    """Register the style under the name that `_config.yml` gives."""
    register_plugin("pybtex.style.formatting", "author_year", BookStyle)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
