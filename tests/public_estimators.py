"""The classes of the package's public estimators, by name."""

import svmbook

PUBLIC_ESTIMATORS = {
    name: getattr(svmbook, name) for name in svmbook.__all__ if name != "__version__"
}
