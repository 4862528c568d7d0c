"""Logging of the progress of a fit.

Solvers log one line per iteration at the level INFO. By default nothing is shown.
The following calls show the lines, and hide them again:

>>> import logging
>>> logging.basicConfig()
>>> logging.getLogger("svmbook").setLevel(logging.INFO)  # show the progress
>>> logging.getLogger("svmbook").setLevel(logging.NOTSET)  # default
"""

import logging

__all__ = ["logger"]

logger = logging.getLogger("svmbook")
