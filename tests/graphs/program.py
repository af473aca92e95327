"""program.py - a random program: leaves, then steps, each of which says what rdim's call is and what NumPy makes of it.

A program is drawn together with its values, as a step is taken only where these say enough; it is a list of steps that
can be built in any context.
"""
from dataclasses import dataclass
from typing import Callable

import numpy as np

import kinds as K
from kinds import LONG
from maps import REFUSED
from value import Value, vague

SLOT = 96 * 4096  # bytes of a slot of guard.c
MOST = 1500  # elements of a value; a few programs have larger ones


@dataclass
class Step:
    text: str
    operands: tuple
    build: Callable   # (rdim, *nodes) -> node
    value: Value
    formula: str | None = None  # the step in a formula's text, of its operands {0}, {1}, ...


@dataclass
class Leaf:
    """An array in memory: `base` as it lies, seen by index tuples; what it is made of is copied by the evaluating side
    to memory of its own."""
    kind: K.Kind
    shape: tuple
    strides: tuple      # in elements
    first: int          # of element [0, ..., 0] in base
    base: np.ndarray
    at_end: bool        # nothing may be read behind it, else before it

    def seen(self, base):
        return np.lib.stride_tricks.as_strided(base[self.first:], self.shape,
                                               [s * base.itemsize for s in self.strides], writeable=False)


class Program:
    def __init__(self, random, numbers):
        self.random, self.numbers = random, numbers  # Python's for choices, NumPy's for elements
        self.steps, self.leaves, self.dropped, self.most = [], [], 0, MOST

    # ---- Choices
    def chance(self, p):
        return self.random.random() < p

    def below(self, n):
        return int(self.random.random() * n)

    def one_of(self, items):
        return items[self.below(len(items))]

    def weighted(self, rows):
        return self.random.choices(rows, [row.weight for row in rows])[0]

    def operand(self, wanted=lambda x: True):
        """A step's number, late ones likelier; None if there is none that is wanted."""
        for _ in range(6):
            u = self.random.random()
            k = len(self.steps) - 1 - int(u * u * len(self.steps))
            if wanted(self.steps[k].value):
                return k
        return None

    def value(self, k):
        return self.steps[k].value

    def partner(self, k):
        """A step whose value broadcasts with that of step k."""
        shape = self.value(k).shape

        def fits(x):
            try:
                return int(np.prod(np.broadcast_shapes(shape, x.shape))) <= self.most
            except ValueError:
                return False
        other = self.operand(fits)
        if other is None or self.chance(0.1):
            other = self.leaf(self.one_of(K.ALL), tuple(n if self.chance(0.7) else 1 for n in shape))
        return other

    # ---- Leaves
    def shape(self):
        extents = [0, 1, 2, 3, 4, 5, 7, 9] if self.chance(0.15) else [1, 2, 3, 4, 5, 7, 9]
        shape = [self.one_of(extents) for _ in range(self.below(4))]
        if self.chance(0.25):
            shape.insert(self.below(len(shape) + 1), self.one_of([16, 33, 64, 65, 70, 130]))
        if self.most > MOST:
            shape = self.one_of(([self.most - 3], [70, 130], [130, 65, 2], [3, 4200], [4100, 3], [5, 9, 200]))
        while np.prod(shape) > self.most:
            shape[self.below(len(shape))] = 2
        return tuple(shape)

    def elements(self, kind, n):
        """n elements as they lie in memory."""
        r = self.numbers
        if kind is K.BOOL:
            return r.random(n) < self.one_of((0.1, 0.5, 0.9))
        if not kind.bits and kind.letter != "c":
            info = np.iinfo(kind.memory)
            low, high = (info.min, info.max) if self.chance(0.3) else (max(info.min, -9), 9)
            return r.integers(low, high, n, kind.memory, endpoint=True)
        if kind.letter == "c":
            return (r.standard_normal(n) + 1j * r.standard_normal(n)).astype(kind.memory)
        x = r.standard_normal(n) * self.one_of((1e-3, 1, 1, 1, 30))
        if self.chance(0.2):
            x = np.round(x)
        x = K.stored(x.astype(LONG), kind)
        if self.chance(0.2):
            odd = K.stored(LONG([np.nan, np.inf, -np.inf, 0, -0.0, kind.largest, np.ldexp(LONG(1), kind.least), 1]),
                           kind)
            x = np.where(r.random(n) < 0.15, odd[r.integers(0, len(odd), n)], x)
        return x

    def layout(self, shape):
        """Strides in elements, the place of the first element, and how many elements the memory has."""
        order = list(range(len(shape)))
        if self.chance(0.3):
            self.random.shuffle(order)
        strides, first, span = [0] * len(shape), 0, 1
        for a in reversed(order):
            if self.chance(0.06):
                continue
            step = span * (2 if self.chance(0.12) else 1)
            reach = step * max(shape[a] - 1, 0)
            if self.chance(0.15):
                first, step = first + reach, -step
            strides[a] = step
            span += reach
        return tuple(strides), first, span if all(shape) else 0

    def leaf(self, kind, shape, values=None):
        strides, first, span = self.layout(shape)
        while span * kind.memory.itemsize > SLOT:
            strides, first, span = self.layout(shape)
        base = self.elements(kind, span) if values is None else values(span).astype(kind.memory)
        leaf = Leaf(kind, shape, strides, first if span else 0, base, self.chance(0.7))
        seen = np.ascontiguousarray(leaf.seen(base)).reshape(shape)
        number = len(self.leaves)
        self.leaves.append(leaf)
        value = Value(kind, K.loaded(seen, kind))
        if kind.letter == "c":
            value = Value(kind, seen.astype(np.clongdouble), np.zeros(shape, LONG))
        self.steps.append(Step(f"leaf {kind}{list(shape)} strides {list(strides)}", (), lambda r: r.leaf_of(number),
                               value))
        return len(self.steps) - 1

    # ---- Steps
    def take(self, text, operands, build, value, formula=None):
        """Appends a step if its value says enough."""
        if value is REFUSED or value.size > self.most or value.ndim > 6 or vague(value):
            self.dropped += 1
            return False
        self.steps.append(Step(text, operands, build, value, formula))
        return True


def formula_of(program, k):
    """Step k as statements of a formula, and the steps that these only name; None: it is no statement."""
    lines, given, seen = [], [], set()

    def visit(i):
        if i in seen:
            return
        seen.add(i)
        step = program.steps[i]
        if step.formula is None:
            given.append(i)
            return
        for operand in step.operands:
            visit(operand)
        lines.append(f"s{i} = " + step.formula.format(*(f"s{n}" for n in step.operands)))
    visit(k)
    return ("\n".join(lines), given) if lines else None


def described(program):
    """The program as text, a line for each step."""
    return "\n".join(f"  {k}: {step.text} {list(step.operands) or ''} -> {step.value.kind}{list(step.value.shape)}"
                     + (" exact" if step.value.exact else "") for k, step in enumerate(program.steps))
