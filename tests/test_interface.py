"""What holds of everything public: defaults as documented, results that nobody changes."""

import ast
import dataclasses
import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import set_random_state
from sklearn.utils.validation import has_fit_parameter

import svmbook
from svmbook import DualSVC
from svmbook.kernels import KERNELS

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "book" / "api").glob("*.md")
MODULES = sorted(set(re.findall(r"^```{api} (\S+)$", "".join(map(Path.read_text, PAGES)), re.M)))


def public():
    """Yield what the pages of the package show, classes with their methods."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing):
                for inner, method in inspect.getmembers(thing, inspect.isfunction):
                    if not inner.startswith("_") and method.__module__.startswith("svmbook"):
                        yield f"{module.__name__}.{name}.{inner}", method


def said_defaults(doc):
    """Return the defaults that a docstring names, by parameter, as text."""
    said = {}
    for names, kind in re.findall(r"^ *([a-z]\w*(?:, \w+)*) : ((?:.*\\\n)*.*)$", doc, re.M | re.I):
        for default in re.findall(r"default=(\S+)$", kind.strip()):
            said |= dict.fromkeys(names.split(", "), default)
    return said


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_defaults_are_what_the_docstring_says(name):
    thing = PUBLIC[name]
    said = said_defaults(inspect.getdoc(thing) or "")
    parameters = inspect.signature(thing).parameters
    for parameter, text in said.items():
        if parameter in parameters:
            assert parameters[parameter].default == ast.literal_eval(text), parameter


@pytest.mark.parametrize("parameter", ["gamma", "degree", "coef0", "class_weight"])
def test_a_parameter_of_dual_svc_has_the_same_default_in_every_estimator(parameter):
    of_all = {
        name: inspect.signature(thing).parameters[parameter].default
        for name, thing in PUBLIC.items()
        if name.count(".") == 1 and parameter in inspect.signature(thing).parameters
    }
    assert len(of_all) > 5
    assert set(of_all.values()) == {of_all["svmbook.DualSVC"]}, of_all


@pytest.mark.parametrize("parameter", ["gamma", "degree", "coef0"])
def test_a_docstring_names_the_kernels_that_read_a_parameter(parameter):
    entry = re.search(rf"^    {parameter} : .*\n((?:        .*\n)+)", DualSVC.__doc__, re.M)
    readers = {name for name, (_, reads) in KERNELS.items() if parameter in reads}
    assert readers and {name for name in KERNELS if f'"{name}"' in entry[1]} == readers


def test_what_is_returned_cannot_be_changed():
    classes = {thing for thing in PUBLIC.values() if dataclasses.is_dataclass(thing)}
    assert len(classes) >= 7
    assert all(thing.__dataclass_params__.frozen for thing in classes)


def test_defaults_are_found():
    assert sum(len(said_defaults(inspect.getdoc(thing) or "")) for thing in PUBLIC.values()) > 100


def test_editors_find_every_estimator_in_the_family_that_loads_it():
    tree = ast.parse((ROOT / "svmbook" / "__init__.py").read_text())
    read_by_editors = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    loaded = {name: family for family, names in svmbook._FAMILIES.items() for name in names}
    assert read_by_editors == loaded
    assert dir(svmbook) == sorted(svmbook.__all__) == sorted([*loaded, "__version__"])
    assert (ROOT / "svmbook" / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'SVC'"):
        _ = svmbook.SVC


ESTIMATORS = {name: getattr(svmbook, name) for name in svmbook.__all__ if name != "__version__"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_and_probabilities_are_there_or_the_docstring_says_where(name):
    estimator, doc = ESTIMATORS[name], ESTIMATORS[name].__doc__
    if has_fit_parameter(estimator, "sample_weight"):
        assert "class_weight" in inspect.signature(estimator).parameters
    else:
        assert "takes no ``sample_weight``" in doc
    if not hasattr(estimator, "predict_proba"):
        assert "CalibratedClassifierCV" in doc or "The same with probabilities" in doc


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_docstring_says_what_a_fit_costs(name):
    notes = ESTIMATORS[name].__doc__.split("Notes\n    -----\n")[1].split("\n    -----")[0]
    assert re.search(r"are held|operations|Memory|costs", notes)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_calibration_gives_probabilities_of_three_classes(name):
    X, y = make_blobs(90, centers=3, cluster_std=2.0, random_state=0)
    estimator = ESTIMATORS[name]()
    set_random_state(estimator)
    calibrated = CalibratedClassifierCV(estimator, cv=3).fit(X, y)
    found = calibrated.predict_proba(X)
    assert found.shape == (90, 3) and calibrated.score(X, y) > 0.6
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_class_weights_are_sample_weights(name):
    if "class_weight" not in inspect.signature(ESTIMATORS[name]).parameters:
        pytest.skip("takes no weights, as its docstring says")
    X, y = make_blobs(40, centers=2, cluster_std=4.0, random_state=0)
    by_class = ESTIMATORS[name](class_weight={0: 3.0, 1: 0.5}).fit(X, y)
    by_point = ESTIMATORS[name]().fit(X, y, sample_weight=np.where(y == 0, 3.0, 0.5))
    alike = ESTIMATORS[name]().fit(X, y)
    F = by_class.decision_function(X)
    np.testing.assert_allclose(F, by_point.decision_function(X), rtol=1e-6, atol=1e-8)
    assert np.abs(F - alike.decision_function(X)).max() > 1e-3


def test_each_estimator_stands_in_one_group_of_the_page_of_estimators():
    page = (ROOT / "book/api/estimators.md").read_text(encoding="utf-8")
    grouped = " ".join(re.findall(r"^:names: (.*)$", page, re.M)).split()
    assert sorted(grouped) == sorted(ESTIMATORS)
