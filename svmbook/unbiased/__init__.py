"""Machines that count errors instead of measuring them, and their baseline."""

from .expansions import ERMSVC, IRWLSSVC
from .least_squares import LeastSquaresClassifier
from .usvc import USVC

__all__ = ["ERMSVC", "IRWLSSVC", "USVC", "LeastSquaresClassifier"]
