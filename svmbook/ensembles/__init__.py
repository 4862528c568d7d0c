"""Ensembles: additive models of infinitely many stumps, and boosting algorithms."""

from .bands import shape_bands
from .boosting import AdaBoostStump
from .linear_program import LPBoost
from .stump_ensembles import StumpEnsembleLogistic, StumpEnsembleSVC

__all__ = ["AdaBoostStump", "LPBoost", "StumpEnsembleLogistic", "StumpEnsembleSVC", "shape_bands"]
