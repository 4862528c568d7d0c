"""Progress of a fit, for those who ask Python's logging for it.

Solvers log a line a round at the level INFO; nothing is shown unless a program asks:

>>> import logging
>>> logging.basicConfig()
>>> logging.getLogger("svmbook").setLevel(logging.INFO)
>>> logging.getLogger("svmbook").setLevel(logging.NOTSET)  # silent again
"""

import logging

__all__ = ["log"]

log = logging.getLogger("svmbook")
