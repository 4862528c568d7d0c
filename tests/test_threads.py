"""BLAS is limited to one thread inside, and is what it was outside."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmbook.threads import one_blas_thread


def threads():
    """Return the numbers of threads that BLAS may use."""
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_last_to_leave_lifts_the_limit():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        assert before == {2}
        with one_blas_thread():
            with one_blas_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == before


def test_an_error_lifts_it_too():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert threads() == before
