"""`one_blas_thread` limits BLAS to one thread inside the block and restores the limit after it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmbook.threads import one_blas_thread


def blas_thread_limits():
    """Return the number of threads that each BLAS library may use."""
    pools = (pool for pool in threadpool_info() if pool["user_api"] == "blas")
    return {pool["filepath"]: pool["num_threads"] for pool in pools}


def test_nested_blocks_restore_the_limit_at_the_end():
    with threadpool_limits(2, user_api="blas"):
        limits_before = blas_thread_limits()
        assert 2 in limits_before.values()
        with one_blas_thread():
            with one_blas_thread():
                assert {*blas_thread_limits().values()} == {1}
            assert {*blas_thread_limits().values()} == {1}
        assert blas_thread_limits() == limits_before


def test_overlapping_blocks_of_two_threads_restore_the_limit_at_the_end():
    executor_1, executor_2 = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
    with threadpool_limits(2, user_api="blas"), executor_1, executor_2:
        limits_before = blas_thread_limits()
        assert 2 in limits_before.values()
        block_1, block_2 = one_blas_thread(), one_blas_thread()
        executor_1.submit(block_1.__enter__).result()
        executor_2.submit(block_2.__enter__).result()
        assert {*blas_thread_limits().values()} == {1}
        executor_1.submit(block_1.__exit__, None, None, None).result()
        assert {*blas_thread_limits().values()} == {1}
        executor_2.submit(block_2.__exit__, None, None, None).result()
        assert blas_thread_limits() == limits_before


def test_limit_is_restored_after_an_error():
    limits_before = blas_thread_limits()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_thread_limits() == limits_before
