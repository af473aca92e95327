"""Threads that build and evaluate at once, the same arrays too."""

import gc
import threading
import time
import weakref

import pytest

import rdim as rd

np = pytest.importorskip("numpy")


def in_threads(n, work):
    failures = []

    def run(k):
        try:
            work(k)
        except BaseException as error:  # told by the thread that waits
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_shared_arrays():
    rng = np.random.default_rng(0)
    a, b = rng.random((50, 40)), rng.random((50, 40))
    x, y = rd.asarray(a), rd.asarray(b)
    shared = [x + y, rd.sin(x) * y, rd.sum(x, axis=0), x @ rd.matrix_transpose(y), x[::2] - y[::2], rd.sum(rd.exp(x - y), axis=1)]
    wanted = [one.compute() for one in shared]

    def work(k):
        for turn in range(30):
            for one, want in zip(shared, wanted):
                np.testing.assert_array_equal(one.compute(), want)
            mine = rd.sum(shared[turn % 2] * k + x)
            assert abs(float(mine) - ((wanted[turn % 2] * k + a).sum())) < 1e-9 * (1 + k)

    in_threads(24, work)


def test_arrays_wander_among_threads():
    """Each thread makes arrays of those that others have made; owners of handles change all the time."""
    a = np.arange(64.0)
    pool, lock = [(rd.asarray(a), a)], threading.Lock()

    def work(k):
        rng = np.random.default_rng(k)
        for _ in range(150):
            with lock:
                x, want = pool[rng.integers(len(pool))]
            kind = rng.integers(4)
            made = [(x + 1, want + 1), (rd.asarray(a) - 1, a - 1), (x * 0.5, want * 0.5), (x[::-1], want[::-1])][kind]
            with lock:
                if len(pool) < 30:
                    pool.append(made)
                else:
                    pool[rng.integers(1, 30)] = made
            np.testing.assert_allclose(made[0].compute(), made[1])

    in_threads(12, work)
    assert len(pool) == 30


def test_arrays_of_a_thread_that_has_ended():
    base = np.arange(1000.0).view(type("Base", (np.ndarray,), {}))
    alive = weakref.ref(base)
    made = []
    in_threads(1, lambda k: made.append(rd.asarray(base) + 1))
    del base
    gc.collect()
    for _ in range(3):
        assert float(rd.sum(made[0] * 2)) == 1001000
        in_threads(2, lambda k: made.append(made[0] + k))
    assert alive() is not None
    made.clear()
    gc.collect()
    assert alive() is None


def test_threads_that_come_and_go_leave_nothing():
    def statm():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    x = rd.asarray(np.arange(100.0))

    def turn(n):
        for _ in range(n):
            in_threads(4, lambda k: [float(rd.sum(x + k)) for k in range(50)])

    turn(30)
    before = statm()
    turn(100)
    assert statm() - before < 8 << 20


def test_threads_do_not_wait_for_each_other():
    """They take 0.3 to 0.9 of the time of one after the other here; a test of time is for collapses alone."""
    x = rd.asarray(np.random.default_rng(0).random(200_000))

    def work(k):
        for turn in range(10):
            float(rd.sum(rd.sin(x) * (k + 1) + turn))

    work(0)
    took = []
    for _ in range(3):  # the machine has other work, too
        begun = time.perf_counter()
        for k in range(24):
            work(k)
        alone = time.perf_counter() - begun
        begun = time.perf_counter()
        in_threads(24, work)
        took.append((time.perf_counter() - begun) / alone)
        if took[-1] < 8:
            return
    raise AssertionError(f"24 threads took {took} times as long as one after the other")


def test_the_interpreter_runs_while_an_evaluation_does():
    x = rd.asarray(np.random.default_rng(0).random(2_000_000))
    y = rd.sum(rd.gamma(x) + rd.gamma(x + 1))
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    y.compute()
    done.set()
    thread.join()
    assert turns[0] > 10
