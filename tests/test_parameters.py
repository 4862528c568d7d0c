"""The numeric parameters of the estimators: where their intervals end, and on which side."""

from math import inf

import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError

import svmbook
from svmbook.unbiased.expansions import FIRST_SLOPE

TINY = 1e-300
POSITIVE = ([TINY, 1e300], [0.0, -0.5, inf])
POSITIVE_OR_INFINITE = ([TINY, inf], [0.0, -0.5])
PROPORTION = ([TINY, 0.99], [0.0, -0.5, 1.0, 1.5])
SHARE = ([TINY, 1.0], [0.0, -0.5, 1.01])
FROM_0, FROM_1, FROM_2 = (([least], [least - 1, least + 0.5]) for least in range(3))
# What is taken and what is refused; a name with its estimator is an exception to the name alone.
VALUES = {
    "C": POSITIVE,
    "DualSVC.C": POSITIVE_OR_INFINITE,
    "LPBoost.C": POSITIVE_OR_INFINITE,
    "balance": ([0.0, 1e300], [-0.5, inf]),
    "coef0": ([-1e300, 1e300], [-inf, inf]),
    "confidence": PROPORTION,
    "degree": FROM_1,
    "first_share": SHARE,
    "gamma": POSITIVE,
    "k": SHARE,
    "lam": POSITIVE,
    "max_iter": FROM_1,
    "DualSVC.max_iter": ([1, -1], [0, -2, 1.5]),
    "max_points": FROM_1,
    "min_decrease": POSITIVE,
    "n_clusters": FROM_1,
    "n_estimators": FROM_1,
    "n_init": FROM_1,
    "n_knots": FROM_2,
    "n_negatives": FROM_1,
    "n_neighbors": FROM_1,
    "LocalizedSVM.n_neighbors": FROM_2,
    "n_prototypes": FROM_1,
    "n_samplings": FROM_1,
    "n_shifts": FROM_0,
    "next_share": SHARE,
    "p_negative": ([0.0, 1.0], [-0.01, 1.01]),
    "positive_weight": POSITIVE,
    "s": ([1.0, 1e300], [0.99, inf]),
    "slope": ([FIRST_SLOPE, 1e300], [0.99 * FIRST_SLOPE, inf]),
    "target_false_alarm_rate": PROPORTION,
    "tol": POSITIVE,
    "validation_fraction": PROPORTION,
}
NUMERIC = [
    (estimator, name)
    for estimator in svmbook.__all__[:-1]
    for name, allowed in getattr(svmbook, estimator)._parameter_constraints.items()
    if any(isinstance(each, Interval) for each in allowed)
]


@pytest.mark.parametrize(("estimator", "name"), NUMERIC)
def test_an_interval_ends_where_it_should(estimator, name):
    taken, refused = VALUES.get(f"{estimator}.{name}") or VALUES[name]
    model = getattr(svmbook, estimator)()
    for value in taken:
        model.set_params(**{name: value})._validate_params()
    for value in refused:
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
            model.set_params(**{name: value})._validate_params()


def test_every_value_is_of_a_parameter():
    assert {name.split(".")[-1] for name in VALUES} == {name for _, name in NUMERIC}
