#!/usr/bin/env python3
"""Random programs over named arrays, written for the command and for xarray, side by side.

usage: beside_xarray.py RDIM [--first N] [--count N]

By hand: it needs xarray and netCDF4.  Each program is a tree; `Node` has its text as a formula and its value as
xarray's.  Arrays are in files whose grids are the same, shifted, or in the other order; xarray runs with
arithmetic_join "exact", so both refuse the same programs."""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import xarray as xr

SIZES = {"time": 24, "lev": 3, "lat": 4, "lon": 4}
REDUCERS = ["mean", "sum", "max", "min", "std", "var", "median", "prod"]


class Refused(Exception):
    """xarray refuses the part of a program that is the text; so must the command."""


class Node:
    def __init__(self, text, value):
        self.text = text
        self.value = value


def coordinates(name, kind):
    n = SIZES[name]
    if name == "time":
        at = np.arange(n) * 31.0 + 15
    elif name == "lat":
        at = np.linspace(-60, 60, n)
    else:
        at = np.arange(n) * (360.0 / n)
    if kind == "shifted":
        at = at + 1.5
    if kind == "backwards":
        at = at[::-1].copy()
    return at


def make_files(folder, rng):
    """Variables a to f in files of their own; c and d have other grids."""
    variables = {}
    for k, name in enumerate("abcdef"):
        dims = [d for d in SIZES if rng.random() < 0.7] or ["lat"]
        if rng.random() < 0.4:
            rng.shuffle(dims)
        kind = {"c": "shifted", "d": "backwards"}.get(name, "same")
        values = np.random.default_rng(rng.randrange(1 << 30)).normal(size=[SIZES[d] for d in dims]).round(2)
        if k % 2:
            values[values > 1.5] = np.nan
        x = xr.DataArray(values, dims=dims, name=name,
                         coords={d: (d, coordinates(d, kind if d in ("lat", "lon") else "same")) for d in dims})
        if "time" in dims:
            x["time"].attrs = {"units": "days since 2000-01-01"}
        path = os.path.join(folder, name + ".nc")
        x.to_dataset().to_netcdf(path)
        variables[name] = (path, x)
    coords = {d: (d, coordinates(d, "same")) for d in SIZES}
    xr.Dataset({"sizes": (list(SIZES), np.zeros(list(SIZES.values())))}, coords).to_netcdf(os.path.join(folder, "g.nc"))
    return variables


def meet(f, x, y, text):
    with xr.set_options(arithmetic_join="exact"):
        try:
            return f(x, y)
        except ValueError as why:
            raise Refused(text) from why


def leaf(rng, variables):
    name = rng.choice(list(variables) if rng.random() < 0.2 else [v for v in variables if v not in "cd"])
    return Node(name, variables[name][1])


def number(rng):
    value = rng.choice([2.0, 0.5, -1.0, 3.0])
    return Node(f"({value})", value)


def is_array(x):
    return isinstance(x, xr.DataArray) and x.ndim > 0


def binary(rng, variables, depth):
    x, y = program(rng, variables, depth - 1), program(rng, variables, depth - 1)
    if rng.random() < 0.15:
        y = number(rng)
    op = rng.choice("+-*")
    f = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}[op]
    text = f"({x.text} {op} {y.text})"
    return Node(text, meet(f, x.value, y.value, text))


def some_dims(rng, x):
    return rng.sample(list(x.dims), rng.randrange(1, x.ndim + 1))


def reduction(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    if not is_array(x.value):
        return x
    dims, name = some_dims(rng, x.value), rng.choice(REDUCERS)
    skip = rng.random() < 0.5
    value = getattr(x.value, name)(dim=dims, skipna=skip)
    axes = "(" + ", ".join(dims) + ")" if len(dims) > 1 or rng.random() < 0.3 else repr(dims[0])
    return Node(f"{'nan' if skip else ''}{name}({x.text}, axis={axes})", value)


def anomaly(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    if not is_array(x.value):
        return x
    dims = some_dims(rng, x.value)
    keep = ", keepdims=true" if rng.random() < 0.4 else ""
    return Node(f"({x.text} - mean({x.text}, axis=({', '.join(dims)},){keep}))",
                x.value - x.value.mean(dims, skipna=False))


def weighted(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    if not is_array(x.value) or "lat" not in x.value.dims or "lat" not in x.value.coords:
        return x
    if not np.array_equal(x.value["lat"], coordinates("lat", "same")):
        return x
    dims = sorted(set(some_dims(rng, x.value)) | {"lat"})
    weights = np.cos(np.deg2rad(x.value["lat"]))
    if np.isnan(x.value.values).any():
        return x
    return Node(f"mean({x.text}, axis=({', '.join(dims)},), weights=cos(deg2rad(lat)))",
                x.value.weighted(weights).mean(dims))


def chosen(rng, variables, depth):
    c, x, y = (program(rng, variables, depth - 1) for _ in range(3))
    if not is_array(c.value):
        return c
    text = f"where({c.text} > 0, {x.text}, {y.text})"
    return Node(text, meet(lambda a, b: xr.apply_ufunc(np.where, c.value > 0, a, b, join="exact"), x.value, y.value,
                           text))


def part(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    if not is_array(x.value):
        return x
    dim = rng.choice([d for d in x.value.dims])
    if dim not in x.value.coords or x.value.sizes[dim] != SIZES[dim]:
        return x
    at, how = x.value[dim].values, rng.random()
    if len(x.text) > 1:  # places are those of NumPy's order, which is known of variables
        how /= 2
    if how < 0.25:
        value = float(rng.choice(list(at))) + 0.1
        return Node(f"{x.text}[{dim}={value}]", x.value.sel({dim: value}, method="nearest", drop=True))
    if how < 0.5:
        low, high = sorted(float(v) for v in rng.sample(list(at), 2))
        inside = (at >= low) & (at <= high)
        return Node(f"{x.text}[{dim}={low}..{high}]", x.value.isel({dim: np.flatnonzero(inside)}))
    k, place = rng.randrange(len(at)), list(x.value.dims).index(dim)
    if how < 0.75:
        return Node(f"{x.text}[{':, ' * place}{k}]", x.value.isel({dim: k}, drop=True))
    return Node(f"{x.text}[{':, ' * place}::2]", x.value.isel({dim: slice(None, None, 2)}))


def mapped(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    name, f = rng.choice([("abs", abs), ("exp", np.exp), ("tanh", np.tanh), ("-", lambda v: -v)])
    return Node(f"{name}({x.text})", f(x.value))


def rolling(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    if not is_array(x.value) or "time" not in x.value.dims or x.value.sizes["time"] < 5:
        return x
    value = x.value.rolling(time=3).mean().isel(time=slice(2, None))
    if "time" in x.value.coords:  # the command labels a window by its first element, xarray by its last
        value = value.assign_coords(time=x.value["time"].values[:-2])
    return Node(f"rolling_mean({x.text}, 3, axis=time)", value)


def by_month(rng, variables, depth):
    x = program(rng, variables, depth - 1)
    if not is_array(x.value) or "time" not in x.value.dims or x.value.sizes["time"] != SIZES["time"]:
        return x
    month = xr.DataArray(xr.date_range("2000-01-01", periods=800)[x.value["time"].values.astype(int)].month,
                         dims="time", coords={"time": x.value["time"]}, name="month")
    groups = x.value.groupby(month)
    clim = f"mean({x.text}, axis=time, by=month(time))"
    if rng.random() < 0.5:
        return Node(clim, groups.mean(skipna=False))
    return Node(f"({x.text} - {clim}[month(time)])", (groups - groups.mean(skipna=False)).drop_vars("month"))


KINDS = [binary, binary, binary, reduction, reduction, anomaly, weighted, chosen, part, part, mapped, rolling]


def program(rng, variables, depth):
    if depth == 0:
        return leaf(rng, variables)
    return rng.choice(KINDS)(rng, variables, depth)


def run(rdim, folder, text):
    out = os.path.join(folder, "out.nc")
    if os.path.exists(out):
        os.unlink(out)
    files = [os.path.join(folder, n + ".nc") for n in "abcdef"]
    done = subprocess.run([rdim, "r = " + text, *files, "lat=" + os.path.join(folder, "g.nc:lat"), "-o", out], capture_output=True, text=True,
                          env={**os.environ, "RDIM_TIER1": "off"})
    if done.returncode:
        return None, done.stderr.strip()
    with xr.open_dataset(out, decode_times=False) as f:
        return f["r"].load(), ""


def compare(got, want):
    if not is_array(want):
        want = xr.DataArray(want)
    if set(got.dims) != set(want.dims):
        return f"axes {got.dims}, not {want.dims}"
    got = got.transpose(*want.dims)  # where places suffice the order is NumPy's
    for d in want.dims:
        if d in want.coords and (d not in got.coords or not np.allclose(got[d], want[d])):
            return f"coordinates along {d}"
    x, y = got.values.astype(float), np.asarray(want.values, float)
    if x.shape != y.shape:
        return f"shape {x.shape}, not {y.shape}"
    scale = np.max(np.abs(y), where=np.isfinite(y), initial=1.0)
    if not np.allclose(x, y, rtol=1e-9, atol=1e-10 * scale, equal_nan=True):
        return f"values differ by {np.nanmax(np.abs(x - y))}"
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("rdim")
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--months", action="store_true", help="climatologies, too")
    o = p.parse_args()
    if o.months:
        KINDS.extend([by_month, by_month])
    equal = refused = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(o.first, o.first + o.count):
            rng = random.Random(seed)
            variables = make_files(folder, rng)
            try:
                with np.errstate(all="ignore"):
                    node = program(rng, variables, rng.randrange(1, 4))
                text, want = node.text, node.value
            except Refused as e:
                got, error = run(o.rdim, folder, str(e))
                refused += got is None
                if got is not None:
                    bad += 1
                    print(f"seed {seed}: {e}\n  not refused\n  {({n: v[1].dims for n, v in variables.items()})}", flush=True)
                continue
            if len(text) > 3000 or not isinstance(want, xr.DataArray):
                continue
            got, error = run(o.rdim, folder, text)
            what = error if got is None else compare(got, want)
            if what:
                bad += 1
                print(f"seed {seed}: {text}\n  {what}\n  {({n: v[1].dims for n, v in variables.items()})}", flush=True)
            equal += not what
    print(f"{equal} equal, {refused} refused by both, {bad} differ")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
