"""The directive ``{reproduction} SUITE [TABLE]``: a table made from the committed records."""

from inspect import getsourcefile

from sphinx.util.docutils import SphinxDirective

from svmbook.experiments import report
from svmbook.experiments.running.records import results_folder
from svmbook.experiments.suites import find_suite


class Reproduction(SphinxDirective):
    """Show published results next to the reproduced ones, and how the latter were computed."""

    required_arguments = 1
    optional_arguments = 1

    def run(self):
        suite_name, *table_names = self.arguments
        self.env.note_dependency(str(results_folder() / f"{suite_name}.jsonl"))
        try:
            self.env.note_dependency(getsourcefile(find_suite(suite_name).carry_out_run))
            table = report(suite_name, table=table_names[0] if table_names else None)
        except (OSError, ValueError) as error:
            raise self.error(str(error)) from error
        return self.parse_text_to_nodes(table._repr_markdown_())


def setup(app):
    """Register the directive."""
    app.add_directive("reproduction", Reproduction)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
