"""Ensembles of local linear SVMs: exemplars, prototypes, localized and profile SVMs."""

from .exemplar import ExemplarSVM
from .localized import LocalizedSVM
from .profile import ProfileSVM
from .prototype import PrototypeSVM
from .sampled import SampledPrototypeSVM

__all__ = ["ExemplarSVM", "LocalizedSVM", "ProfileSVM", "PrototypeSVM", "SampledPrototypeSVM"]
