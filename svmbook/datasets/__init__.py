"""Data: seeded generators, and classical tables by name."""

from .generators.breiman import (
    ringnorm,
    ringnorm_bayes_error,
    threenorm,
    threenorm_bayes_error,
    twonorm,
    twonorm_bayes_error,
    waveform,
    waveform_bayes_rule,
)
from .generators.clouds import (
    Parts,
    forest_like,
    non_separable,
    non_separable_bayes_error,
    stdev,
    stdev_bayes_error,
    three_parts,
    xor,
)
from .generators.intervals import usvc_case_a, usvc_case_b, usvc_threshold_error
from .generators.planar import (
    isolated,
    isolated_bayes_error,
    spirals,
    striated,
    striated_bayes_error,
)
from .tables.loaders import find, manifest
from .tables.treatments import SOURCES, load

__all__ = [
    "SOURCES",
    "Parts",
    "find",
    "forest_like",
    "isolated",
    "isolated_bayes_error",
    "load",
    "manifest",
    "non_separable",
    "non_separable_bayes_error",
    "ringnorm",
    "ringnorm_bayes_error",
    "spirals",
    "stdev",
    "stdev_bayes_error",
    "striated",
    "striated_bayes_error",
    "three_parts",
    "threenorm",
    "threenorm_bayes_error",
    "twonorm",
    "twonorm_bayes_error",
    "usvc_case_a",
    "usvc_case_b",
    "usvc_threshold_error",
    "waveform",
    "waveform_bayes_rule",
    "xor",
]
