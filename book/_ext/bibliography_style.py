"""A bibliography style with the same labels as the citations in the text: "Platt, 1999"."""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle


def label(entry):
    """Return names and year of an entry, as in a citation."""
    names = [
        " ".join(map(str, [*author.rich_prelast_names, *author.rich_last_names]))
        for author in entry.persons["author"]
    ]
    authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{authors}, {entry.fields['year']}" if "year" in entry.fields else authors


class AuthorYearLabelStyle(BaseLabelStyle):
    """Label each entry by its authors and its year."""

    def format_labels(self, entries):
        """Yield the labels in the order of the entries."""
        return (label(entry) for entry in entries)


class AuthorYearStyle(Style):
    """Sort and label the entries by author and year."""

    default_sorting_style = "author_year_title"
    default_label_style = AuthorYearLabelStyle


def setup(app):
    """Register the style under its name in `_config.yml`."""
    register_plugin("pybtex.style.formatting", "author_year", AuthorYearStyle)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
