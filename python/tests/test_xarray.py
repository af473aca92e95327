"""xarray over Arrays: random programs with xarray over NumPy as the oracle, evaluation, the accessor.

RDIM_XARRAY_PROGRAMS says how many programs run: 500 unless it is set."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable

import numpy as np
import pytest

import rdim as rd

xr = pytest.importorskip("xarray", reason="xarray is not installed: it is not tested")
pd = pytest.importorskip("pandas")
import rdim.xarray  # noqa: E402

PROGRAMS = int(os.environ.get("RDIM_XARRAY_PROGRAMS", "500"))
SEED = 43
Step = Callable[[Any], Any]


# ---- Arrays ---------------------------------------------------------------------------------------------------------
def coordinate(dim: str, n: int) -> Any:
    return {"time": pd.date_range("2001-01-01", periods=n, freq="MS"), "lat": np.linspace(-60, 60, n),
            "lon": np.arange(n) * 10.0}[dim]


def field(rng: Any, dims: tuple[str, ...], dtype: str, sizes: dict[str, int]) -> Any:
    """Multiples of 1/8, some of them missing: sums are exact, and so is what is equal."""
    shape = tuple(sizes[dim] for dim in dims)
    values = np.array(np.round(rng.normal(size=shape) * 16) / 8)
    if dtype == "bool":
        values = values > 0
    elif dtype[0] == "f" and rng.random() < 0.7:
        values[rng.random(shape) < 0.25] = np.nan
    if dtype[0] == "f" and rng.random() < 0.1 and shape:
        values[..., 0] = np.nan
    return xr.DataArray(values.astype(dtype), dims=dims, coords={dim: coordinate(dim, sizes[dim]) for dim in dims}, name="v")


def lazy(x: Any) -> Any:
    return x.copy(data=rd.asarray(x.data)) if isinstance(x, xr.DataArray) else x


def start(rng: Any) -> Any:
    sizes = {dim: int(rng.choice([1, 2, 3, 5, 7, 13])) for dim in ("time", "lat", "lon")}
    dims = tuple(rng.permutation(["time", "lat", "lon"])[: rng.choice([1, 2, 3, 3, 3])].tolist())
    return field(rng, dims, str(rng.choice(["float64", "float64", "float32", "int64", "int32", "bool"])), sizes)


# ---- Steps: a row makes a function of an array, or None where it has no meaning -----------------------------------------
def pick(rng: Any, values: Any) -> Any:
    return values[rng.integers(len(values))]


def some(rng: Any, x: Any) -> Any:
    """Some dimensions, or all of them by None."""
    dims = [dim for dim in x.dims if rng.random() < 0.6]
    return dims or None


def other(rng: Any, x: Any) -> Any:
    """Another array, which has some of x's dimensions, and maybe only some of its coordinates."""
    dims = tuple(dim for dim in x.dims if dim in ("time", "lat", "lon") and rng.random() < 0.7)
    made = field(rng, dims, "float64", dict(x.sizes))
    made = made.assign_coords({dim: x[dim] for dim in dims if x[dim].dims == (dim,)})
    return made.isel({dims[0]: slice(1, None)}) if dims and rng.random() < 0.3 and made.sizes[dims[0]] > 1 else made


def reduction(rng: Any, x: Any) -> Step:
    name, dim = pick(rng, ["sum", "mean", "min", "max", "std", "var", "prod", "count", "median", "any", "all"]), some(rng, x)
    keywords = {} if name in ("count", "any", "all") else {"skipna": pick(rng, [None, True, False])}
    if x.dtype.kind == "b" and name in ("median", "std", "var", "prod"):
        name = "mean"
    return lambda a: getattr(a, name)(dim, **keywords)


def binary(rng: Any, x: Any) -> Step | None:
    if x.dtype.kind == "b":
        return lambda a: a.astype("int64")
    y = pick(rng, [2, 0.5, other(rng, x), other(rng, x)])
    name = pick(rng, ["add", "sub", "mul", "gt", "le", "ne", "rsub"])
    return lambda a: getattr(a, f"__{name}__")(lazy(y) if isinstance(a.data, rd.Array) else y)


def unary(rng: Any, x: Any) -> Step | None:
    if x.dtype.kind == "b":
        return lambda a: ~a
    return pick(rng, [lambda a: -a, abs, lambda a: np.sqrt(abs(a)), lambda a: a.clip(-1, 1), lambda a: a ** 2,
                      lambda a: a.isnull(), lambda a: a.notnull(), lambda a: a.fillna(0), lambda a: a.round(1),
                      lambda a: np.maximum(a, 0.25), lambda a: a.astype("float64"), lambda a: xr.zeros_like(a) + a])


def selection(rng: Any, x: Any) -> Step:
    dim = pick(rng, x.dims)
    n = x.sizes[dim]
    places = rng.integers(0, n, rng.integers(1, 5))
    key = pick(rng, [int(rng.integers(n)), slice(None, None, -1), slice(n // 2, None), slice(0, n, 2), places.tolist(),
                     xr.DataArray(places, dims="p"), xr.DataArray(rng.integers(0, n, (2, 2)), dims=("p", dim)),
                     rng.random(n) < 0.5])
    if len(x.dims) > 1 and rng.random() < 0.3:
        dims = rng.permutation(x.dims)[:2].tolist()
        keys = {one: xr.DataArray(rng.integers(0, x.sizes[one], 4), dims="p") for one in dims}
        return lambda a: a.isel(keys)
    return lambda a: a.isel({dim: key})


def labels(rng: Any, x: Any) -> Step | None:
    if "lat" not in x.indexes:
        return None
    lat = x.indexes["lat"]
    return pick(rng, [lambda a: a.sel(lat=[3.0, -10.0], method="nearest"), lambda a: a.sel(lat=lat[0]),
                      lambda a: a.sel(lat=slice(-30, 60)), lambda a: a.reindex(lat=[-60.0, 1.0, 60.0]),
                      lambda a: a.sortby("lat", ascending=False), lambda a: a.where(a.lat > 0),
                      lambda a: a.where(a.lat > 0, drop=True)])


def mask(rng: Any, x: Any) -> Step | None:
    if x.dtype.kind == "b":
        return lambda a: a.where(a)
    y = other(rng, x)
    of = (lambda a: lazy(y)) if rng.random() < 0.5 else (lambda a: y)
    return pick(rng, [lambda a: a.where(a > 0.0625), lambda a: a.where(a > 0.0625, 7), lambda a: a.where(of(a) > 0.0625),
                      lambda a: xr.where(a > 0.0625, a, of(a)), lambda a: a.fillna(of(a)), lambda a: a.combine_first(of(a))])


def along(rng: Any, x: Any) -> Step | None:
    dim = pick(rng, x.dims)
    n = x.sizes[dim]
    skips = pick(rng, [None, True, False])
    rows: list[Any] = [lambda a: a.shift({dim: 1}), lambda a: a.shift({dim: -2}, fill_value=0), lambda a: a.roll({dim: 1}),
                       lambda a: a.cumsum(dim, skipna=skips), lambda a: a.pad({dim: (1, 2)}),
                       lambda a: a.pad({dim: 1}, mode="edge"), lambda a: xr.concat([a, a], dim),
                       lambda a: xr.concat([a, a], "new")]
    if x.dtype.kind != "b":
        # NumPy's nanquantile has the type of the first row, which is another one where a row of float32 is NaN alone.
        known = skips if x.dtype != "f4" else False
        rows += [lambda a: a.diff(dim), lambda a: a.quantile(0.25, dim, skipna=known),
                 lambda a: a.quantile([0.5, 0.9], dim, skipna=known)]
        if n > 1 and dim in ("lat", "lon") and dim in x.indexes:
            rows += [lambda a: a.differentiate(dim), lambda a: a.integrate(dim), lambda a: a.cumulative_integrate(dim)]
    return pick(rng, rows)


def rolling(rng: Any, x: Any) -> Step | None:
    dims = rng.permutation(x.dims)[: pick(rng, [1, 1, 2])].tolist()
    windows = {dim: int(rng.integers(1, x.sizes[dim] + 1)) for dim in dims}
    keywords = {"center": pick(rng, [False, True]), "min_periods": pick(rng, [None, 1])}
    name = pick(rng, ["sum", "mean", "max", "min", "count", "std", "var", "median"] if x.dtype.kind != "b" else ["sum", "mean"])
    return lambda a: getattr(a.rolling(windows, **keywords), name)()


def coarsen(rng: Any, x: Any) -> Step | None:
    dim = pick(rng, x.dims)
    windows = {dim: int(rng.integers(1, x.sizes[dim] + 1))}
    name, boundary = pick(rng, ["sum", "mean", "max", "min", "count"]), pick(rng, ["trim", "pad"])
    if x.dtype.kind == "b":
        return None
    return lambda a: getattr(a.coarsen(windows, boundary=boundary), name)()


def groups(rng: Any, x: Any) -> Step | None:
    if "time" not in x.indexes or not isinstance(x.indexes["time"], pd.DatetimeIndex) or x.dtype.kind == "b":
        return None
    name = pick(rng, ["sum", "mean", "max", "min", "count", "std", "median", "first", "last"])
    if not x.indexes["time"].is_monotonic_increasing or not x.indexes["time"].is_unique:
        return lambda a: getattr(a.groupby("time.month"), name)()
    return pick(rng, [lambda a: getattr(a.groupby("time.season"), name)(), lambda a: getattr(a.resample(time="QS"), name)(),
                      lambda a: a.groupby("time.month") - a.groupby("time.month").mean()])


def products(rng: Any, x: Any) -> Step | None:
    if x.dtype.kind != "f":
        return None
    y, dim = other(rng, x), pick(rng, x.dims)
    if "lat" in x.indexes and rng.random() < 0.5:
        w = xr.DataArray(rng.integers(1, 9, x.sizes["lat"]) / 8, dims="lat", coords={"lat": x.lat})
        return pick(rng, [lambda a: a.weighted(w).mean("lat"), lambda a: a.weighted(w).sum(), lambda a: a.weighted(w).std("lat")])
    if y.dims != x.dims:
        return lambda a: xr.dot(a, y)
    return pick(rng, [lambda a: xr.cov(a, y, dim), lambda a: xr.corr(a, y, dim), lambda a: xr.dot(a, y, dim=dim)])


def shapes(rng: Any, x: Any) -> Step | None:
    dims = rng.permutation(x.dims).tolist()
    rows: list[Any] = [lambda a: a.transpose(*dims), lambda a: a.expand_dims("one"), lambda a: a.expand_dims(two=2), lambda a: a.squeeze()]
    if len(dims) > 1 and all(x.indexes[dim].is_unique for dim in dims if dim in x.indexes):
        rows += [lambda a: a.stack(z=dims[:2]), lambda a: a.stack(z=dims[:2]).unstack("z")]
    return pick(rng, rows)


def extremes(rng: Any, x: Any) -> Step | None:
    """Places of extremes."""
    dim = pick(rng, x.dims)
    if x.dtype.kind != "f":
        return None
    rows = [lambda a: a.fillna(0).argmax(dim), lambda a: a.fillna(0).argmin(dim)]
    if dim in ("lat", "lon") and len(x.dims) > 1:  # of one dimension, and of dates, xarray refuses the lazy places
        rows.append(lambda a: a.idxmax(dim))
    return pick(rng, rows)


ANY = [reduction, binary, unary, selection, labels, along, rolling, coarsen, groups, products, shapes]
EXACT = [mask, extremes]  # a difference in the last bit would be another result


# ---- Programs ---------------------------------------------------------------------------------------------------------
def close(got: Any, want: Any, what: str) -> None:
    assert got.dims == want.dims and got.dtype == want.dtype, f"{what}: {got.dims} {got.dtype}, NumPy: {want.dims} {want.dtype}"
    assert set(got.coords) == set(want.coords), what
    for name in want.coords:
        assert want[name].equals(got[name].compute()), f"{what}: coordinate {name}"
    values, wanted = np.asarray(got.data), np.asarray(want.data)
    single = wanted.dtype == "f4" or "float32" in what
    rtol, scale = (2e-4, 2e-4) if single else (1e-8, 1e-9)
    known = np.abs(wanted[np.isfinite(wanted)]) if wanted.dtype.kind == "f" else np.zeros(0)
    np.testing.assert_allclose(values, wanted, rtol=rtol, atol=scale * max(1.0, known.max(initial=0)), err_msg=what)


def run(seed: int) -> int:
    """Runs a program, and says how many of its steps were compared."""
    compared = 0
    rng = np.random.default_rng([SEED, seed])
    x = start(rng)
    y, what = lazy(x), f"program {seed}: {x.dtype} {dict(x.sizes)}"
    for step in range(rng.integers(1, 4)):
        if x.size == 0 or not x.dims or x.dtype.kind not in "biuf":
            break
        row = pick(rng, ANY + (EXACT if step == 0 else []))
        function = row(rng, x)
        if function is None:
            continue
        state = rng.bit_generator.state
        try:
            x = function(x)
        except (ValueError, TypeError, NotImplementedError, KeyError, pd.errors.InvalidIndexError):
            continue  # xarray itself refuses
        if x.dtype.kind not in "biuf":
            break  # bools of which some are missing are objects in xarray, and a TypeError here
        rng.bit_generator.state = state
        what += f", {row.__name__}"
        y = function(y)
        assert isinstance(y.data, rd.Array), f"{what}: evaluated"
        close(y, x, what)
        compared += 1
    return compared


@pytest.mark.parametrize("part", range(10))
@pytest.mark.filterwarnings("ignore")
def test_programs(part: int) -> None:
    with np.errstate(all="ignore"), xr.set_options(use_flox=False), rd.options(threads=1):
        compared = [run(seed) for seed in range(part, PROGRAMS, 10)]
    assert np.mean(compared) > 1


# ---- Evaluation and the accessor ----------------------------------------------------------------------------------------
def dataset() -> Any:
    rng = np.random.default_rng(SEED)
    sizes = {"time": 13, "lat": 4, "lon": 5}
    v, w = (field(rng, ("time", "lat", "lon"), "float64", sizes).rename(name) for name in "vw")
    return xr.Dataset({"v": v, "w": w, "day": ("time", v.time.data)}).assign_attrs(source="here")


def test_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    from rdim import _core

    runs: list[int] = []
    compute_many = _core.compute_many
    monkeypatch.setattr(_core, "compute_many", lambda arrays: runs.append(len(arrays)) or compute_many(arrays))
    ds = dataset()
    made = ds.rdim.lazy().drop_vars("day") * 2
    for evaluate in (lambda one: one.compute(), lambda one: one.rdim.compute(), lambda one: one.copy(deep=False).load()):
        runs.clear()
        got = evaluate(made)
        assert runs == [2], "both variables in one run"
        assert all(isinstance(one.data, np.ndarray) for one in got.data_vars.values())
        assert all(isinstance(one.data, rd.Array) for one in made.data_vars.values()), "the dataset stays lazy"
        xr.testing.assert_identical(got, ds.drop_vars("day") * 2)
        assert isinstance(evaluate(made.v).data, np.ndarray) and isinstance(made.v.data, rd.Array)
    kept = made.persist()
    assert isinstance(kept.v.data, rd.Array) and kept.v.data is not made.v.data
    xr.testing.assert_identical(kept.compute(), got)
    assert isinstance(made.v.variable.compute().data, np.ndarray)


def test_accessor() -> None:
    ds = dataset()
    assert ds.rdim.lazy().day.dtype.kind == "M", "dates stay NumPy's"
    before = ds.v.data.copy()
    got = ds.rdim.mean("time")
    assert isinstance(got.v.data, rd.Array)
    xr.testing.assert_allclose(got.compute(), ds.mean("time"))
    for one in (ds.v.rdim.groupby("time.month").max(), ds.v.rdim.rolling(time=3).mean()):
        assert isinstance(one.data, rd.Array)
    np.testing.assert_array_equal(ds.v.data, before)
    with pytest.raises(AttributeError):
        ds.rdim.no_such_method
    assert "groupby" in dir(ds.v.rdim)


@pytest.mark.parametrize("dim", ["time", "lat", "lon"])
def test_what_xarray_evaluates(dim: str) -> None:
    ds = dataset()
    x = ds.v.rename(None)
    table = pd.DataFrame(np.moveaxis(x.data, x.get_axis_num(dim), 0).reshape(x.sizes[dim], -1))

    def as_table(made: Any) -> Any:
        assert isinstance(made.data, rd.Array) and made.dims == x.dims
        return np.moveaxis(made.values, x.get_axis_num(dim), 0).reshape(x.sizes[dim], -1)

    np.testing.assert_array_equal(as_table(x.rdim.rank(dim)), table.rank())
    np.testing.assert_allclose(as_table(x.rdim.rank(dim, pct=True)), table.rank(pct=True))
    for limit in (None, 1, 2):
        np.testing.assert_array_equal(as_table(x.rdim.ffill(dim, limit)), table.ffill(limit=limit))
        np.testing.assert_array_equal(as_table(x.rdim.bfill(dim, limit)), table.bfill(limit=limit))
    with pytest.raises(ValueError, match="limit"):
        x.rdim.ffill(dim, 0)
    assert set(ds.rdim.rank("lat").data_vars) == {"v", "w"} and set(ds.rdim.ffill("lat").data_vars) == set(ds.data_vars)


def test_pandas_sees_what_is_missing() -> None:
    a = np.array([[1.0, np.nan], [np.nan, 2.0]])
    np.testing.assert_array_equal(pd.isnull(rd.asarray(a)), np.isnan(a))


def test_assignment() -> None:
    ds = dataset()
    x, y = ds.v.copy(), ds.v.rdim.lazy()
    for one in (x, y):
        one[{"time": 0}] = 5
        one.loc[{"lon": slice(10, 20)}] = -1
        one[{"lat": xr.DataArray([0, 1], dims="p"), "lon": xr.DataArray([2, 3], dims="p")}] = 9
    xr.testing.assert_identical(y.compute(), x)
    np.testing.assert_array_equal(ds.v.data, dataset().v.data)
