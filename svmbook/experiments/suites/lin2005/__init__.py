"""The tables of Lin (2005), and studies of boosting, infinite ensembles and additive models."""
