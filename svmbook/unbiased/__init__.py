"""Classifiers with bounded costs that approximate the 0-1 loss, and two convex baselines."""

from .irwls_svc import ERMSVC, IRWLSSVC
from .least_squares import LeastSquaresClassifier
from .usvc import USVC

__all__ = ["ERMSVC", "IRWLSSVC", "USVC", "LeastSquaresClassifier"]
