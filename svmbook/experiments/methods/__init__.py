"""Methods that the experiments share: splits, grid search, statistics."""
