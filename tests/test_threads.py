"""BLAS is limited to one thread inside, and is what it was outside."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmbook.threads import one_blas_thread


def threads():
    """Return how many threads each BLAS may use."""
    pools = (pool for pool in threadpool_info() if pool["user_api"] == "blas")
    return {pool["filepath"]: pool["num_threads"] for pool in pools}


def test_the_last_to_leave_lifts_the_limit():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        assert 2 in before.values()
        with one_blas_thread():
            with one_blas_thread():
                assert {*threads().values()} == {1}
            assert {*threads().values()} == {1}
        assert threads() == before


def test_an_error_lifts_it_too():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert threads() == before
