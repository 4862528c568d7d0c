"""Ensembles of local linear machines: exemplars, prototypes, and their relatives."""

from .exemplar import ExemplarSVM
from .localized import LocalizedSVM
from .profile import ProfileSVM
from .prototype import PrototypeSVM
from .sampled import SampledPrototypeSVM

__all__ = ["ExemplarSVM", "LocalizedSVM", "ProfileSVM", "PrototypeSVM", "SampledPrototypeSVM"]
