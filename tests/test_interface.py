"""The public interface: docstrings, defaults, immutable results, lazy imports, class weights."""

import ast
import dataclasses
import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from public_estimators import PUBLIC_ESTIMATORS
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import set_random_state
from sklearn.utils.validation import has_fit_parameter

import svmbook
from svmbook import DualSVC
from svmbook.kernels import KERNELS

ROOT = Path(__file__).resolve().parent.parent
API_PAGES = (ROOT / "book" / "api").glob("*.md")
API_MODULES = sorted(
    set(re.findall(r"^```{api} (\S+)$", "".join(map(Path.read_text, API_PAGES)), re.M))
)


def public_objects():
    """Yield the name and object of each public function, class and method in the API modules."""
    for module in map(import_module, API_MODULES):
        for name in module.__all__:
            obj = getattr(module, name)
            if callable(obj):
                yield f"{module.__name__}.{name}", obj
            if inspect.isclass(obj):
                for method_name, method in inspect.getmembers(obj, inspect.isfunction):
                    if method_name[0] != "_" and method.__module__.startswith("svmbook"):
                        yield f"{module.__name__}.{name}.{method_name}", method


def documented_defaults(obj):
    """Return the defaults in the docstring of an object, by parameter, as text."""
    defaults, doc = {}, inspect.getdoc(obj) or ""
    for names, type_text in re.findall(
        r"^ *([a-z]\w*(?:, \w+)*) : ((?:.*\\\n)*.*)$", doc, re.M | re.I
    ):
        for default in re.findall(r"default=(\S+)$", type_text.strip()):
            defaults |= dict.fromkeys(names.split(", "), default)
    return defaults


PUBLIC_OBJECTS = dict(public_objects())


@pytest.mark.parametrize("name", PUBLIC_OBJECTS)
def test_defaults_are_those_of_the_docstring(name):
    parameters = inspect.signature(PUBLIC_OBJECTS[name]).parameters
    for parameter, text in documented_defaults(PUBLIC_OBJECTS[name]).items():
        if parameter in parameters:
            assert parameters[parameter].default == ast.literal_eval(text), parameter


@pytest.mark.parametrize("parameter", ["gamma", "degree", "coef0", "class_weight"])
def test_parameter_of_dual_svc_has_the_same_default_in_every_estimator(parameter):
    defaults = {
        name: inspect.signature(obj).parameters[parameter].default
        for name, obj in PUBLIC_OBJECTS.items()
        if name.count(".") == 1 and parameter in inspect.signature(obj).parameters
    }
    assert len(defaults) > 5
    assert set(defaults.values()) == {defaults["svmbook.DualSVC"]}, defaults


@pytest.mark.parametrize("parameter", ["gamma", "degree", "coef0"])
def test_docstring_of_a_kernel_parameter_lists_the_kernels_that_use_it(parameter):
    entry = re.search(rf"^    {parameter} : .*\n((?:        .*\n)+)", DualSVC.__doc__, re.M)
    expected = {name for name, (_, parameters) in KERNELS.items() if parameter in parameters}
    assert expected and {name for name in KERNELS if f'"{name}"' in entry[1]} == expected


def test_results_are_immutable():
    classes = {obj for obj in PUBLIC_OBJECTS.values() if dataclasses.is_dataclass(obj)}
    assert len(classes) >= 7
    assert all(cls.__dataclass_params__.frozen for cls in classes)


def test_documented_defaults_are_found():
    assert sum(len(documented_defaults(obj)) for obj in PUBLIC_OBJECTS.values()) > 100


def test_imports_for_editors_match_the_lazy_imports():
    tree = ast.parse((ROOT / "svmbook" / "__init__.py").read_text())
    editor_imports = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    lazy_imports = {name: family for family, names in svmbook._FAMILIES.items() for name in names}
    assert editor_imports == lazy_imports
    assert dir(svmbook) == sorted(svmbook.__all__) == sorted([*lazy_imports, "__version__"])
    assert (ROOT / "svmbook" / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'SVC'"):
        _ = svmbook.SVC


@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_lack_of_weights_or_probabilities_is_documented(name):
    estimator, doc = PUBLIC_ESTIMATORS[name], PUBLIC_ESTIMATORS[name].__doc__
    if has_fit_parameter(estimator, "sample_weight"):
        assert "class_weight" in inspect.signature(estimator).parameters
    else:
        assert "takes no ``sample_weight``" in doc
    if not hasattr(estimator, "predict_proba"):
        assert "CalibratedClassifierCV" in doc or "gives probabilities" in doc


@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_cost_of_a_fit_is_documented(name):
    notes = PUBLIC_ESTIMATORS[name].__doc__.split("Notes\n    -----\n")[1].split("\n    -----")[0]
    assert re.search(r"are held|operations|Memory|costs", notes)


@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_calibration_gives_probabilities_of_three_classes(name):
    X, y = make_blobs(90, centers=3, cluster_std=2.0, random_state=0)
    estimator = PUBLIC_ESTIMATORS[name]()
    set_random_state(estimator)
    calibrated = CalibratedClassifierCV(estimator, cv=3).fit(X, y)
    probabilities = calibrated.predict_proba(X)
    assert probabilities.shape == (90, 3) and calibrated.score(X, y) > 0.6
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", PUBLIC_ESTIMATORS)
def test_class_weights_are_equivalent_to_sample_weights(name):
    if "class_weight" not in inspect.signature(PUBLIC_ESTIMATORS[name]).parameters:
        pytest.skip("has no class_weight, as documented")
    X, y = make_blobs(40, centers=2, cluster_std=4.0, random_state=0)
    class_weighted = PUBLIC_ESTIMATORS[name](class_weight={0: 3.0, 1: 0.5}).fit(X, y)
    sample_weighted = PUBLIC_ESTIMATORS[name]().fit(X, y, sample_weight=np.where(y == 0, 3.0, 0.5))
    unweighted = PUBLIC_ESTIMATORS[name]().fit(X, y)
    outputs = class_weighted.decision_function(X)
    np.testing.assert_allclose(outputs, sample_weighted.decision_function(X), rtol=1e-6, atol=1e-8)
    assert np.abs(outputs - unweighted.decision_function(X)).max() > 1e-3


def test_each_estimator_is_in_one_group_of_the_api_page():
    page = (ROOT / "book/api/estimators.md").read_text(encoding="utf-8")
    listed_names = " ".join(re.findall(r"^:names: (.*)$", page, re.M)).split()
    assert sorted(listed_names) == sorted(PUBLIC_ESTIMATORS)
