"""Base class of the logistic kernel machines."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

from sklearn.utils._param_validation import Interval

from ..base import LogOddsMixin
from ..kernel_machine import KernelMachine

__all__ = ["LogisticKernelMachine"]


class LogisticKernelMachine(LogOddsMixin, KernelMachine):
    """Base of the kernel machines with logistic loss: parameter ``lam``, and probabilities."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "lam": [Interval(Real, 0.0, None, closed="neither")],
    }

    _convergence_advice = "Raise lam, scale the features, or raise tol."
    _memory_advice = "Use fewer points, or USVC with sklearn's CalibratedClassifierCV."
