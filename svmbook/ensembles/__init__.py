"""Ensembles: additive models of infinitely many stumps, and boosting algorithms."""

from .adaboost import AdaBoostStump
from .bands import shape_bands
from .lpboost import LPBoost
from .stump_ensembles import StumpEnsembleLogistic, StumpEnsembleSVC

__all__ = ["AdaBoostStump", "LPBoost", "StumpEnsembleLogistic", "StumpEnsembleSVC", "shape_bands"]
