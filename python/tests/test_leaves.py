"""What becomes an Array, with which type and elements, and whether its memory is shared."""

import array
import ctypes
import subprocess
import sys

import pytest

import rdim as rd

np = pytest.importorskip("numpy")

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def same(x, want):
    want = np.asarray(want)
    got = x.compute()
    assert got.dtype == want.dtype.newbyteorder("=") and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def address(x):
    return x.__array_interface__["data"][0]


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "step", "swapped", "unaligned", "field", "read-only", "0-d", "empty"])
def test_numpy(code, layout):
    a = (np.arange(24) % 2 if code == "?" else np.arange(24)).astype(code).reshape(4, 6)
    if layout == "swapped":
        a = a.astype(a.dtype.newbyteorder(">"))
    elif layout == "unaligned":
        a = np.frombuffer(b"x" + a.tobytes(), code, offset=1).reshape(4, 6)
    elif layout == "field":
        record = np.zeros((4, 6), np.dtype([("before", "i1"), ("x", code)]))
        record["x"] = a
        a = record["x"]
    else:
        a = {"C": a, "F": np.asfortranarray(a), "reversed": a[::-1, ::-2], "step": a[::2, 1::3], "0-d": a[1, 1, ...],
             "empty": a[:0], "read-only": a}[layout]
    if layout == "read-only":
        a.flags.writeable = False
    same(rd.asarray(a), a)
    same(rd.asarray(a)[...] if a.ndim == 0 else rd.asarray(a)[::-1], a if a.ndim == 0 else a[::-1])


def test_memory_is_shared_where_it_can_be():
    a = np.arange(6.0)
    x, copied = rd.asarray(a), rd.asarray(a, copy=True)
    a[0] = 9
    assert x.compute()[0] == 9 and copied.compute()[0] == 0
    assert rd.asarray(x) is x
    assert rd.asarray(a, copy=False).compute()[0] == 9
    for unlike in (a.astype(">f8"), a.astype("f4")):
        with pytest.raises(ValueError, match="copy is False"):
            rd.asarray(unlike, dtype="f8", copy=False)


def test_types_that_are_none():
    for given, sentence in [(np.array(["2020-01-01"], "M8[D]"), "int64"), (np.array([1], "m8[s]"), "int64"),
                            (np.array([object()]), "object"), (np.array(["a"]), "U1"), (np.array([b"a"]), "S1"),
                            (np.zeros(2, "i4,f4"), "field"), (np.zeros(2, np.longdouble), "longdouble|float128"),
                            ("abc", "str"), (b"abc", "frombuffer"), ([1, "a"], "U"), (None, "NoneType"), ({}, "dict"),
                            (np.ma.array([1, 2], mask=[0, 1]), "masked")]:
        with pytest.raises(TypeError, match=sentence):
            rd.asarray(given)
        if not isinstance(given, list):
            with pytest.raises(TypeError):
                rd.sqrt(given)


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_buffers(code):
    row = array.array(code, [0, 1, 2, 100])
    x = rd.asarray(row)
    same(x, np.asarray(row))
    row[0] = 5
    assert x.compute()[0] == 5
    same(rd.asarray(memoryview(row)[::-2]), np.asarray(row)[::-2])
    same(rd.asarray(memoryview(bytes(row)).cast(code, (2, 2))), np.asarray(row).reshape(2, 2))
    same(rd.frombuffer(bytes(row), row.typecode if code not in "lLqQ" else f"{'i' if code in 'lq' else 'u'}{row.itemsize}",
                       2, row.itemsize), np.asarray(row)[1:3])


def test_ctypes_and_bytearray():
    same(rd.asarray((ctypes.c_double * 3)(1, 2, 3)), [1.0, 2.0, 3.0])
    same(rd.asarray(((ctypes.c_int * 2) * 3)()), np.zeros((3, 2), "i4"))
    same(rd.asarray(bytearray(b"ab")), np.array([97, 98], "u1"))


def test_frombuffer():
    a = np.arange(6) + 1j
    same(rd.frombuffer(a.tobytes(), complex), a)
    same(rd.frombuffer(a.astype("c8").tobytes(), "c8", 2, 8), a.astype("c8")[1:3])
    for count, offset in [(-1, 1), (3, 88), (-1, -1), (1, 97)]:
        with pytest.raises(ValueError, match="96 bytes"):
            rd.frombuffer(a.tobytes(), complex, count, offset)


@pytest.mark.parametrize("x", [True, 3, -1, 2**63, 2.5, 1 + 2j, [], [[]], [1, 2], [1, 2.5], [True, False], [1j, 2], [[1, 2], [3, 4]],
                               (1, (2)), [2**63, 1]])
def test_numbers_and_lists(x):
    same(rd.asarray(x), np.asarray(x))


def test_numbers_with_types():
    same(rd.asarray(3, dtype="u1"), np.uint8(3))
    same(rd.asarray(3.7, dtype=int), 3)
    same(rd.asarray([1, 2], dtype=np.float32), np.float32([1, 2]))
    for value, kind in [(300, "u1"), (-1, "u8"), (2**64, None), (2**63, "i8")]:
        with pytest.raises(OverflowError):
            rd.asarray(value, dtype=kind)
    with pytest.raises(TypeError):
        rd.asarray(1j, dtype=float)
    with pytest.raises(ValueError):
        rd.asarray([[1], [1, 2]])


def test_lists_of_arrays_stay_lazy():
    a = np.arange(3.0)
    x = rd.asarray(a)
    y = rd.asarray([x, x + 1, [7, 8, 9]])
    a[0] = 100
    np.testing.assert_array_equal(y.compute(), [[100, 1, 2], [101, 2, 3], [7, 8, 9]])


@pytest.mark.parametrize("code", [c for c in TYPES if c != "?"])
def test_numbers_of_numpy_are_strong_and_pythons_weak(code):
    x = rd.asarray(np.ones(2, "f4"))
    for other in (np.dtype(code).type(3), np.array(3, code)):
        assert (x + other).dtype == (np.ones(2, "f4") + np.array([3], code)).dtype, code
    assert (x + 3).dtype == (x + 3.5).dtype == np.float32


def test_objects_that_make_arrays():
    class Made:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    class Interface:
        __array_interface__ = np.arange(3.0).__array_interface__

    keep = np.arange(3.0)
    Interface.__array_interface__ = keep.__array_interface__
    for given in (Made(), Interface(), np.matrix([[1.0, 2]]), np.ma.array([1.0, 2])):
        same(rd.asarray(given), np.asarray(given))


class Tensor:
    """A tensor that is not of NumPy's class, from before DLPack 1.0 or after."""

    def __init__(self, a, old):
        self.a, self.old = a, old

    def __dlpack__(self, stream=None, **keywords):
        if self.old and keywords:
            raise TypeError("unexpected keyword")
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("code", TYPES)
def test_dlpack(code, old):
    a = np.zeros(5, code)
    x = rd.asarray(Tensor(a, old))
    a[1] = 1
    same(x, a)
    same(rd.from_dlpack(a), a)
    back = np.from_dlpack(x)
    assert back.dtype == a.dtype and (back == a).all()
    x.__dlpack__()
    x.__dlpack__(max_version=(1, 0))
    with pytest.raises(TypeError):
        rd.from_dlpack(object())


def test_results_into_buffers():
    x = rd.asarray(np.arange(6.0).reshape(2, 3)) * 2
    out = np.zeros((2, 3))
    assert x.to(out=out) is out and out[1, 2] == 10
    wide = np.zeros((3, 4), order="F")
    x.to(out=wide.T[1:3, ::1])
    np.testing.assert_array_equal(wide.T[1:3], out)
    flat = bytearray(48)
    x.to(memoryview(flat).cast("d", (2, 3)))
    assert flat == out.tobytes()
    out.flags.writeable = False
    for bad, error in [(out, (ValueError, BufferError)), (np.zeros((2, 2)), ValueError), (np.zeros((2, 3), "f4"), TypeError),
                       (np.zeros((2, 3), ">f8"), TypeError), (b"x" * 48, BufferError), (None, TypeError)]:
        with pytest.raises(error):
            x.to(bad)


def test_compute_many():
    x = rd.asarray(np.arange(6.0))
    total, rest = rd.compute(rd.sum(x), {"mean": rd.mean(x), "list": [x * 2, (x[0], "text")], "n": 3})
    assert total == 15 and rest["mean"] == 2.5 and rest["list"][1][0] == 0 and rest["list"][1][1] == "text" and rest["n"] == 3
    np.testing.assert_array_equal(rest["list"][0], np.arange(6) * 2)
    assert rd.compute([]) == [] and rd.compute(x[1]) == 1 and rd.compute(3, 4) == (3, 4)
    kept = (x * 2).persist()
    np.testing.assert_array_equal(kept.compute(), np.arange(6) * 2)


WITHOUT_NUMPY = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("numpy", "ml_dtypes"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import array, rdim as rd
x = rd.asarray(array.array("d", [1, 2, 3, 4]))
y = x * 2 + rd.asarray([1, 2, 3, 4])
assert y.compute().tolist() == [3, 6, 9, 12] and str(y.dtype) == "float64", y.compute().tolist()
assert rd.sum(y).compute()[()] == 30 and float(rd.sum(y)) == 30
assert rd.asarray([[1, 2], [3, 4]])[:, [1, 0]].compute().tolist() == [[2, 1], [4, 3]]
assert x[x > 2].compute().tolist() == [3, 4] and x[[True, False, True, False]].compute().tolist() == [1, 3]
assert rd.asarray([1, 2.5]).dtype == rd.float64 if hasattr(rd, "float64") else True
a, b = rd.compute(x, [rd.sqrt(x)])
assert b[0][3] == 2
z = rd.asarray([1 + 2j, 3])
assert complex(z[0]) == 1 + 2j and z.dtype == "complex128"
swapped = memoryview(__import__("ctypes").c_int32.__ctype_be__(7))
assert rd.asarray(swapped).compute()[()] == 7
for bad in (["a"], None, "a", [[1], [1, 2]]):
    try:
        rd.asarray(bad)
        raise SystemExit(f"{bad} was taken")
    except (TypeError, ValueError):
        pass
out = array.array("d", bytes(32))
y.to(out)
assert out.tolist() == [3, 6, 9, 12]
for kind in ("bool", "int8", "uint64", "float32", "float64"):
    nothing = rd.astype(x[:0], kind)[None].compute()
    assert nothing.shape == (1, 0), kind
assert repr(x).startswith("rdim.Array") or "Array" in repr(x)
assert "numpy" not in sys.modules
print("right")
"""


def test_without_numpy():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "right\n", ran.stderr
