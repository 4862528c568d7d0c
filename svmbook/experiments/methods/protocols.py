r"""Training and test data for each run of a study, where each run has its own seed.

The seed of a run is derived from that of the study by `numpy.random.SeedSequence`, with the run's
number as spawn key. Run 37 therefore does not depend on the other runs or on their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import check_scalar, check_X_y

__all__ = ["GeneratedSamples", "RandomSplits", "RunData", "StratifiedFolds", "run_seed"]


class RunData(NamedTuple):
    """Training and test data of one run, and a seed for all other randomness in it."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    seed: int


def run_seed(seed: int, run: int, *, purpose: int = 0) -> int:
    """Return the seed of one run of a study, which scikit-learn accepts as ``random_state``.

    Parameters
    ----------
    seed : int
        Seed of the study, not negative.
    run : int
        Number of the run, from 0.
    purpose : int, default=0
        Number of the use of randomness inside a run; different uses get independent seeds.

    Returns
    -------
    int
        Between 0 and 2^32 - 1.

    Raises
    ------
    TypeError, ValueError
        An argument is not an integer, or is negative.

    Examples
    --------
    >>> from svmbook.experiments.methods.protocols import run_seed
    >>> run_seed(0, 37) == run_seed(0, 37), run_seed(0, 37) == run_seed(0, 38)
    (True, False)
    """
    for name, value in (("seed", seed), ("run", run), ("purpose", purpose)):
        check_scalar(value, name, Integral, min_val=0)
    seed_sequence = np.random.SeedSequence(int(seed), spawn_key=(int(run), int(purpose)))
    return int(seed_sequence.generate_state(1)[0])


class _Protocol:
    """A sequence of the data of ``n_runs`` runs; a subclass implements ``_run_data(run)``."""

    def __len__(self):
        return self.n_runs

    def __getitem__(self, run):
        check_scalar(run, "run", Integral)
        if not 0 <= run < self.n_runs:  # the IndexError also ends a loop over a protocol
            raise IndexError(f"run must be in 0, ..., {self.n_runs - 1}; found {run}.")
        return self._run_data(run)

    def _store_validated_table(self):
        """Validate the table and the number of runs, and store the table as arrays."""
        check_scalar(self.n_runs, "n_runs", Integral, min_val=1)
        X, y = check_X_y(self.X, self.y, ensure_min_samples=2, ensure_all_finite=False)
        object.__setattr__(self, "X", X)  # the class is frozen
        object.__setattr__(self, "y", y)


@dataclass(frozen=True, eq=False)  # comparing arrays gives an array, which has no truth value
class RandomSplits(_Protocol):
    """Random splits of one table.

    Parameters
    ----------
    X, y : ndarray of shapes (n, d) and (n,)
        The table.
    train_share : float
        Share of training rows: 0.6 in Lin (2005), 0.8 in Navia-Vazquez et al. (2004).
    n_runs : int, default=100
        Number of splits.
    seed : int, default=0
        Seed of the study.
    stratified : bool, default=False
        Whether both parts keep the proportions of the classes. None of the sources mentions
        stratification.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.experiments.methods.protocols import RandomSplits
    >>> X, y = np.arange(20.0).reshape(10, 2), np.repeat([-1, 1], 5)
    >>> data = RandomSplits(X, y, train_share=0.6)[37]
    >>> data.X_train.shape, data.X_test.shape
    ((6, 2), (4, 2))
    """

    X: np.ndarray
    y: np.ndarray
    train_share: float
    n_runs: int = 100
    seed: int = 0
    stratified: bool = False

    def __post_init__(self):
        self._store_validated_table()
        limits = {"min_val": 0, "max_val": 1, "include_boundaries": "neither"}
        check_scalar(self.train_share, "train_share", Real, **limits)

    @property
    def test_share(self):
        """Share of the rows in the test part, for the corrected t-test."""
        return 1.0 - self.train_share

    def _run_data(self, run):
        X_train, X_test, y_train, y_test = train_test_split(
            self.X,
            self.y,
            train_size=self.train_share,
            stratify=self.y if self.stratified else None,
            random_state=run_seed(self.seed, run),
        )
        return RunData(X_train, y_train, X_test, y_test, run_seed(self.seed, run, purpose=1))


@dataclass(frozen=True, eq=False)
class GeneratedSamples(_Protocol):
    """New data for each run: by default 300 training and 3,000 test points, as in Lin (2005).

    Parameters
    ----------
    draw : callable
        ``draw(n, random_state=seed)`` returning ``(X, y)``.
    n_train, n_test : int, default=300 and 3000
        Numbers of training and test points.
    n_runs : int, default=100
        Number of runs.
    seed : int, default=0
        Seed of the study.

    Examples
    --------
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.protocols import GeneratedSamples
    >>> data = GeneratedSamples(twonorm)[0]
    >>> data.X_train.shape, data.X_test.shape
    ((300, 20), (3000, 20))
    """

    draw: Callable
    n_train: int = 300
    n_test: int = 3000
    n_runs: int = 100
    seed: int = 0

    def __post_init__(self):
        check_scalar(self.n_runs, "n_runs", Integral, min_val=1)

    #: Runs share no points, so the t-test needs no correction.
    test_share = None

    def _run_data(self, run):
        samples = (
            self.draw(n, random_state=run_seed(self.seed, run, purpose=purpose))
            for purpose, n in ((0, self.n_train), (2, self.n_test))
        )
        (X_train, y_train), (X_test, y_test) = samples
        return RunData(X_train, y_train, X_test, y_test, run_seed(self.seed, run, purpose=1))


@dataclass(frozen=True, eq=False)
class StratifiedFolds(_Protocol):
    """The folds of one cross-validation: the test set of run i is fold i.

    Parameters
    ----------
    X, y : ndarray of shapes (n, d) and (n,)
        The table.
    n_runs : int, default=10
        Number of folds.
    seed : int, default=0
        Seed of the study, which shuffles the rows once for all folds.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.experiments.methods.protocols import StratifiedFolds
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> folds = StratifiedFolds(X, y, n_runs=5)
    >>> np.sort(np.concatenate([data.X_test[:, 0] for data in folds]))[:5]
    array([0., 1., 2., 3., 4.])
    """

    X: np.ndarray
    y: np.ndarray
    n_runs: int = 10
    seed: int = 0

    def __post_init__(self):
        self._store_validated_table()

    @property
    def test_share(self):
        """Share of the rows in one fold, for the corrected t-test."""
        return 1.0 / self.n_runs

    def _run_data(self, run):
        splitter = StratifiedKFold(self.n_runs, shuffle=True, random_state=run_seed(self.seed, 0))
        train, test = list(splitter.split(self.X, self.y))[run]
        seed = run_seed(self.seed, run, purpose=1)
        return RunData(self.X[train], self.y[train], self.X[test], self.y[test], seed)
