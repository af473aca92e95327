"""What lives how long: nodes with handles, memory of others with what reads it, nothing longer."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import pytest

import rdim as rd

np = pytest.importorskip("numpy")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def flat(turn, turns, most=4 << 20):
    """Memory after some turns is what it is after many."""
    for _ in range(max(turns // 10, 1)):
        turn()
    gc.collect()
    nodes, before = rd._core._nodes()[0], resident()
    for _ in range(turns):
        turn()
    gc.collect()
    grown = resident() - before
    assert grown < most, f"{turns} turns took {grown} bytes"
    assert rd._core._nodes()[0] <= max(2 * nodes, 1 << 14)


# ---- Many -------------------------------------------------------------------------------------------
def test_a_million_lazy_arrays():
    x = rd.asarray(np.arange(10.0))

    def turn():
        for k in range(1000):
            rd.sum((x + k) * 2)

    flat(turn, 300)  # of 1000 times 3 arrays


def test_arrays_that_live_among_many_that_do_not():
    x = np.arange(10.0)
    kept = [(rd.asarray(x) + k, k) for k in range(500)]
    for k in range(60_000):
        y = rd.asarray(x) * k
        if k % 3000 == 0:
            kept[k // 3000] = (y, None)
            kept.append((y + 1, None))
    for y, k in kept:
        if k is not None:
            np.testing.assert_array_equal(y.compute(), x + k)
    assert rd._core._nodes()[1] >= len(kept)


def test_many_evaluations():
    x = np.arange(100.0)
    flat(lambda: [float(rd.sum(rd.asarray(x) + k)) for k in range(1000)], 50)
    flat(lambda: [((rd.asarray(x) * 2).persist() + 1).compute() for _ in range(100)], 50)


def test_many_plans():
    """Expressions of ever other structures and extents: kept plans are few."""
    x = np.arange(5000.0)
    state = [0]

    def turn():
        state[0] += 1
        n = state[0] % 4999 + 1
        y = rd.asarray(x[:n]) * n
        for k in range(state[0] % 7):
            y = rd.sin(y) if state[0] >> k & 1 else y + 1
        y.compute()

    flat(turn, 4000, 16 << 20)


def test_many_leaves_texts_errors_masks():
    x = rd.asarray(np.arange(20.0))

    def failing():
        with pytest.raises(ValueError):
            x + rd.asarray(np.zeros(7))
        with pytest.raises(rd.TextError):
            rd.map(x, "x +")
        with pytest.raises(IndexError):
            x[[99]].compute()

    flat(failing, 1000)
    flat(lambda: rd._core.explain(x + 1), 500)
    flat(lambda: rd._core.explain_svg(x + 1), 100)
    flat(lambda: x[x > 3].compute(), 2000)
    flat(lambda: rd.asarray(np.zeros(1000)), 20_000)
    flat(lambda: rd.formula("a * 2 + sum(a)", a=x).compute(), 1000)
    flat(lambda: np.from_dlpack(x + 1), 2000)
    flat(lambda: rd.from_dlpack(np.zeros(1000)), 5000)
    flat(lambda: x.__dlpack__(max_version=(1, 0)), 2000)
    flat(lambda: rd.asarray([[1, 2], [3.5, 4]]).compute(), 1000)


def test_many_sparse_arrays():
    sp = pytest.importorskip("scipy.sparse")
    a = sp.random_array((50, 60), density=0.2, format="csr", rng=np.random.default_rng(0))
    v = np.ones(60)
    flat(lambda: ((rd.asarray(a) * 2) @ v).compute(), 300, 8 << 20)
    flat(lambda: (rd.asarray(a) + rd.asarray(a)).to_scipy(), 300, 8 << 20)


# ---- Owners -----------------------------------------------------------------------------------------
class Base(np.ndarray):
    """An array that may be referred to weakly, and may refer to arrays over itself."""


def based(n=1000):
    return np.zeros(n).view(Base)


VIEWS = {
    "leaf": lambda x: x,
    "view": lambda x: x[::2][1:],
    "map": lambda x: x + 1,
    "reduction": lambda x: rd.sum(x),
    "of two": lambda x: x + rd.asarray(np.ones(1000)),
    "second of two": lambda x: rd.asarray(np.ones(1000)) * 2 + x,
    "twice": lambda x: (x + 1) * (x - 1) + x,
    "gathered": lambda x: x[np.array([1, 2])],
    "joined": lambda x: rd.concat([x, x, rd.asarray(np.ones(3))]),
    "formula": lambda x: rd.formula("a + 1", a=x),
    "formulas": lambda x: rd.formulas("b = 2; c = a + 1", a=x)["c"],
    "text": lambda x: rd.map(x, "x + 1"),
    "where": lambda x: rd.where(x > 0, 1.0, x),
    "by label": lambda x: rd.sum(rd.asarray(np.ones(1000)), by=x.__class__ and rd.astype(x, "int64"), groups=1),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_owners_live_as_long_as_handles_and_no_longer(kind):
    base = based()
    alive = weakref.ref(base)
    x = rd.asarray(base)
    y = VIEWS[kind](x)
    del base, x
    gc.collect()
    assert alive() is not None
    y.compute()
    for _ in range(20):
        y = y + 0
    assert alive() is not None
    del y
    assert alive() is None, "no cycle: it ends at once"


@pytest.mark.parametrize("made", [lambda x: x.persist(), lambda x: rd.asarray(x.compute()), lambda x: copy.deepcopy(x), lambda x: rd.asarray([1.0])])
def test_owners_end_where_elements_were_taken(made):
    base = based()
    alive = weakref.ref(base)
    y = made(rd.asarray(base) + 1)
    del base
    assert alive() is None
    y.compute()


def test_owners_by_dlpack():
    base = based()
    alive = weakref.ref(base)
    y = rd.from_dlpack(base) + 1
    del base
    assert alive() is not None
    y.compute()
    del y
    assert alive() is None


def test_results_outlive_what_they_were_made_of():
    x = rd.asarray(np.arange(5.0))
    capsule, tensor, kept = (x + 1).__dlpack__(), np.from_dlpack(x + 1), (x + 1).persist()
    del x
    gc.collect()
    assert tensor.sum() == 15 and float(rd.sum(kept)) == 15
    del capsule


def test_buffers_stay_exported():
    row = bytearray(16)
    x = rd.asarray(row)
    with pytest.raises(BufferError):
        row.append(1)
    del x
    row.append(1)


# ---- Cycles -----------------------------------------------------------------------------------------
def test_cycles_through_subclasses_of_numpy():
    alive = []
    for k in range(10_000):
        base = based(8)
        base.over = [rd.asarray(base) + k]
        base.over.append(base.over[0] * 2)
        if k % 1000 == 0:
            alive.append(weakref.ref(base))
    del base
    gc.collect()
    assert not any(ref() is not None for ref in alive)
    assert rd._core._nodes()[1] < 100


def test_cycles_through_functions():
    import ctypes

    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    x, alive = rd.asarray(np.arange(4.0)), []
    for k in range(2000):
        cell = []
        f = rd.block(kind(lambda *of, cell=cell: None))
        cell.append(f(x))
        if k % 200 == 0:
            alive.append(weakref.ref(f))
    del f, cell
    gc.collect()
    assert not any(ref() is not None for ref in alive)


def test_finalizers_may_use_arrays_of_their_cycle():
    seen = []

    class Node:
        def __init__(self):
            self.base = based(4)
            self.base.node = self
            self.x = rd.asarray(self.base) + 1

        def __del__(self):
            for k in range(20):
                self.x = self.x + 1
            seen.append(float(rd.sum(self.x)))

    for _ in range(200):
        Node()
    gc.collect()
    assert seen == [84.0] * 200


def test_collecting_within_calls():
    """Finalizers that build run when a call allocates: its own nodes must stay."""
    old = gc.get_threshold()
    x = rd.asarray(np.arange(4.0))

    class Node:
        def __init__(self):
            self.me = self

        def __del__(self):
            for k in range(3000):
                x + k

    gc.set_threshold(1, 1, 1)
    try:
        for k in range(100):
            Node()
            y = rd.sum((x + k) * 2 - x)
            assert float(y) == 6 + 8 * k
    finally:
        gc.set_threshold(*old)


def test_weak_references():
    x = rd.asarray(np.zeros(3))
    ended = []
    ref = weakref.ref(x, lambda r: ended.append(1))
    assert ref() is x
    del x
    assert ref() is None and ended == [1]


# ---- Copies -----------------------------------------------------------------------------------------
def test_copies():
    base = np.arange(3.0)
    x = rd.asarray(base) + 1
    z = copy.copy(x)
    z[0] = 5  # another handle: x stays
    assert z.tolist() == [5, 2, 3] and x.tolist() == [1, 2, 3]
    y = copy.deepcopy({"a": [x]})["a"][0]
    base[:] = 9
    assert x.compute()[0] == 10 and y.compute()[0] == 1
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match=r"x.compute\(\)"):
            pickle.dumps(x, protocol)


# ---- The end of the process -------------------------------------------------------------------------
ENDS = {
    "arrays alive": "keep = [rd.asarray(np.zeros(1000)) + k for k in range(100)]",
    "a daemon evaluates": """
import threading, time
x = rd.asarray(np.random.default_rng(0).random(3_000_000))
def work():
    while True:
        float(rd.sum(rd.gamma(x) + rd.gamma(x + 1)))
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""",
    "a daemon tells": """
import threading, time
x = rd.asarray(np.random.default_rng(0).random(5_000_000))
def work():
    with rd.options(progress=lambda *now: None):
        while True:
            float(rd.sum(rd.gamma(x) + rd.gamma(x + 1)))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
""",
    "a cycle": "a = np.zeros(9).view(type('B', (np.ndarray,), {})); a.x = rd.asarray(a) + 1; rd.me = a",
    "a finalizer": """
class Late:
    def __init__(self): self.x = rd.asarray(np.zeros(5))
    def __del__(self):
        try: (self.x + 1).compute()
        except Exception: pass
rd.late = Late(); import sys; sys.late = Late()
""",
    "atexit": "import atexit; x = rd.asarray(np.ones(5)); atexit.register(lambda: float(rd.sum(x)))",
    "a thread that waits": """
import threading
threading.Thread(target=lambda: [float(rd.sum(rd.asarray(np.ones(100000)))) for _ in range(200)]).start()
""",
}


@pytest.mark.parametrize("kind", ENDS)
def test_the_process_ends_cleanly(kind):
    ran = subprocess.run([sys.executable, "-X", "faulthandler", "-c", f"import numpy as np, rdim as rd\n{ENDS[kind]}\nprint('end')"],
                         capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0 and ran.stdout == "end\n" and ran.stderr == "", (ran.returncode, ran.stderr)


# ---- Forks ------------------------------------------------------------------------------------------
def child_of(work):
    """What a forked child says; a child that hangs is ended."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    timer = threading.Timer(30, os.kill, (child, 9))
    timer.start()
    with os.fdopen(read, "rb") as file:
        said = file.read().decode()
    status = os.waitpid(child, 0)[1]
    timer.cancel()
    assert status == 0, f"the child ended by {status}"
    return said


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("busy", [False, True])
def test_forks(busy):
    x = rd.asarray(np.random.default_rng(0).random(2_000_000))
    y = rd.sum(rd.sin(x))
    wanted, stop = float(y), threading.Event()

    def others():
        while not stop.is_set():
            float(rd.sum(rd.gamma(x)))

    thread = threading.Thread(target=others if busy else lambda: None)
    thread.start()
    try:
        for _ in range(5):
            assert child_of(lambda: (float(y) == wanted, float(rd.sum(x * 2)) > 0, rd.compute(x + 1).shape)) == "(True, True, (2000000,))"
            assert float(y) == wanted
    finally:
        stop.set()
        thread.join()
