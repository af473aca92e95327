"""kinds.py - rdim's element types as NumPy computes them: how they lie in memory, how they promote, how they round.

Floats are computed in long double, whose 64 bits of mantissa hold every element of f64, i64 and u64, and are rounded to
their type by `once` (a cast) or `rounded` (an operation, which halves do in f32 first).  bf16, which NumPy lacks, lies
in memory as uint16.
"""
from dataclasses import dataclass

import numpy as np

LONG = np.longdouble


@dataclass(frozen=True, eq=False)
class Kind:
    name: str
    code: int             # rd_dtype
    memory: np.dtype      # how an element lies in memory
    bits: int = 0         # of the mantissa, the leading one among them; 0: not a float
    least: int = 0        # the exponent of the smallest number above 0
    largest: float = 0

    def __repr__(self):
        return self.name

    @property
    def letter(self):
        """NumPy's letter of the kind: b, i, u, f or c."""
        return "f" if self.bits else self.memory.kind


def made(name, code, memory, bits=0, least=0, largest=0.0):
    return Kind(name, code, np.dtype(memory), bits, least, largest)


BOOL = made("bool", 1, "bool")
I8, I16, I32, I64 = (made(f"i{8 << k}", 2 + k, f"int{8 << k}") for k in range(4))
U8, U16, U32, U64 = (made(f"u{8 << k}", 6 + k, f"uint{8 << k}") for k in range(4))
F16 = made("f16", 10, "float16", 11, -24, 65504)
BF16 = made("bf16", 11, "uint16", 8, -133, float(np.uint32(0x7f7f0000).view(np.float32)))
F32 = made("f32", 12, "float32", 24, -149, float(np.finfo("f4").max))
F64 = made("f64", 13, "float64", 53, -1074, float(np.finfo("f8").max))
C64, C128 = made("c64", 14, "complex64"), made("c128", 15, "complex128")
INTS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (F16, BF16, F32, F64)
ALL = (BOOL, *INTS, *FLOATS)
OF_NUMPY = {kind.memory: kind for kind in (BOOL, *INTS, F16, F32, F64, C64, C128)}
OF_CODE = {kind.code: kind for kind in (*ALL, C64, C128)}


def promoted(a, b):
    """The type in which two operands meet."""
    if a is b:
        return a
    if BF16 not in (a, b):
        return OF_NUMPY[np.result_type(a.memory, b.memory)]
    other = b if a is BF16 else a
    if other.letter in "biu":
        return {1: BF16, 2: F32}.get(other.memory.itemsize, F64)
    return F32 if other is F16 else other


def of_function(kind):
    """The type of a float function."""
    return kind if kind.bits else F64


def of_sum(kind):
    return kind if kind.letter in "fc" else U64 if kind.letter == "u" else I64


def work(kind):
    """The type in which an operation of this type is computed."""
    return F32 if kind in (F16, BF16) else kind


# ---- Rounding -------------------------------------------------------------------------------------------------------
def upper_half(x):
    """The nearest bf16 of f32 numbers, ties to even, as f32."""
    bits = x.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000).astype(np.uint32)
    return np.where(np.isnan(x), x, bits.view(np.float32))


def to_odd(x):
    """f32 numbers of which those that are not exact have their last bit set, so that they can be rounded again."""
    y = np.atleast_1d(x).astype(np.float32)
    apart = y.astype(LONG) != np.atleast_1d(x)
    y = np.where(apart & (np.abs(y) > np.abs(np.atleast_1d(x))), np.nextafter(y, np.float32(0)), y)
    return np.where(apart & np.isfinite(y), (y.view(np.uint32) | 1).view(np.float32), y).reshape(np.shape(x))


def once(x, kind):
    """x, in long double, as the nearest numbers of a float type."""
    if kind is BF16:
        return upper_half(np.ascontiguousarray(to_odd(x)).reshape(np.shape(x))).astype(LONG)
    if kind is F16:  # NumPy rounds long double to f32 first
        return x.astype(np.float64).astype(np.float16).astype(LONG)
    return x.astype(kind.memory).astype(LONG)


def rounded(x, kind):
    """What an operation of this type makes of the exact result x."""
    if kind is F16:
        return x.astype(np.float32).astype(np.float16).astype(LONG)
    if kind is BF16:
        return upper_half(np.asarray(x.astype(np.float32))).astype(LONG)
    return x.astype(kind.memory).astype(LONG)


def unit(x, kind):
    """The distance of neighbours of this type at x."""
    exponent = np.frexp(np.where(np.isfinite(x), x, kind.largest))[1]
    return np.ldexp(LONG(1), np.maximum(exponent - kind.bits, kind.least))


# ---- Memory ---------------------------------------------------------------------------------------------------------
def loaded(memory, kind):
    """Elements of memory: floats in long double, others as they are."""
    if kind is BF16:
        return (memory.astype(np.uint32) << 16).view(np.float32).astype(LONG)
    return memory.astype(LONG) if kind.bits else memory


def stored(x, kind):
    """Numbers as elements in memory."""
    if kind is BF16:
        return (np.ascontiguousarray(once(x, BF16).astype(np.float32)).view(np.uint32) >> 16).astype(np.uint16)
    return x.astype(kind.memory)
