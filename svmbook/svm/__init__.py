"""The support vector classifier."""

from .dual_svc import DualSVC
from .path_in_blocks import CrossValidation, cross_validate_in_blocks

__all__ = ["CrossValidation", "DualSVC", "cross_validate_in_blocks"]
