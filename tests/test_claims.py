"""Claims of the papers and theses in the coverage table that no chapter recomputes."""

import numpy as np
import pytest
from records import skip_without_table
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmbook.datasets import message_features, messages, usvc_threshold_error
from svmbook.experiments import report
from svmbook.experiments.methods.protocols import run_seed
from svmbook.experiments.suites.shen2013 import comparison
from svmbook.experiments.suites.shen2013.cross_validation import CLEAN_DATA_SETS, TABLES, load_data


def rows_by_data_set_and_method(suite):
    """Return the rows of the report of a suite, with (data set, method) as keys."""
    return {(row["data_set"], row["method"]): row for row in report(suite).rows}


def test_safer_threshold_of_usvc_has_a_smaller_error_only_for_larger_shifts():
    def mean_error(threshold, max_shift):
        """Return the mean error in percent over thresholds shifted by up to `max_shift`."""
        thresholds = threshold + np.linspace(-max_shift, max_shift, 2001)
        return 100 * usvc_threshold_error("b", thresholds).mean()

    for max_shift, error in ((0.02, 18.2), (0.05, 20.2)):
        assert mean_error(0.21, max_shift) == pytest.approx(error, abs=0.05)
        assert mean_error(0.6, max_shift) == pytest.approx(20.0, abs=0.05)


def test_training_errors_of_usvc_agree_in_three_of_eight_cases():
    z = np.array([row["train_error_z"] for row in report("usvc-cases").rows])
    z = z[~np.isnan(z)]  # the cases with a printed training error
    assert len(z) == 8 and (np.abs(z) > 2).sum() == 5


def test_classifiers_of_usvc_agree_on_class_3_of_dermatology_but_not_on_class_5():
    rows = rows_by_data_set_and_method("usvc-biomedical")
    errors_of_class_3, errors_of_class_5 = (
        {m: rows[f"dermatology={k}", m]["reproduced"] for m in ("LS", "SVM", "ERM-SVC", "USVC")}
        for k in (3, 5)
    )
    assert all(0.2 < error < 0.3 for error in errors_of_class_3.values())
    assert round(errors_of_class_5["LS"], 1) == 2.1 and round(errors_of_class_5["SVM"], 1) == 0.1
    assert rows["dermatology=5", "LS"]["low"] > 0


@pytest.mark.filterwarnings("ignore:The least populated class in y")  # in glass
@pytest.mark.parametrize(
    ("data_set", "ends_early"), [("spirals", True), ("isolated", True), ("glass", False)]
)
def test_boosting_of_linear_svms_of_shen_ends_after_few_rounds_except_on_glass(
    data_set, ends_early
):
    if data_set in TABLES:
        skip_without_table(data_set)
    X, _, y = load_data(data_set, run_seed(0, 0))
    n_rounds = []  # for each fold
    for train, _ in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        boosted = comparison._make_estimator("boosted linear", X, y).set_params(random_state=0)
        scaler = StandardScaler() if data_set in TABLES else "passthrough"
        try:
            fitted = make_pipeline(scaler, boosted).fit(X[train], y[train])
        except ValueError:  # the first base learner is no better than chance
            n_rounds.append(0)
        else:
            n_rounds.append(len(fitted[-1].estimators_))
    if ends_early:
        assert np.median(n_rounds) < 5
    else:
        assert min(n_rounds) == 10


def test_boosting_of_shen_improves_trees_on_all_data_sets_but_messages():
    rows = rows_by_data_set_and_method("shen2013")
    for name in CLEAN_DATA_SETS[:-1]:
        tree_accuracy, boosted_accuracy = (
            rows[name, m]["reproduced"] for m in ("CART", "boosted CART")
        )
        assert boosted_accuracy > tree_accuracy


def test_messages_have_about_as_many_features_as_the_tweets_of_shen():
    # The smallest and the largest number over the seeds 0 to 9; Shen reports 2,715.
    for seed, n_features in ((0, 2709), (2, 2854)):
        X, _ = message_features(messages(600, random_state=seed)[0])
        assert X.shape == (600, n_features)
