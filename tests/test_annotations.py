"""All public functions and methods are annotated, and their defaults have the annotated types."""

import inspect
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest

PUBLIC_MODULES = (
    *("svmbook", "svmbook.calibration", "svmbook.datasets", "svmbook.ensembles", "svmbook.gram"),
    *("svmbook.kernels", "svmbook.losses", "svmbook.plotting", "svmbook.solvers", "svmbook.tables"),
)
TYPES_BY_ANNOTATION = {
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


def public_functions():
    """Yield the functions of the public modules, and the methods of their classes."""
    for module in map(import_module, PUBLIC_MODULES):
        for obj in (getattr(module, name) for name in module.__all__):
            if inspect.isfunction(obj):
                yield obj
            elif inspect.isclass(obj) and not issubclass(obj, tuple | BaseException):
                for name, member in vars(obj).items():
                    if inspect.isfunction(member) and (name == "__init__" or name[0] != "_"):
                        yield member


FUNCTIONS = {f"{f.__module__}.{f.__qualname__}": f for f in public_functions()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_function_is_annotated_with_the_types_of_its_defaults(name):
    signature = inspect.signature(FUNCTIONS[name])
    assert signature.return_annotation is not signature.empty
    for p in signature.parameters.values():
        if p.name == "self" or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        assert p.annotation is not p.empty, p
        annotated_types = [
            TYPES_BY_ANNOTATION.get(annotation.strip())
            for annotation in str(p.annotation).split(" | ")
        ]
        if p.default is not p.empty and None not in annotated_types:
            assert any(isinstance(p.default, cls) for cls in annotated_types), p
