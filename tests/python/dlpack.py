"""dlpack.py LIBRARY numpy|torch: arrays of that module in rdim, and rdim's in it, without a copy.

take() and Tensor show what a program needs that has rdim and talks to Python: a capsule in, a capsule out.
Exits with 77, and says why, where the module is missing.
"""
import ctypes
import gc
import sys
import weakref
from ctypes import byref, c_char_p, c_int32, c_int64, c_uint64, c_void_p, py_object

BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128 = range(1, 16)
READ_ONLY = 1


# ---- rdim, as far as it is used here ------------------------------------------------------------------------------
class Ints(ctypes.Structure):
    _fields_ = [("n", c_int32), ("reserved", c_int32), ("at", c_int64 * 32)]

    def __iter__(self):
        return iter(self.at[: self.n])


class Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int32), ("order", c_int32), ("shape", Ints), ("strides", Ints),
                ("origin", Ints), ("owner", c_void_p), ("device", c_int32), ("flags", c_int32)]


class Mark(ctypes.Structure):
    _fields_ = [("at", c_uint64), ("serial", c_uint64)]


RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
ARRAY = ctypes.POINTER(Array)
SIGNATURES = {
    "rd_ctx_new": (c_void_p, c_void_p),
    "rd_ctx_free": (None, c_void_p),
    "rd_ctx_mark": (Mark, c_void_p),
    "rd_ctx_release": (c_int32, c_void_p, Mark),
    "rd_error_text": (c_char_p, c_void_p),
    "rd_error_clear": (None, c_void_p),
    "rd_adopt": (c_void_p, c_void_p, ARRAY),
    "rd_leaf": (c_void_p, c_void_p, ARRAY),
    "rd_add": (c_void_p, c_void_p, c_void_p),
    "rd_eval": (c_int32, c_void_p, c_void_p, ARRAY),
    "rd_array_free": (None, ARRAY),
    "rd_array_own": (c_int32, c_void_p, ARRAY, RELEASE, c_void_p),
    "rd_from_dlpack": (c_int32, c_void_p, c_void_p, ARRAY),
    "rd_from_dlpack_versioned": (c_int32, c_void_p, c_void_p, ARRAY),
    "rd_to_dlpack": (c_void_p, c_void_p, ARRAY),
    "rd_to_dlpack_versioned": (c_void_p, c_void_p, ARRAY),
}


def load(path):
    library = ctypes.CDLL(path)
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


# ---- Capsules -----------------------------------------------------------------------------------------------------
# A capsule keeps the address of its name: these live as long as the program.
OLD, NEW, USED_OLD, USED_NEW = b"dltensor", b"dltensor_versioned", b"used_dltensor", b"used_dltensor_versioned"
DELETER_AT = {OLD: 56, NEW: 16}  # bytes from the tensor's start

python = ctypes.pythonapi
python.PyCapsule_IsValid.argtypes = [c_void_p, c_char_p]
python.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]
python.PyCapsule_GetPointer.restype = c_void_p
python.PyCapsule_SetName.argtypes = [c_void_p, c_char_p]
python.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
python.PyCapsule_New.restype = py_object


def take(ctx, capsule):
    """The tensor of a capsule as an array of rdim's, which owns it."""
    array, at = Array(), id(capsule)
    if python.PyCapsule_IsValid(at, NEW):
        tensor = python.PyCapsule_GetPointer(at, NEW)
        python.PyCapsule_SetName(at, USED_NEW)
        check(ctx, rdim.rd_from_dlpack_versioned(ctx, tensor, byref(array)) == 0)
    else:
        tensor = python.PyCapsule_GetPointer(at, OLD)
        python.PyCapsule_SetName(at, USED_OLD)
        check(ctx, rdim.rd_from_dlpack(ctx, tensor, byref(array)) == 0)
    return array


@ctypes.PYFUNCTYPE(None, c_void_p)
def end_unused(capsule):
    """Nobody has renamed it, so nobody will call the deleter."""
    for name, at in DELETER_AT.items():
        if python.PyCapsule_IsValid(capsule, name):
            tensor = python.PyCapsule_GetPointer(capsule, name)
            RELEASE.from_address(tensor + at)(tensor)


class Tensor:
    """What from_dlpack() of any module takes: an array of rdim's, given away by __dlpack__()."""

    def __init__(self, ctx, array):
        self.ctx, self.array = ctx, array

    def __dlpack_device__(self):
        return (1, 0) if self.array.device == 0 else (2, self.array.device - 1)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        new = max_version is not None and max_version[0] >= 1
        call = rdim.rd_to_dlpack_versioned if new else rdim.rd_to_dlpack
        tensor = call(self.ctx, byref(self.array))
        check(self.ctx, tensor)
        return python.PyCapsule_New(tensor, NEW if new else OLD, ctypes.cast(end_unused, c_void_p))


def check(ctx, good):
    assert good, rdim.rd_error_text(ctx).decode()


# ---- What the tests ask of a module -------------------------------------------------------------------------------
class Numpy:
    types = {"bool": BOOL, "int8": I8, "int16": I16, "int32": I32, "int64": I64, "uint8": U8, "uint16": U16,
             "uint32": U32, "uint64": U64, "float16": F16, "float32": F32, "float64": F64, "complex64": C64,
             "complex128": C128}

    def __init__(self):
        import numpy
        self.module = self.numpy = numpy
        self.find_versions()

    def find_versions(self):
        """What capsules can be asked for: unversioned ones, and versioned ones where the module has them."""
        self.versions = [None]
        try:
            self.make("int8").__dlpack__(max_version=(1, 0))
            self.versions.append((1, 0))
        except TypeError:
            print(f"{self.module.__name__} {self.module.__version__} gives no versioned capsules")
            self.types = {name: type for name, type in self.types.items() if type != BOOL}  # nor bools

    def capsule(self, x, version):
        return x.__dlpack__(max_version=version) if version else x.__dlpack__()

    def of(self, array):
        """An array of the module over the memory of NumPy's, which it keeps alive."""
        return array

    def make(self, name):
        return self.numpy.arange(24).reshape(2, 3, 4).astype(name)

    def address(self, x):
        return x.ctypes.data

    def layout(self, x):
        return list(x.shape), [s // x.itemsize for s in x.strides]


class Torch(Numpy):
    types = {"uint8": U8, "int8": I8, "int16": I16, "int32": I32, "int64": I64, "float16": F16, "bfloat16": BF16,
             "float32": F32, "float64": F64, "complex64": C64, "complex128": C128}

    def __init__(self):
        import numpy
        import torch
        self.module, self.numpy = torch, numpy
        self.find_versions()

    def of(self, array):
        return self.module.from_numpy(array)

    def make(self, name):
        return self.module.arange(24).reshape(2, 3, 4).to(getattr(self.module, name))

    def address(self, x):
        return x.data_ptr()

    def layout(self, x):
        return list(x.shape), list(x.stride())


# ---- Tests --------------------------------------------------------------------------------------------------------
def in_and_out(peer, x, type=None):
    """x in rdim at its own address; x + x as an array of the module at rdim's."""
    shape, strides = peer.layout(x)
    for version in peer.versions:
        ctx = rdim.rd_ctx_new(None)
        array, twice = take(ctx, peer.capsule(x, version)), Array()
        assert type is None or array.type == type, (array.type, type)
        assert list(array.shape) == shape, (list(array.shape), shape)
        if 0 not in shape:
            assert array.data == peer.address(x)
            assert all(a == b for n, a, b in zip(shape, array.strides, strides) if n > 1)
        leaf = rdim.rd_adopt(ctx, byref(array))
        check(ctx, leaf)
        wants_sum = array.type != BOOL
        y = rdim.rd_add(leaf, leaf) if wants_sum else leaf
        check(ctx, rdim.rd_eval(ctx, y, byref(twice)) == 0)
        data = twice.data
        out = peer.module.from_dlpack(Tensor(ctx, twice))
        rdim.rd_ctx_free(ctx)
        assert 0 in shape or peer.address(out) == data
        assert out.dtype == x.dtype and peer.layout(out)[0] == shape
        assert bool((out == (x + x if wants_sum else x)).all())


def types(peer):
    for name, type in peer.types.items():
        in_and_out(peer, peer.make(name), type)


def layouts(peer):
    x = peer.make("float32")
    rows = [x[0], x[:, 1:, ::2], x.swapaxes(0, 2), x[1, 2, 3, ...], x[:, :0], x[:1], x[:, :1, 1:]]
    if peer.module is peer.numpy:
        rows.append(x[::-1, :, ::-2])  # PyTorch has no negative strides
    for row in rows:
        in_and_out(peer, row)


def lifetimes(peer):
    """A leaf keeps the memory until its mark is released."""
    ctx = rdim.rd_ctx_new(None)
    for version in peer.versions:
        base = peer.numpy.arange(5.0)
        alive = weakref.ref(base)
        mark = rdim.rd_ctx_mark(ctx)
        array = take(ctx, peer.capsule(peer.of(base), version))
        check(ctx, rdim.rd_adopt(ctx, byref(array)))
        del base
        gc.collect()
        assert alive() is not None
        rdim.rd_ctx_release(ctx, mark)
        gc.collect()
        assert alive() is None
    rdim.rd_ctx_free(ctx)


def outputs(peer):
    """A result into the module's memory."""
    ctx = rdim.rd_ctx_new(None)
    x, y = peer.make("float64"), peer.make("float64")
    source, target = (take(ctx, peer.capsule(a, peer.versions[-1])) for a in (x, y))
    leaf = rdim.rd_adopt(ctx, byref(source))
    check(ctx, rdim.rd_eval(ctx, rdim.rd_add(leaf, leaf), byref(target)) == 0)
    rdim.rd_array_free(byref(target))
    rdim.rd_ctx_free(ctx)
    assert bool((y == x + x).all())


def owners(peer):
    """The consumer's end is the owner's, once: of a tensor that is used, and of a capsule that nobody takes."""
    ctx, ends = rdim.rd_ctx_new(None), []
    ended = RELEASE(ends.append)
    memory = (ctypes.c_float * 3)(1, 2, 3)
    uses = (peer.module.from_dlpack, Tensor.__dlpack__, lambda tensor: tensor.__dlpack__(max_version=(1, 0)))
    for kind, use in enumerate(uses):
        array = Array(data=ctypes.addressof(memory), type=F32, shape=Ints(n=1, at=(3,)))
        check(ctx, rdim.rd_array_own(ctx, byref(array), ended, None) == 0)
        used = use(Tensor(ctx, array))
        assert len(ends) == kind
        if kind == 0:
            assert peer.address(used) == ctypes.addressof(memory) and float(used.sum()) == 6
        del used
        gc.collect()
        assert len(ends) == kind + 1
    rdim.rd_ctx_free(ctx)


def read_only(peer):
    """Versioned capsules of NumPy's say it, both ways."""
    x = peer.numpy.arange(4.0)
    x.flags.writeable = False
    ctx = rdim.rd_ctx_new(None)
    array = take(ctx, peer.capsule(x, (1, 0)))
    assert array.flags == READ_ONLY
    assert rdim.rd_eval(ctx, rdim.rd_leaf(ctx, byref(array)), byref(array)) != 0
    assert b"read-only" in rdim.rd_error_text(ctx)
    rdim.rd_error_clear(ctx)
    assert not peer.module.from_dlpack(Tensor(ctx, array)).flags.writeable
    rdim.rd_ctx_free(ctx)


def main(path, name):
    global rdim
    try:
        peer = {"numpy": Numpy, "torch": Torch}[name]()
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    rdim = load(path)
    tests = [types, layouts, lifetimes, outputs, owners]
    if name == "numpy" and peer.versions[1:]:
        tests.append(read_only)
    for test in tests:
        test(peer)
        print(f"{name} {peer.module.__version__}: {test.__name__}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
