"""The support vector machine, from its dual."""

from .dual_svc import DualSVC

__all__ = ["DualSVC"]
