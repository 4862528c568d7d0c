"""The support vector classifier."""

from .dual_svc import DualSVC

__all__ = ["DualSVC"]
