"""Studies that belong to no source: all classifiers on all tables, and how to choose among them."""
