"""ours.py - a random program in rdim: nodes by the calls of rdim.h, leaves between guard pages."""
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint64, c_void_p
from pathlib import Path

import numpy as np

import kinds as K

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from rdim import Rdim, Refused  # noqa: E402

__all__ = ["Ours", "Refused"]


class Ours(Rdim):
    """The library and ways.c, in one module; contexts are those of ways.c."""

    def __init__(self, module):
        super().__init__(module)
        array = self.types["rd_array"]
        for name, result, arguments in (
                ("graph_context", c_void_p, [c_int64]), ("graph_memory", c_void_p, [c_int64, c_int32]),
                ("graph_memory_reset", None, []), ("graph_begin", None, [c_int64]), ("graph_ways", c_int32, []),
                ("graph_way_name", c_char_p, [c_int32]),
                ("graph_plain", c_int32, [c_void_p, c_int32, c_void_p, POINTER(array)]),
                ("graph_same", c_int32, [c_void_p, c_int32, c_void_p, POINTER(array), c_int32, c_uint64, c_void_p,
                                         c_int64, c_char_p, c_int64]),
                ("graph_differ", c_int64, [POINTER(array), POINTER(array)])):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        self.library.rd_ctx_free(self.ctx)
        self.ctx = self.library.graph_context(0)
        self.memory, self.why = [], ctypes.create_string_buffer(600)
        self.ways = [(k, self.library.graph_way_name(k).decode()) for k in range(self.library.graph_ways())
                     if self.library.graph_way_name(k)]

    def within(self, limit):
        """The same in another context, of so many bytes."""
        other = object.__new__(Ours)
        other.__dict__.update(self.__dict__)
        other.ctx = self.library.graph_context(limit)
        if not other.ctx:
            raise Refused("RD_ERR_MEMORY", "no context")
        return other

    # ---- Building
    def place_leaves(self, program):
        """Copies the program's leaves between guard pages, one array each, that ends where nothing may be read."""
        self.library.graph_memory_reset()
        self.memory = []
        for leaf in program.leaves:
            at = self.library.graph_memory(leaf.base.nbytes, leaf.at_end)
            if not at:
                raise MemoryError(f"no slot for a leaf of {leaf.base.nbytes} bytes")
            if leaf.base.nbytes:
                ctypes.memmove(at, leaf.base.ctypes.data, leaf.base.nbytes)
            array = self.types["rd_array"](data=at + leaf.first * leaf.base.itemsize, type=leaf.kind.code,
                                           shape=self.ints(leaf.shape), strides=self.ints(leaf.strides))
            self.memory.append((at, leaf.base.nbytes, array))

    def leaf_of(self, number):
        return self.library.rd_leaf(self.ctx, byref(self.memory[number][2])) or self.fail()

    def build(self, program):
        nodes = []
        for k, step in enumerate(program.steps):
            try:
                nodes.append(step.build(self, *(nodes[i] for i in step.operands)))
            except Refused as refused:
                raise Refused(refused.status, f"step {k} ({step.text}): {refused}") from None
        return nodes

    def from_text(self, text, names):
        """rd_formula() with nodes by name."""
        made = (self.types["rd_name"] * max(len(names), 1))(*((name.encode(), node) for name, node in names))
        return self.library.rd_formula(self.ctx, text.encode(), self.types["rd_names"](
            at=ctypes.cast(made, c_void_p).value, n=len(names))) or self.fail()

    # ---- Evaluating
    def plain(self, nodes):
        """Results of one evaluation, as rd_arrays in guarded memory."""
        found = (self.types["rd_array"] * len(nodes))()
        if self.library.graph_plain(self.ctx, len(nodes), (c_void_p * len(nodes))(*nodes), found):
            self.fail()
        return found

    def elements(self, array, kind, shape):
        """A result's memory as NumPy's."""
        n = int(np.prod(shape, dtype=int)) * kind.memory.itemsize
        return np.frombuffer((ctypes.c_char * n).from_address(array.data), kind.memory).reshape(shape)

    def other_way(self, nodes, plain, way, seed, leaf):
        """What differs when they are evaluated so, or None."""
        at, size = (self.memory[leaf][0], self.memory[leaf][1]) if leaf is not None else (None, 0)
        ends = self.library.graph_same(self.ctx, len(nodes), (c_void_p * len(nodes))(*nodes), plain, way, seed, at,
                                       size, self.why, len(self.why))
        return self.why.value.decode() if ends else None
