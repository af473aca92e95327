#!/usr/bin/env python3
"""peers.py [--bytes N] [--seconds LIMIT] [--out FILE]: the rows of rdim-bench-gpu in CuPy, PyTorch (eager and compiled)
and JAX, those that are installed and find a GPU.

The same matrices and names; a row is the fastest of several runs that end with a wait.  What is there but fails in a row
is named, and so is what is not there.  Exit status 77: there is none of them."""
import argparse
import json
import sys
import time

ROWS = [("sum of all", "f32", 4096), ("sum of rows", "f32", 1024), ("sum of rows", "f32", 16), ("sum of rows", "f32", 65536),
        ("sum of columns", "f32", 4096), ("sum of columns", "f32", 64), ("sum of columns", "f32", 3),
        ("max of rows", "f32", 1024), ("argmax of rows", "f32", 1024), ("var of rows", "f32", 1024),
        ("logsumexp of rows", "f32", 1024), ("softmax", "f32", 1024), ("softmax", "f32", 4096), ("softmax", "f32", 65536),
        ("layer norm", "f32", 1024), ("map", "f32", 4096), ("map exp", "f32", 4096), ("transpose", "f32", 8192),
        ("scan of rows", "f32", 4096), ("scan of rows", "f32", 65536), ("rows and columns", "f32", 4096), ("siblings", "f32", 1024),
        ("sum of all", "f64", 4096), ("sum of columns", "f64", 4096), ("sum of all", "bf16", 4096),
        ("sum of rows", "bf16", 1024), ("sum of columns", "bf16", 4096), ("softmax", "bf16", 1024),
        ("layer norm", "bf16", 1024), ("map", "bf16", 4096), ("sum of all", "f16", 4096)]
SIZE = {"f32": 4, "f64": 8, "bf16": 2, "f16": 2}


def of_numpy(xp, logsumexp, softmax, layer_norm):
    """Programs over x, in a module that has NumPy's names."""
    return {
        "sum of all": lambda x: x.sum(), "sum of rows": lambda x: x.sum(1), "sum of columns": lambda x: x.sum(0),
        "max of rows": lambda x: x.max(1), "argmax of rows": lambda x: x.argmax(1), "var of rows": lambda x: x.var(1),
        "logsumexp of rows": logsumexp, "softmax": softmax, "layer norm": layer_norm, "map": lambda x: x * x + 3,
        "map exp": lambda x: xp.exp(x - x[0]), "transpose": lambda x: xp.ascontiguousarray(-x.T),
        "scan of rows": lambda x: xp.cumsum(x, 1), "rows and columns": lambda x: (x.sum(0), x.sum(1)),
        "siblings": lambda x: (x.sum(1), x.max(1)),
    }


def by_parts(xp):
    def logsumexp(x):
        m = x.max(1, keepdims=True)
        return xp.log(xp.exp(x - m).sum(1)) + m[:, 0]

    def softmax(x):
        e = xp.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def layer_norm(x):
        return (x - x.mean(1, keepdims=True)) / xp.sqrt(x.var(1, keepdims=True) + 1e-5)

    return of_numpy(xp, logsumexp, softmax, layer_norm)


class Cupy:
    name, dtypes = "cupy", ("f32", "f64", "f16")

    def __init__(self):
        import cupy
        cupy.cuda.Device(0).use()
        self.xp, self.programs = cupy, by_parts(cupy)

    def matrix(self, shape, dtype):
        place = self.xp.arange(shape[0], dtype="i8")[:, None] * 31 + self.xp.arange(shape[1], dtype="i8")
        return (place % 1009 / 126 - 4).astype({"f32": "f4", "f64": "f8", "f16": "f2"}[dtype])

    def program(self, name):
        return self.programs[name]

    def wait(self, result):
        del result
        self.xp.cuda.Device(0).synchronize()


class Torch:
    name, dtypes = "torch", ("f32", "f64", "f16", "bf16")

    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no GPU")
        torch.set_grad_enabled(False)
        self.torch = torch

    def matrix(self, shape, dtype):
        t = self.torch
        place = (t.arange(shape[0], device="cuda")[:, None] * 31 + t.arange(shape[1], device="cuda")).remainder_(1009)
        return (place / 126 - 4).to({"f32": t.float32, "f64": t.float64, "f16": t.float16, "bf16": t.bfloat16}[dtype])

    def program(self, name):
        t = self.torch
        return {
            "sum of all": lambda x: x.sum(), "sum of rows": lambda x: x.sum(1), "sum of columns": lambda x: x.sum(0),
            "max of rows": lambda x: x.amax(1), "argmax of rows": lambda x: x.argmax(1),
            "var of rows": lambda x: x.var(1, unbiased=False), "logsumexp of rows": lambda x: x.logsumexp(1),
            "softmax": lambda x: t.softmax(x, 1), "layer norm": lambda x: t.nn.functional.layer_norm(x, x.shape[1:]),
            "map": lambda x: x * x + 3, "map exp": lambda x: t.exp(x - x[0]), "transpose": lambda x: (-x.T).contiguous(),
            "scan of rows": lambda x: x.cumsum(1), "rows and columns": lambda x: (x.sum(0), x.sum(1)),
            "siblings": lambda x: (x.sum(1), x.amax(1)),
        }[name]

    def wait(self, result):
        del result
        self.torch.cuda.synchronize()


class TorchCompiled(Torch):
    name = "torch.compile"

    def program(self, name):
        return self.torch.compile(super().program(name), dynamic=False)


class Jax:
    name, dtypes = "jax", ("f32", "bf16", "f16")

    def __init__(self):
        import jax
        import jax.numpy
        if jax.default_backend() != "gpu":
            raise RuntimeError("JAX finds no GPU")
        self.jax, self.xp = jax, jax.numpy
        self.programs = of_numpy(jax.numpy, lambda x: jax.nn.logsumexp(x, axis=1), lambda x: jax.nn.softmax(x, axis=1),
                                 by_parts(jax.numpy)["layer norm"])
        self.programs["transpose"] = lambda x: -x.T

    def matrix(self, shape, dtype):
        place = self.xp.arange(shape[0])[:, None] * 31 + self.xp.arange(shape[1])
        return (place % 1009 / 126 - 4).astype({"f32": "float32", "bf16": "bfloat16", "f16": "float16"}[dtype])

    def program(self, name):
        return self.jax.jit(self.programs[name])

    def wait(self, result):
        self.jax.block_until_ready(result)


def seconds_of(peer, program, x):
    least = None
    for k in range(9):
        begin = time.perf_counter()
        peer.wait(program(x))
        now = time.perf_counter() - begin
        if k > 1 and (least is None or now < least):
            least = now
    return least


def rows_of(peer, size, until):
    """Each row that the peer can do; and a line for people."""
    for name, dtype, columns in ROWS:
        if dtype not in peer.dtypes or time.perf_counter() > until:
            continue
        n = size // SIZE[dtype]
        try:
            x = peer.matrix((n // columns, columns), dtype)
            seconds = seconds_of(peer, peer.program(name), x)
            del x
        except Exception as error:  # its own: memory, shapes, compilers
            print(f"{peer.name}: {name} of {dtype}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
            continue
        print(f"{peer.name:14} {name:18} {dtype:5} {columns:6}  {size / 2**20:10.1f} MiB  {seconds * 1e3:9.3f} ms")
        yield {"peer": peer.name, "row": name, "dtype": dtype, "columns": columns, "matrix": size, "seconds": seconds}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=4 << 30)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--out")
    asked = parser.parse_args()
    begin, found, there = time.perf_counter(), [], []
    for make in (Cupy, Torch, TorchCompiled, Jax):
        try:
            there.append(make())
        except Exception as error:
            print(f"{make.name} is left out: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    for k, peer in enumerate(there):
        until = begin + asked.seconds * (k + 1) / len(there)
        for size in sorted({asked.bytes, min(asked.bytes, 4 << 20)}, reverse=True):
            found.extend(rows_of(peer, size, until))
        if asked.out:
            with open(asked.out, "w", encoding="utf-8") as out:
                json.dump(found, out)
    return 0 if there else 77


sys.exit(main())
