"""Reading additive models: frames, one point explained, bands, and tables with gaps and words."""

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
MACHINES = [StumpEnsembleLogistic(n_knots=8), StumpEnsembleSVC(), AdaBoostStump(20)]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_frame_holds_the_shape_functions(machine):
    frame = machine.fit(TABLE, Y).shape_frame()
    assert list(frame.columns) == ["feature", "value", "contribution"]
    for name, g, column in zip(TABLE.columns, machine.shape_functions_, X.T, strict=True):
        part = frame[frame.feature == name]
        if isinstance(machine, AdaBoostStump):  # right of the last threshold that is smaller
            place = np.searchsorted(part.value[::2], column)
            ends = part.contribution.to_numpy()
            np.testing.assert_allclose(np.append(ends[::2], ends[-1])[place], g(column))
        else:
            found = np.interp(column, part.value, part.contribution)
            np.testing.assert_allclose(found, g(column), atol=1e-12)
    assert machine.fit(X, Y).shape_frame().feature.iloc[0] == "x0"


@pytest.mark.parametrize("machine", MACHINES)
def test_the_explanation_of_a_point_sums_to_its_output(machine):
    machine.fit(TABLE, Y)
    found = machine.explain(TABLE.iloc[[7]])
    total = found.contribution.sum() + machine.intercept_[0]
    assert total == pytest.approx(machine.decision_function(TABLE.iloc[[7]])[0])
    assert found.contribution.abs().is_monotonic_decreasing
    assert dict(zip(found.feature, found.value, strict=True)) == TABLE.iloc[7].to_dict()
    pd.testing.assert_frame_equal(machine.explain(TABLE.iloc[7]), found)  # without a warning
    pd.testing.assert_frame_equal(machine.fit(X, Y).explain(X[7]), machine.explain(X[[7]]))
    with pytest.raises(ValueError, match="takes one point"):
        machine.explain(X[:2])


def test_what_has_no_shape_functions_is_named_with_the_way_to_them():
    pipeline = make_pipeline(SimpleImputer(), StumpEnsembleLogistic(n_knots=8)).fit(X, Y)
    with pytest.raises(TypeError, match=r"found Pipeline.*pipeline\[-1\]"):
        shape_bands(pipeline, X, Y)
    assert len(shape_bands(pipeline[-1], pipeline[:-1].transform(X), Y, n_refits=2)) == 3
    three = StumpEnsembleLogistic(n_knots=8).fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match="labels that the model was not fitted to"):
        shape_bands(three.estimators_[0], X, np.arange(150) % 3)


def test_bands_are_quantiles_of_refits_and_narrow_with_more_points():
    machine = StumpEnsembleLogistic(n_knots=8)
    widths = []
    for n in (100, 1600):
        points, y = ringnorm(n, d=3, random_state=1)
        bands = shape_bands(machine.fit(points, y), points, y, n_refits=25, random_state=0)
        for band, g, column in zip(bands, machine.shape_functions_, points.T, strict=True):
            assert band.x[0] == column.min() and band.x[-1] == column.max()
            inside = (band.low <= g(band.x)) & (g(band.x) <= band.high)
            assert inside.mean() > 0.7
        widths.append(np.mean([np.median(band.high - band.low) for band in bands]))
    assert widths[1] < 0.75 * widths[0]  # with few points the penalty holds the curves together
    again = shape_bands(machine, points, y, n_refits=25, random_state=0)
    np.testing.assert_array_equal(again, bands)
    wider = shape_bands(machine, points, y, n_refits=25, level=0.99, random_state=0)
    assert (wider[0].high >= bands[0].high).all() and (wider[0].low <= bands[0].low).all()


def test_bands_of_few_points_have_both_classes_in_each_refit():
    machine = StumpEnsembleLogistic().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1])
    bands = shape_bands(machine, [[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1], n_refits=30)
    assert np.isfinite(bands[0].high).all()


def test_pairs_of_classes_are_read_one_at_a_time():
    three = StumpEnsembleLogistic(n_knots=4).fit(X, np.arange(150) % 3)
    for ask in (three.shape_frame, lambda: three.explain(X[0]), lambda: shape_bands(three, X, Y)):
        with pytest.raises(ValueError, match="estimators_"):
            ask()


def test_missing_values_and_words_come_through_a_transformer():
    rng = np.random.default_rng(0)
    table = TABLE.assign(city=rng.choice(["Bern", "Basel", "Chur"], 150))
    y = np.where(Y > 0, 1, 0) ^ (table.city == "Chur")
    table.loc[rng.random(150) < 0.2, "dose"] = np.nan
    columns = make_column_transformer(
        (SimpleImputer(add_indicator=True), ["age", "dose", "days"]),
        (OneHotEncoder(sparse_output=False), ["city"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(columns, StumpEnsembleLogistic()).fit(table, y)
    assert model.score(table, y) > 0.7
    known = {"age", "dose", "days", "missingindicator_dose"}
    known |= {"city_Bern", "city_Basel", "city_Chur"}
    assert set(model[-1].shape_frame().feature) == known
    assert set(model[-1].explain(columns.transform(table.iloc[[0]])).feature) == known
