"""BLAS is limited to one thread inside, and is what it was outside."""

from concurrent.futures import ThreadPoolExecutor

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


def test_a_python_thread_that_enters_second_may_leave_last():
    one, other = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
    with threadpool_limits(2, user_api="blas"), one, other:
        before = threads()
        assert 2 in before.values()
        first, second = one_blas_thread(), one_blas_thread()
        one.submit(first.__enter__).result()
        other.submit(second.__enter__).result()
        assert {*threads().values()} == {1}
        one.submit(first.__exit__, None, None, None).result()
        assert {*threads().values()} == {1}
        other.submit(second.__exit__, None, None, None).result()
        assert threads() == before


def test_an_error_lifts_it_too():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert threads() == before
