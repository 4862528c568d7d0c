"""Numeric parameters of the estimators accept an endpoint of their interval if it is included."""

from math import inf

import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError

import svmbook
from svmbook.unbiased.irwls_svc import FIRST_SLOPE

TINY = 1e-300
# Pairs of valid and invalid values.
POSITIVE = ([TINY, 1e300], [0.0, -0.5, inf])
POSITIVE_OR_INFINITE = ([TINY, inf], [0.0, -0.5])
FRACTION = ([TINY, 0.99], [0.0, -0.5, 1.0, 1.5])
FRACTION_OR_1 = ([TINY, 1.0], [0.0, -0.5, 1.01])
INTEGER_FROM_0, INTEGER_FROM_1, INTEGER_FROM_2 = (
    ([minimum], [minimum - 1, minimum + 0.5]) for minimum in range(3)
)
# Valid and invalid values of each parameter. A key "Estimator.parameter" overrides "parameter".
VALUES = {
    "C": POSITIVE,
    "DualSVC.C": POSITIVE_OR_INFINITE,
    "LPBoost.C": POSITIVE_OR_INFINITE,
    "balance": ([0.0, 1e300], [-0.5, inf]),
    "coef0": ([-1e300, 1e300], [-inf, inf]),
    "confidence": FRACTION,
    "degree": INTEGER_FROM_1,
    "first_share": FRACTION_OR_1,
    "gamma": POSITIVE,
    "k": FRACTION_OR_1,
    "lam": POSITIVE,
    "max_iter": INTEGER_FROM_1,
    "DualSVC.max_iter": ([1, -1], [0, -2, 1.5]),
    "max_points": INTEGER_FROM_1,
    "min_decrease": POSITIVE,
    "n_clusters": INTEGER_FROM_1,
    "n_estimators": INTEGER_FROM_1,
    "n_init": INTEGER_FROM_1,
    "n_knots": INTEGER_FROM_2,
    "n_negatives": INTEGER_FROM_1,
    "n_neighbors": INTEGER_FROM_1,
    "LocalizedSVM.n_neighbors": INTEGER_FROM_2,
    "n_prototypes": INTEGER_FROM_1,
    "n_samplings": INTEGER_FROM_1,
    "n_shifts": INTEGER_FROM_0,
    "next_share": FRACTION_OR_1,
    "p_negative": ([0.0, 1.0], [-0.01, 1.01]),
    "positive_weight": POSITIVE,
    "s": ([1.0, 1e300], [0.99, inf]),
    "slope": ([FIRST_SLOPE, 1e300], [0.99 * FIRST_SLOPE, inf]),
    "target_false_alarm_rate": FRACTION,
    "tol": POSITIVE,
    "validation_fraction": FRACTION,
}
NUMERIC_PARAMETERS = [
    (estimator_name, parameter)
    for estimator_name in svmbook.__all__[:-1]
    for parameter, constraints in getattr(svmbook, estimator_name)._parameter_constraints.items()
    if any(isinstance(constraint, Interval) for constraint in constraints)
]


@pytest.mark.parametrize(("estimator_name", "parameter"), NUMERIC_PARAMETERS)
def test_values_inside_the_interval_are_accepted_and_others_rejected(estimator_name, parameter):
    valid, invalid = VALUES.get(f"{estimator_name}.{parameter}") or VALUES[parameter]
    model = getattr(svmbook, estimator_name)()
    for value in valid:
        model.set_params(**{parameter: value})._validate_params()
    for value in invalid:
        with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter"):
            model.set_params(**{parameter: value})._validate_params()


def test_values_are_listed_for_exactly_the_numeric_parameters():
    parameters = {parameter for _, parameter in NUMERIC_PARAMETERS}
    assert {key.split(".")[-1] for key in VALUES} == parameters
