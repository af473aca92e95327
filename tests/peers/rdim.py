"""rdim for Python, as far as its header says it: every function and struct of rdim.h by its name.

    r = Rdim("librdim.so")
    with r.expressions():                       # what is built inside ends here
        y = r.sum(r.exp(r.leaf(x)), axis=(0, 1))
        print(r.eval(y))                        # a NumPy array

r.name(...) calls rd_name(ctx, ...) or rd_name(...), and raises Refused with the library's sentence where that fails.
"""
import contextlib
import ctypes
import re
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np

HEADER = Path(__file__).parents[2] / "include/rdim.h"  # which includes all of include/rdim
MAX_RANK, OPEN = 32, -(2**63)
TYPES = {np.dtype(name): k + 1 for k, name in enumerate(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 - float32 float64 complex64 complex128".split())
    if name != "-"}
NUMPY = {k: t for t, k in TYPES.items()}
KEEP, EXCEPT = 1, 2


class Refused(Exception):
    """The sentence of an error; status is its name."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


# ---- The header ---------------------------------------------------------------------------------------------------
def bare(text):
    """Without comments, directives and what only C++ reads."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = text.replace("\\\n", " ")
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def whole(path):
    """The header's text with the parts that it includes in their places."""
    return re.sub(r'^#include "(rdim/\w+\.h)".*$', lambda found: (path.parent / found.group(1)).read_text(), path.read_text(),
                  flags=re.M)


class Header:
    """Structs and functions of rdim.h: enough of C's grammar for how that is written."""
    basic = {"void": None, "bool": c_bool, "int": c_int32, "int32_t": c_int32, "uint32_t": c_uint32,
             "int64_t": c_int64, "uint64_t": c_uint64, "double": c_double, "size_t": ctypes.c_size_t}

    def __init__(self, path):
        text = bare(whole(path))
        self.types = dict(self.basic)
        for name in re.findall(r"typedef\s+enum\s+(\w+)", text):
            self.types[name] = c_int32
        for name, body in re.findall(r"typedef\s+struct\s+(\w+)\s*\{(.*?)\}\s*\1\s*;", text, flags=re.S):
            self.struct(name, body)
            for others in re.findall(rf"typedef\s+{name}\s+([\w\s,]+);", text):
                self.types.update((other.strip(), self.types[name]) for other in others.split(","))
        self.functions = {}
        for line in re.findall(r"RD_API\s+(.*?);", text, flags=re.S):
            result = re.match(r"(const\s+)?[\w ]+?(?=\s*\*|\s+rd_\w+\()", line).group()
            for stars, name, arguments in re.findall(r"(\**)\s*(rd_\w+)\(((?:[^()]|\([^()]*\))*)\)", line):
                self.functions[name] = self.type(result, stars), self.arguments(arguments)

    def type(self, words, stars=""):
        word = re.sub(r"\b(const|struct)\b", "", words).strip()
        if stars:
            return c_char_p if word == "char" else c_void_p
        return self.types.get(word, c_void_p)

    def arguments(self, text):
        """Types, and the words of those that are results of other calls."""
        found = []
        for one in re.sub(r"\(\*\w*\)\([^()]*\)", "*", text).split(","):
            match = re.match(r"\s*((?:const\s+|struct\s+)*\w+)\s*(\*?)", one)
            if match and match.group(1) != "void" or match and match.group(2):
                found.append((match.group(1).replace("const ", ""), self.type(*match.groups())))
        return found

    def struct(self, name, body):
        body = re.sub(r"union\s*\{\s*(.*?);.*?\}", r"\1", body, flags=re.S)  # pointers: the first will do
        fields = []
        for line in filter(str.strip, re.sub(r"\*\s*const\b", "*", body).split(";")):
            call = re.search(r"\(\*(\w+)\)", line)
            if call:
                fields.append((call.group(1), c_void_p))
                continue
            words, names = re.match(r"\s*((?:const\s+|struct\s+)*\w+)\s+?(.*)", line, flags=re.S).groups()
            for stars, field, extent in re.findall(r"([*\s]*)(\w+)(?:\[(\w+)\])?", names):
                one = self.type(words, "*" if "*" in stars else "")
                fields.append((field, one * (MAX_RANK if extent == "RD_MAX_RANK" else int(extent)) if extent else one))
        self.types[name] = type(name, (ctypes.Structure,), {"_fields_": fields})


# ---- Calls --------------------------------------------------------------------------------------------------------
class Rdim:
    def __init__(self, library, header=HEADER):
        self.library, self.header = ctypes.CDLL(str(library)), Header(header)
        self.types = self.header.types
        for name, (result, arguments) in self.header.functions.items():
            function = getattr(self.library, name, None)
            if function:
                function.restype, function.argtypes = result, [t for _, t in arguments]
        opts = self.types["rd_ctx_opts"](size=ctypes.sizeof(self.types["rd_ctx_opts"]), threads=1)
        self.ctx = self.library.rd_ctx_new(byref(opts))
        self.reducers = set(re.findall(r"#define rd_(\w+)\(x, \.\.\.\)\s+rd_reduce_name\(", whole(header)))
        self.folds = self.reducers | {"cov", "corr", "first", "last"}  # what takes an axis and keywords
        self.alive = []

    @contextlib.contextmanager
    def expressions(self):
        """Nodes made inside are released at its end, and so is the memory that leaves borrow."""
        mark = self.library.rd_ctx_mark(self.ctx)
        try:
            yield self
        finally:
            self.library.rd_error_clear(self.ctx)
            self.library.rd_ctx_release(self.ctx, mark)
            self.alive.clear()

    def fail(self):
        status = self.library.rd_status_name(self.library.rd_error(self.ctx)).decode()
        sentence = self.library.rd_error_text(self.ctx).decode()
        self.library.rd_error_clear(self.ctx)
        raise Refused(status, sentence)

    def __getattr__(self, name):
        if name in ("cov", "corr"):
            return lambda x, y, axis=None, keepdims=False, **keywords: self.fold_by(
                f"rd_{name}_of", (x, y), axis, keepdims, **keywords)
        if name in ("first", "last"):
            return lambda x, axis=None, keepdims=False, **keywords: self.fold_by(
                f"rd_{name}_of", (x,), axis, keepdims, **keywords)
        if name in self.reducers:
            return lambda x, axis=None, **keywords: self.reduce(name, x, axis, **keywords)
        if "rd_" + name not in self.header.functions:
            raise AttributeError(f"rdim.h has no rd_{name}")
        _, arguments = self.header.functions["rd_" + name]
        function, first = getattr(self.library, "rd_" + name), arguments[:1] and arguments[0][0] == "rd_ctx"

        def call(*given):
            result = function(*([self.ctx] if first else []), *map(self.passed, given))
            return self.fail() if result is None else result
        return call

    def passed(self, value):
        """Text as bytes; all else as ctypes takes it."""
        return value.encode() if isinstance(value, str) else value

    # ---- What a call's arguments are made of
    def ints(self, values):
        values = list(values)
        made = self.types["rd_ints"](n=len(values))
        made.at[: min(len(values), MAX_RANK)] = values[:MAX_RANK]
        return made

    def dims(self, axis, keepdims=False):
        """NumPy's axis: a number, a tuple, None for all."""
        if axis is None:
            return self.types["rd_dims"](flags=EXCEPT | KEEP * keepdims)
        axis = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
        made = self.types["rd_dims"](n=len(axis), flags=KEEP * keepdims)
        made.axis[: len(axis)] = axis
        return made

    def exprs(self, nodes):
        nodes = list(nodes)
        array = (c_void_p * len(nodes))(*nodes)
        self.alive.append(array)
        return self.types["rd_exprs"](at=ctypes.cast(array, c_void_p).value, n=len(nodes))

    def keywords(self, struct, **values):
        made = self.types[struct](size=ctypes.sizeof(self.types[struct]), **values)
        self.alive.append(made)
        return byref(made)

    def array(self, x):
        """NumPy's memory as an rd_array."""
        made = self.types["rd_array"](data=x.ctypes.data, type=TYPES[x.dtype], shape=self.ints(x.shape))
        if x.ndim:
            made.strides = self.ints(s // x.itemsize for s in x.strides)
        self.alive.append((x, made))
        return byref(made)

    def leaf(self, x):
        return self.library.rd_leaf(self.ctx, self.array(x)) or self.fail()

    def cast(self, x, dtype):
        return self.library.rd_cast(x, TYPES[np.dtype(dtype)]) or self.fail()

    # ---- Reductions and scans, with NumPy's names for the axis
    def fold_by(self, call, operands, axis=None, keepdims=False, **keywords):
        if "type" in keywords:
            keywords["type"] = TYPES[np.dtype(keywords["type"])]
        opts = self.keywords("rd_reduce_opts", dims=self.dims(axis, keepdims), **keywords)
        return getattr(self.library, call)(*operands, opts) or self.fail()

    def reduce(self, reducer, x, axis=None, keepdims=False, **keywords):
        return self.fold_by("rd_reduce_name", (x, reducer.encode()), axis, keepdims, **keywords)

    def scan(self, reducer, x, axis, **keywords):
        return self.fold_by("rd_scan_name", (x, reducer.encode()), axis, **keywords)

    # ---- Values
    def shape(self, x):
        made = self.library.rd_shape_of(x)
        return tuple(made.at[: made.n])

    def eval(self, y, out=None):
        """The result in `out`, or in an array of its own."""
        if out is None:
            out = np.empty(self.shape(y), self.dtype(y))
        if self.library.rd_eval(self.ctx, y, self.array(out)):
            self.fail()
        return out

    def dtype(self, x):
        return NUMPY[self.library.rd_type_of(x)]
