"""Additive models: data frames, explanations, bands, and tables with missing values and text."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from svmbook import AdaBoostStump, StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.datasets import ringnorm
from svmbook.ensembles import shape_bands

X, Y = ringnorm(150, d=3, random_state=0)
TABLE = pd.DataFrame(X, columns=["age", "dose", "days"])
MODELS = [StumpEnsembleLogistic(n_knots=8), StumpEnsembleSVC(), AdaBoostStump(20)]


@pytest.mark.parametrize("model", MODELS)
def test_shape_frame_agrees_with_shape_functions(model):
    frame = model.fit(TABLE, Y).shape_frame()
    assert list(frame.columns) == ["feature", "value", "contribution"]
    for name, g, column in zip(TABLE.columns, model.shape_functions_, X.T, strict=True):
        rows = frame[frame.feature == name]
        if isinstance(model, AdaBoostStump):  # each contribution holds up to the next threshold
            intervals = np.searchsorted(rows.value[::2], column)
            contributions = rows.contribution.to_numpy()
            np.testing.assert_allclose(
                np.append(contributions[::2], contributions[-1])[intervals], g(column)
            )
        else:
            interpolated = np.interp(column, rows.value, rows.contribution)
            np.testing.assert_allclose(interpolated, g(column), atol=1e-12)
    assert model.fit(X, Y).shape_frame().feature.iloc[0] == "x0"


@pytest.mark.parametrize("model", MODELS)
def test_explanation_of_a_point_sums_to_its_output(model):
    model.fit(TABLE, Y)
    explanation = model.explain(TABLE.iloc[[7]])
    total = explanation.contribution.sum() + model.intercept_[0]
    assert total == pytest.approx(model.decision_function(TABLE.iloc[[7]])[0])
    assert explanation.contribution.abs().is_monotonic_decreasing
    values = dict(zip(explanation.feature, explanation.value, strict=True))
    assert values == TABLE.iloc[7].to_dict()
    pd.testing.assert_frame_equal(model.explain(TABLE.iloc[7]), explanation)  # without a warning
    pd.testing.assert_frame_equal(model.fit(X, Y).explain(X[7]), model.explain(X[[7]]))
    with pytest.raises(ValueError, match="takes one point"):
        model.explain(X[:2])


def test_shape_bands_refuses_points_of_one_class_or_of_another_number():
    model = StumpEnsembleSVC(n_knots=5).fit(X, Y)
    one_class = np.unique(Y)[0] == Y
    with pytest.raises(ValueError, match="both classes"):
        shape_bands(model, X[one_class], Y[one_class], n_refits=2)
    with pytest.raises(ValueError, match="both classes"):
        shape_bands(model, X, Y, sample_weight=one_class.astype(float), n_refits=2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        shape_bands(model, X, Y[:-1], n_refits=2)


def test_shape_bands_refuses_pipelines_and_unknown_labels():
    pipeline = make_pipeline(SimpleImputer(), StumpEnsembleLogistic(n_knots=8)).fit(X, Y)
    with pytest.raises(TypeError, match=r"found Pipeline.*pipeline\[-1\]"):
        shape_bands(pipeline, X, Y)
    assert len(shape_bands(pipeline[-1], pipeline[:-1].transform(X), Y, n_refits=2)) == 3
    three_classes = StumpEnsembleLogistic(n_knots=8).fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match="labels that the model was not fitted to"):
        shape_bands(three_classes.estimators_[0], X, np.arange(150) % 3)


def test_bands_are_reproducible_and_narrower_for_more_points_and_lower_levels():
    model = StumpEnsembleLogistic(n_knots=8)
    widths = []
    for n in (100, 1600):
        points, y = ringnorm(n, d=3, random_state=1)
        bands = shape_bands(model.fit(points, y), points, y, n_refits=25, random_state=0)
        for band, g, column in zip(bands, model.shape_functions_, points.T, strict=True):
            assert band.x[0] == column.min() and band.x[-1] == column.max()
            is_inside = (band.low <= g(band.x)) & (g(band.x) <= band.high)
            assert is_inside.mean() > 0.7
        widths.append(np.mean([np.median(band.high - band.low) for band in bands]))
    assert widths[1] < 0.75 * widths[0]  # not 1/4: the penalty narrows bands of few points
    repeated_bands = shape_bands(model, points, y, n_refits=25, random_state=0)
    np.testing.assert_array_equal(repeated_bands, bands)
    wider_bands = shape_bands(model, points, y, n_refits=25, level=0.99, random_state=0)
    assert (wider_bands[0].high >= bands[0].high).all()
    assert (wider_bands[0].low <= bands[0].low).all()


def test_bands_use_the_sample_weights_of_the_model():
    rng = np.random.default_rng(0)
    points, y = rng.standard_normal((400, 2)), rng.integers(2, size=400)
    weights = np.where(y == (points[:, 0] > 0), 1.0, 0.02)
    model = StumpEnsembleLogistic(n_knots=8).fit(points, y, sample_weight=weights)
    options = {"n_refits": 25, "random_state": 0}
    band = shape_bands(model, points, y, sample_weight=weights, **options)[0]
    contributions = model.shape_functions_[0](band.x)
    assert ((band.low <= contributions) & (contributions <= band.high)).mean() > 0.8
    unweighted_band = shape_bands(model, points, y, **options)[0]
    assert (
        (unweighted_band.low <= contributions) & (contributions <= unweighted_band.high)
    ).mean() < 0.2


def test_each_bootstrap_sample_has_both_classes():
    points, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1]
    bands = shape_bands(StumpEnsembleLogistic().fit(points, y), points, y, n_refits=30)
    assert np.isfinite(bands[0].high).all()


def test_error_for_more_than_two_classes_names_estimators_():
    three_classes = StumpEnsembleLogistic(n_knots=4).fit(X, np.arange(150) % 3)
    for call in (
        three_classes.shape_frame,
        lambda: three_classes.explain(X[0]),
        lambda: shape_bands(three_classes, X, Y),
    ):
        with pytest.raises(ValueError, match="estimators_"):
            call()


def test_transformers_allow_missing_values_and_text():
    rng = np.random.default_rng(0)
    table = TABLE.assign(city=rng.choice(["Bern", "Basel", "Chur"], 150))
    y = np.where(Y > 0, 1, 0) ^ (table.city == "Chur")
    table.loc[rng.random(150) < 0.2, "dose"] = np.nan
    transformer = make_column_transformer(
        (SimpleImputer(add_indicator=True), ["age", "dose", "days"]),
        (OneHotEncoder(sparse_output=False), ["city"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(transformer, StumpEnsembleLogistic()).fit(table, y)
    assert model.score(table, y) > 0.7
    names = {"age", "dose", "days", "missingindicator_dose"}
    names |= {"city_Bern", "city_Basel", "city_Chur"}
    assert set(model[-1].shape_frame().feature) == names
    assert set(model[-1].explain(transformer.transform(table.iloc[[0]])).feature) == names
