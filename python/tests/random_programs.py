"""Random programs in the language of programs.py."""

import numpy as np
from programs import FUNCTIONS, MAPS, OPERATORS, TYPES, run

import rdim as rd

MOST = 60_000  # elements of a value
NUMBERS = ["int:0", "int:1", "int:2", "int:7", "num:0x1.8p+0", "num:-0x1.199999999999ap-1", "num:0x0p+0", "bool:1",
           "cnum:0x1p+0:-0x1p-1"]
METHODS = ["linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
           "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"]


def elements(rng, kind, n):
    if kind == "bool":
        return rng.random(n) < 0.6
    if kind[0] in "iu":
        wide = rng.random() < 0.2
        low, high = (np.iinfo(kind).min, np.iinfo(kind).max) if wide else (0 if kind[0] == "u" else -9, 20)
        return rng.integers(low, high, n, kind, endpoint=True)
    x = np.round(rng.standard_normal(n) * 3, int(rng.integers(0, 4))).astype(kind)
    if kind[0] == "c":
        x += (1j * rng.standard_normal(n)).astype(kind)
    if n and rng.random() < 0.3:
        x[rng.integers(0, n, max(n // 8, 1))] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40])
    return x


def no_lower(x):
    """Types that x's elements may be cast to, as NumPy has it: the package refuses others, the library takes them."""
    kinds = "biufc"
    return [kind for kind in TYPES if kinds.find(np.dtype(kind).kind) >= kinds.find(x.dtype.kind)]


class Writer:
    """Draws lines, runs each in Python, and keeps those whose values are of use."""

    def __init__(self, seed):
        self.rng, self.data, self.lines, self.values = np.random.default_rng(seed), bytearray(), [], []
        large = self.rng.random() < 0.1
        self.base = tuple(int(n) for n in self.rng.integers(0 if self.rng.random() < 0.1 else 1, 40 if large else 7,
                                                           self.rng.integers(1, 5)))
        while np.prod(self.base) > MOST // 3:
            self.base = self.base[1:]

    # ---- Leaves ---------------------------------------------------------------------------------------------------
    def shape(self):
        """A shape that meets the program's, mostly."""
        base = self.base[self.rng.integers(0, len(self.base)):] if self.chance(0.3) else self.base
        return tuple(1 if self.chance(0.15) else n for n in base)

    def write_leaf(self):
        shape, kind = self.shape(), str(self.rng.choice(TYPES))
        room = np.empty(tuple(2 * n for n in shape), kind) if self.chance(0.2) else np.empty(shape, kind)
        if self.chance(0.3):
            room = np.asfortranarray(room)
        whole = np.ndarray(room.shape, kind, bytearray(room.nbytes + 8), 0, room.strides)
        whole[...] = elements(self.rng, kind, room.size).reshape(room.shape)
        view = whole[tuple(slice(None, n) if room.shape[k] == n else slice(None, None, 2) for k, n in enumerate(shape))]
        for k in range(view.ndim):
            if self.chance(0.15):
                view = np.flip(view, k)
        place = len(self.data) + view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        self.data += bytes(whole.base)[:room.nbytes]
        self.data += bytes(-len(self.data) % 64)
        return f"leaf {kind} {text(shape)} {text(view.strides)} {place}"

    # ---- Choices --------------------------------------------------------------------------------------------------
    def chance(self, p):
        return self.rng.random() < p

    def pick(self, options):
        return options[self.rng.integers(0, len(options))]

    def place(self, wanted=lambda x: True):
        """The name of a value, and the value; the last ones are likelier."""
        known = [k for k, x in enumerate(self.values) if x is not None and wanted(x)]
        k = known[-1 - int(self.rng.integers(0, len(known)) * self.rng.random())] if known else 0
        return f"%{k}", self.values[k]

    def number(self, x):
        return self.pick([word for word in NUMBERS if word[0] in {"b": "bi", "i": "bi", "u": "bi"}.get(x.dtype.kind, "bin")])

    def axis(self, x):
        return int(self.rng.integers(-x.ndim, x.ndim)) if x.ndim else 0

    def front(self, x):
        return int(self.rng.integers(0, x.ndim)) if x.ndim else 0

    def axes(self, x, least=1):
        n = int(self.rng.integers(least, x.ndim + 1)) if x.ndim >= least else 0
        return "*" if self.chance(0.3) else text(self.rng.permutation(x.ndim)[:n])

    # ---- Lines ----------------------------------------------------------------------------------------------------
    def one(self):
        return f"{self.pick(list(MAPS))} {self.place()[0]}"

    def two(self):
        a, x = self.place()
        b = self.number(x) if self.chance(0.3) else self.place(lambda y: self.chance(0.5) or y.shape == x.shape)[0]
        return f"{self.pick(list(OPERATORS | FUNCTIONS))} {a} {b}" if self.chance(0.8) else f"{self.pick(list(OPERATORS))} {b} {a}"

    def choose(self):
        a, x = self.place()
        b, c = self.place()[0], self.pick([self.number(x), self.place()[0]])
        return self.pick([f"where {self.place(lambda y: y.dtype.kind == 'b')[0]} {a} {c}", f"where {a} {b} {c}",
                          f"clip {a} {c} {b}", f"clip {a} _ {b}", f"clip {a} {c} _", f"isclose {a} {b} 0x1p-10 0x1p-8",
                          f"round_to {a} {self.rng.integers(-2, 4)}", f"cast {a} {self.pick(TYPES)}",
                          f"cast {a} {self.pick([*TYPES, 'bfloat16'])}"])

    def view(self):
        a, x = self.place()
        k, n = self.front(x), x.shape[self.front(x)] if x.ndim else 1
        start, stop = (self.pick([-2**63, int(self.rng.integers(-n - 1, n + 2))]) for _ in range(2))
        order = text(self.rng.permutation(x.ndim))
        return self.pick([f"slice_axis {a} {k} {start} {stop} {self.pick([1, 2, 3, -1, -2])}",
                          f"select {a} {k} {self.rng.integers(-n, max(n, 1))}", f"expand {a} {self.rng.integers(0, x.ndim + 1)}",
                          f"expand_ {a} {self.rng.integers(-x.ndim - 1, x.ndim + 1)}", f"permute {a} {order}",
                          f"transpose {a}", f"reshape {a} -1", f"reshape {a} {text(x.shape[::-1])}", f"flip {a} {self.axes(x)}",
                          f"broadcast {a} {text((2,) + x.shape)}", f"diagonal {a} {self.axis(x)} {self.axis(x)} {self.rng.integers(-2, 3)}",
                          f"window {a} {self.axis(x)} {self.rng.integers(1, 4)} {self.rng.integers(1, 3)}",
                          f"squeeze {a} {text(k for k in range(x.ndim) if x.shape[k] == 1)}"])

    def moved(self):
        a, x = self.place()
        k, b = self.axis(x), self.place(lambda y: y.shape == x.shape)[0]
        index = self.place(lambda y: y.dtype.kind in "iu")[0]
        return self.pick([f"concat {k} {a},{b},{a}", f"stack {self.rng.integers(0, x.ndim + 1)} {b},{a}",
                          f"roll {a} {k} {self.rng.integers(-5, 9)}", f"tile {a} {text(self.rng.integers(1, 3, self.rng.integers(1, 3)))}",
                          f"repeat {a} {k} {self.rng.integers(0, 4)}", f"tril {a} {self.rng.integers(-2, 3)}",
                          f"pad {a} {self.front(x)} {self.rng.integers(0, 4)} {self.rng.integers(1, 4)} {self.pick(['edge', 'reflect', 'symmetric', 'wrap'])}",
                          f"triu {a} {self.rng.integers(-2, 3)}", f"take {a} {k} {index}", f"take_along {a} {k} {index}",
                          f"scatter_add {a} {self.front(x)} {index} {self.pick([b, self.number(x)])}",
                          f"full {text(x.shape)} {self.number(x)} {self.pick(TYPES)}", f"diff {a} {k} {self.rng.integers(0, 3)}"])

    def product(self):
        a, x = self.place()
        b, y = self.place(lambda y: bool(x.ndim and y.ndim and x.shape[-1] == y.shape[-min(y.ndim, 2)]))
        c, _ = self.place(lambda y: y.ndim == 1)
        letters = "abcdefgh"[:x.ndim]
        return self.pick([f"matmul {a} {b}", f"matmul {a} {b}", f"dot {a} {b}", f"outer {a} {c}", f"kron {a} {c}",
                          f"vecdot {a} {b} -1", f"tensordot {a} {b} {x.ndim - 1} {max(y.ndim - 2, 0)}",
                          f"trace {a} {self.axis(x)} {self.axis(x)} {self.rng.integers(-1, 2)}",
                          f"einsum {letters},{letters}->{letters[:self.rng.integers(0, x.ndim + 1)]} {a},{a}",
                          f"convolve {a} {c} {self.front(x)} {self.pick(['full', 'same', 'valid'])}",
                          f"correlate {a} {c} {self.front(x)} {self.pick(['full', 'same', 'valid'])}",
                          f"cdist {a} {a} {self.pick(['0x1p+1', '0x1p+0', '0x1.8p+0'])}", f"cosine_distance {a} {a}"])

    def order(self):
        a, x = self.place()
        k, c = self.axis(x), self.place(lambda y: y.ndim == 1)[0]
        q = self.rng.random(2)
        return self.pick([f"sort {a} {k} {self.rng.integers(0, 2)}", f"argsort {a} {k} {self.rng.integers(0, 2)}",
                          f"top_k {a} {self.rng.integers(0, 4)} {k} {self.rng.integers(0, 2)}",
                          f"arg_top_k {a} {self.rng.integers(0, 4)} {k} {self.rng.integers(0, 2)}",
                          f"ranks {a} {k} {self.pick(['average', 'min', 'max', 'dense', 'ordinal'])}",
                          f"median {a} {self.axes(x)} {self.rng.integers(0, 2)}",
                          f"quantile {a} {q[0].hex()} {self.axes(x)} {self.pick(METHODS)}",
                          f"quantiles {a} {q[0].hex()} {q[1].hex()} {self.axes(x)}",
                          f"searchsorted {c} {a} {self.pick(['left', 'right'])}", f"interp {a} {c} {c} 0",
                          f"bins {a} {self.rng.integers(1, 9)} -0x1.8p+1 0x1.4p+2"])

    def near(self):
        a, x = self.place()
        k, n, b = self.axis(x), self.rng.integers(1, 5), self.place(lambda y: y.shape == x.shape[-1:])[0]
        name = self.pick(["sum", "mean", "min", "max", "median"])
        return self.pick([f"rolling_{name} {a} {k} {n}", f"rolling_{self.pick(['var', 'std'])} {a} {k} {n} {self.pick(['0x0p+0', '0x1p+0'])}",
                          f"rolling_quantile {a} {self.rng.random().hex()} {k} {n}",
                          f"ewm_mean {a} {k} {(self.rng.random() * 0.9 + 0.05).hex()} {self.rng.integers(0, 2)}",
                          f"{self.pick(['ffill', 'bfill'])} {a} {k} {self.rng.integers(0, 3)}",
                          f"{self.pick(['softmax', 'log_softmax'])} {a} {self.axes(x)}",
                          f"standardise {a} {self.axes(x)} {self.pick(['0x0p+0', '0x1p+0'])}",
                          f"layer_norm {a} {self.axes(x)} {b} {self.pick([b, '_'])}", f"rms_norm {a} {self.axes(x)} {self.pick([b, '_'])}",
                          f"normalise {a} {self.axes(x)} {self.pick(['0x1p+1', '0x1p+0', 'inf'])}"])

    def reduction(self):
        a, x = self.place()
        both = ["sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax"]
        skips = self.chance(0.25)
        name = self.pick(both if skips else both + ["any", "all", "count", "skewness", "kurtosis", "norm", "logsumexp", "bits_and",
                                                    "bits_or", "bits_xor", "first", "last", "minmax"])
        words = [f"axis={self.axes(x)}"] if self.chance(0.8) else []
        for p, word in [(0.3, lambda: "keepdims=1"), (0.2, lambda: f"where={self.place(lambda y: y.shape == x.shape)[0]}"),
                        (0.1, lambda: f"initial={self.number(x)}"), (0.1, lambda: f"dtype={self.pick(no_lower(x))}"),
                        (0.1, lambda: f"accuracy={self.pick(['pairwise', 'compensated', 'wide', 'serial'])}"),
                        (0.1, lambda: f"weights={self.place(lambda y: y.shape == x.shape)[0]}"),
                        (0.5 if name in ("var", "std") else 0, lambda: "ddof=0x1p+0"), (0.1, lambda: "skipna=1"),
                        (0.3 if name == "norm" else 0, lambda: "p=0x1.8p+0"),
                        (0.15, lambda: f"by={self.place(lambda y: y.dtype.kind in 'iub' and y.shape == x.shape)[0]} groups={self.rng.integers(1, 5)}")]:
            if self.chance(p):
                words.append(word())
        return f"{'nan' * skips}reduce {name} {a} {' '.join(words)}"

    def scan(self):
        a, x = self.place()
        skips = self.chance(0.25)
        words = [f"axis={self.axis(x)}"]
        for p, word in [(0.2, "exclusive=1"), (0.2, "reverse=1"), (0.1, f"where={self.place(lambda y: y.shape == x.shape)[0]}"),
                        (0.1, f"restart={self.place(lambda y: y.dtype.kind == 'b')[0]}"), (0.1, f"dtype={self.pick(no_lower(x))}")]:
            if self.chance(p):
                words.append(word)
        return f"{'nan' * skips}scan {self.pick(['sum', 'prod'] if skips else ['sum', 'prod', 'min', 'max', 'mean'])} {a} {' '.join(words)}"

    # ---- Programs -------------------------------------------------------------------------------------------------
    def write(self, line):
        """Runs it and keeps it, if its value is of use; a refusal is, now and then."""
        try:
            value = run(bytes(self.data) if line.startswith("leaf") else b"", self.values, line)
            if not isinstance(value, rd.Array) or value.size > MOST or value.ndim > 8:
                return
        except (ValueError, TypeError, IndexError, OverflowError, rd.Error):
            if not self.chance(0.15):
                return
            value = None
        self.lines.append(line)
        self.values.append(value)

    def program(self):
        """Leaves, steps, and lines that evaluate."""
        for _ in range(self.rng.integers(1, 4)):
            self.write(self.write_leaf())
        steps = [self.one, self.two, self.two, self.choose, self.view, self.moved, self.product, self.order, self.near,
                 self.reduction, self.reduction, self.scan]
        for _ in range(self.rng.integers(4, 24)):
            self.write(self.pick(steps)())
        known = [k for k, value in enumerate(self.values) if value is not None and str(value.dtype) != "bfloat16" and not self.lines[k].startswith("leaf")]
        chosen = [f"%{k}" for k in (known[-1:] + [int(k) for k in self.rng.permutation(known[:-1])[:3]])]
        threads = self.pick([0, 0, 1, 2])
        outs = [f"out {threads} {' '.join(chosen)}"] + [f"out {threads} {one}" for one in chosen[:2]] if chosen else []
        return self.lines + outs, bytes(self.data)


def text(numbers):
    return ",".join(str(int(k)) for k in numbers) or "()"


def random_program(seed):
    return Writer(seed).program()
