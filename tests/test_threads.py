"""The limit of BLAS to one thread, and the work in threads within it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, get_ident

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmbook.threads import all_blas_threads, map_in_threads, one_blas_thread


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


def test_all_threads_are_available_inside_a_block_for_one_operation():
    with threadpool_limits(2, user_api="blas"):
        limits_before = blas_thread_limits()
        with all_blas_threads():
            assert blas_thread_limits() == limits_before
        with one_blas_thread():
            with all_blas_threads():
                assert 2 in blas_thread_limits().values()
            assert {*blas_thread_limits().values()} == {1}
        assert blas_thread_limits() == limits_before


@pytest.mark.parametrize("n_threads", [1, 2])
def test_items_are_mapped_in_as_many_threads_as_blas_may_use(n_threads):
    barrier, threads, limits = Barrier(n_threads, timeout=10), set(), set()

    def note_thread(_):
        barrier.wait()  # fails unless all threads work at once
        threads.add(get_ident())
        limits.update(blas_thread_limits().values())

    with threadpool_limits(n_threads, user_api="blas"):
        map_in_threads(note_thread, range(6))
        assert max(blas_thread_limits().values()) == n_threads
    assert len(threads) == n_threads
    assert limits == {1}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_errors_of_mapped_functions_are_raised(n_threads):
    with threadpool_limits(n_threads, user_api="blas"), pytest.raises(ZeroDivisionError):
        map_in_threads(lambda item: 1 / item, [1, 0, 2])


def test_strict_limit_is_never_lifted():
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread(strictly=True), all_blas_threads():
            assert {*blas_thread_limits().values()} == {1}
        with one_blas_thread(), all_blas_threads():
            assert 2 in blas_thread_limits().values()


def test_limit_is_set_again_when_the_last_operation_ends():
    executor, operation = ThreadPoolExecutor(1), all_blas_threads()
    with threadpool_limits(2, user_api="blas"), executor, one_blas_thread():
        executor.submit(operation.__enter__).result()
        with all_blas_threads():
            pass
        assert 2 in blas_thread_limits().values()
        executor.submit(operation.__exit__, None, None, None).result()
        assert {*blas_thread_limits().values()} == {1}


def test_items_are_mapped_without_new_threads_when_the_interpreter_shuts_down(monkeypatch):
    submit, done = ThreadPoolExecutor.submit, []

    def submit_two(self, function, item):
        if item >= 2:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")
        return submit(self, function, item)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_two)
    with threadpool_limits(2, user_api="blas"):
        map_in_threads(done.append, range(5))
    assert sorted(done) == [0, 1, 2, 3, 4]
