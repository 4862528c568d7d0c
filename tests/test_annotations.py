"""Everything public says what it takes and returns, and its defaults are of that kind."""

import inspect
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest

MODULES = (
    *("svmbook", "svmbook.calibration", "svmbook.datasets", "svmbook.ensembles", "svmbook.gram"),
    *("svmbook.kernels", "svmbook.losses", "svmbook.plotting", "svmbook.solvers", "svmbook.tables"),
)
KINDS = {
    "bool": bool,
    "int": int,
    "float": (int, float),
    "str": str,
    "dict": dict,
    "None": type(None),
    "Callable": Callable,
    "ArrayLike": (int, float, list, tuple, np.ndarray),
    "object": object,
}


def functions():
    """Yield the public functions of the public modules, and methods of public classes."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield found
            elif inspect.isclass(found) and not issubclass(found, tuple | BaseException):
                for method, value in vars(found).items():
                    if inspect.isfunction(value) and (method == "__init__" or method[0] != "_"):
                        yield value


FUNCTIONS = {f"{f.__module__}.{f.__qualname__}": f for f in functions()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_is_annotated(name):
    signature = inspect.signature(FUNCTIONS[name])
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    unsaid = [p.name for p in parameters if p.annotation is p.empty]
    unsaid += ["return"] * (signature.return_annotation is signature.empty)
    unsaid = [p for p in unsaid if p not in variable(parameters)]
    assert not unsaid
    for p in parameters:
        kinds = [KINDS.get(kind.strip()) for kind in str(p.annotation).split(" | ")]
        if p.default is not p.empty and None not in kinds:
            assert any(isinstance(p.default, kind) for kind in kinds), p


def variable(parameters):
    """Return the names of parameters that gather others, such as ``**params``."""
    gathering = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {p.name for p in parameters if p.kind in gathering}
