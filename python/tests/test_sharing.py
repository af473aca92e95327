"""Threads that read an array while others assign to it, or its home drops dead nodes: locks of free-threaded builds."""

import collections
import gc
import mmap
import random
import sys
import threading

import pytest
from test_threads import in_threads

import rdim as rd

np = pytest.importorskip("numpy")
switched = getattr(sys, "_is_gil_enabled", lambda: True)()  # one thread at a time, in turn


@pytest.fixture(autouse=True)
def switching():
    """With the interpreter's lock, threads change often; a build without it has nothing to switch."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def fresh(n, value):
    """Memory that is gone, and no other array's, as soon as nobody holds it."""
    made = np.frombuffer(mmap.mmap(-1, 8 * n))
    made[:] = value
    return made


def read(x, n):
    """Whatever the array was last assigned, all of its elements are of that."""
    assert x.shape == (n,) and x.dtype == np.float64 and not x.is_sparse and len(x) == n
    for made in (x, x * 2 + 1, x[::-1], rd.where(x > 0, x, 0), rd.concat([x, x])):
        values = made.compute()
        assert (values == values[0]).all(), values
    one, other = rd.formulas("a = x[0] + y[0]\nb = y[0] + x[0]", x=x, y=x).values()
    assert float(one) == float(other)
    assert len(rd.explain(x + x)) > 10


def test_arrays_that_are_assigned_while_they_are_read():
    n = 4096
    shared = [rd.asarray(fresh(n, k)) for k in range(3)]
    turns = 25 if switched else 250

    def work(k):
        draw = random.Random(k)
        for turn in range(turns):
            x = draw.choice(shared)
            if k % 3 == 0:
                x[...] = fresh(n, draw.random())
            elif k % 3 == 1:
                rd._core._replace(x, draw.choice(shared) * draw.random())
            else:
                read(x, n)

    in_threads(24, work)
    for x in shared:
        read(x, n)


def test_homes_that_drop_nodes_which_others_look_at():
    """A thread that makes many arrays moves the nodes of those that live."""
    recent = collections.deque([(rd.asarray(np.arange(6.0)), 6)], maxlen=200)
    made = threading.Event()

    def work(k):
        draw = random.Random(k)
        if k < 4:
            of = [rd.asarray(np.arange(float(n))) for n in range(1, 10)]
            for turn in range(9000 if switched else 60_000):  # of 8000 and more, a home drops the dead ones
                n = draw.randrange(9)
                y = of[n] * turn + k
                if turn % 10 == 0:
                    recent.append((y, n + 1))
            made.set()
        while k >= 4 and not made.is_set():
            x, n = recent[draw.randrange(len(recent))]
            for _ in range(10):
                assert x.shape == (n,) and x.dtype == np.float64 and x.nbytes == 8 * n and not x.is_sparse
                assert x.T.shape == (n,) and (x > 2**70).dtype == np.bool_
            if draw.random() < 0.05:
                assert x.compute().shape == (n,)

    in_threads(24, work)
    assert rd._core._nodes()[1] < 10_000


def test_pinned_homes_and_masks_are_shared():
    m = rd.sparse.csr([2.0, 3.0, 4.0], [0, 2, 1], [0, 2, 3], shape=(2, 3))
    x = rd.asarray(np.arange(20.0))

    def work(k):
        for turn in range(20):
            assert (m @ np.array([1.0, 10.0, 100.0])).compute().tolist() == [302, 40]
            assert m.is_sparse and (m * 2).is_sparse and m.shape == (2, 3)
            assert len(x[x > 10 + k % 5].compute()) == 9 - k % 5
            assert [len(u.compute()) for u in rd.unique_counts(x)] == [20, 20]

    in_threads(24, work)


def test_cycles_are_collected_while_others_build():
    class Owner(np.ndarray):
        pass

    x = rd.asarray(np.arange(10.0))

    def work(k):
        for turn in range(30):
            base = np.arange(10.0).view(Owner)
            base.made = rd.asarray(base) + x
            base.also = [base.made * 2, x]
            assert float(rd.sum(base.also[0])) == 180
            if k % 8 == 0 and turn % 10 == 0:
                gc.collect()

    in_threads(24, work)
    gc.collect()
    assert float(rd.sum(x)) == 45
