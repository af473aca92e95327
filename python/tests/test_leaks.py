"""No call leaves memory behind: python/tests/leaks.py searches, and by hand it searches for longer."""

import ctypes
import pathlib
import subprocess
import sys

import pytest

import rdim as rd

np = pytest.importorskip("numpy")
import leaks  # noqa: E402


def test_the_search_finds_leaks():
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p

    def bytes_of_malloc(x):
        libc.malloc(100)

    def reference(x):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object([x]))

    def reference_to_none(x):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))

    def kept(x, kept=[]):
        kept.append(rd.asarray(x) + 1)

    for function in (bytes_of_malloc, reference, reference_to_none, kept):
        assert leaks.leaks(function, (np.ones(3),), {}), function
    assert not leaks.leaks(lambda x: rd.asarray(x) + 1, (np.ones(3),), {})


@pytest.mark.parametrize("part", ["rdim._core", "rdim.Array"])
def test_a_call_of_each_function(part):
    script = pathlib.Path(__file__).with_name("leaks.py")
    ran = subprocess.run([sys.executable, script, "1", part], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0 and ran.stdout.endswith(" 0 leak\n"), (ran.stdout, ran.stderr)


# ---- What the search leaves out: addresses of code, and what it may not draw ----------------------------------------
# NumPy 2.2 loses a reference to float64 where numpy.zeros(), ones() or empty() is not told the type.
FIVE, THREE = np.zeros(5), np.ones(3)
KIND = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
SQUARE = KIND(lambda x: x * x)


def fails_at_once(x):
    rd.map(x, SQUARE, SQUARE, no=1)


def ends_amid_progress(x):
    def tell(done, left):
        raise ArithmeticError

    with rd.options(progress=tell):
        (rd.asarray(x) + 1).compute()


def fails_in_a_callback(x):
    block = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    rd.block(block(lambda *of: None))(x).compute()


def fails_at_the_elements(x):
    rd.take(x, rd.asarray([99])).compute()


def several_of_which_one_fails(x):
    rd.compute(rd.asarray(x) + 1, rd.take(x, rd.asarray([99])), rd.asarray(x) * 2)


def into_what_does_not_fit(x):
    rd.sum(x, out=FIVE)


def of_a_function(x):
    rd.map(x, SQUARE).compute()


def tensors(x):
    np.from_dlpack(rd.asarray(x) + 1)
    rd.from_dlpack(x).__dlpack__(max_version=(1, 0))
    rd.asarray(x).__dlpack__()


def statements(x):
    rd.formulas("b = a * 2; c = b + 1", a=x)["c"].compute()


def statements_that_fail(x):
    rd.formulas("b = a * 2; c = q + 1", a=x)


def assigned(x):
    y = rd.asarray(x) + 1
    y[0] = 5
    y[1:] = y[:-1]
    y["no"] = 1


def finalised(x):
    class Cycle(np.ndarray):
        pass

    y = THREE.copy().view(Cycle)
    y.over = rd.asarray(y) + 1
    y.over[99]


ALL = [fails_at_once, ends_amid_progress, fails_in_a_callback, fails_at_the_elements, several_of_which_one_fails,
       into_what_does_not_fit, of_a_function, tensors, statements, statements_that_fail, assigned, finalised]


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
def test_calls_that_fail_on_their_way(function):
    assert not leaks.leaks(function, (np.arange(4.0),), {})


def sparse_ones(sp):
    a = sp.csr_array(np.eye(4, 3))
    bad = sp.csr_array((np.ones(2), np.array([0, 9]), np.array([0, 1, 2, 2, 2])), shape=(4, 12))
    bad.indices = np.array([0, 99], bad.indices.dtype)
    return {
        "product": lambda x: (rd.asarray(a) @ THREE).compute(),
        "back": lambda x: (rd.asarray(a) + rd.asarray(a)).to_scipy(),
        "coo": lambda x: rd.asarray(a.tocoo()).to_scipy(),
        "wrong index": lambda x: rd.sum(rd.asarray(bad)).compute(),
        "wrong shapes": lambda x: rd.asarray(a) @ FIVE,
        "statements": lambda x: rd.formulas("b = a * 2; c = b * 3", a=rd.asarray(a))["c"],
        "fails": lambda x: rd.formulas("b = a * 2; c = q * 3", a=rd.asarray(a)),
    }


@pytest.mark.parametrize("kind", ["product", "back", "coo", "wrong index", "wrong shapes", "statements", "fails"])
def test_sparse_ones(kind):
    assert not leaks.leaks(sparse_ones(pytest.importorskip("scipy.sparse"))[kind], (None,), {})
