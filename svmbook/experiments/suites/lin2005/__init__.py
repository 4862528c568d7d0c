"""The tables of Lin (2005), and experiments on boosting, infinite ensembles and additive models."""
