"""Files that command.py times programs on: days of a world map of a degree, and what else people have.

A file is made once, under another name first, so one that is there is whole.  The fields are the months of
examples/data/coads_sst.npy, made days, with smooth weather on them, in steps of a hundredth, as archives have them:
numbers that deflate as well as those of a model do.  Land is missing."""
import json
import os
import zlib

import numpy as np

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "data", "coads_sst.npy")
LAT, LON = np.arange(-90.0, 91.0), np.arange(0.0, 360.0)
FILL = np.float32(1e20)
LONG, SHORT, MEMBERS = 3650, 730, 10
BLOCK = 73  # days that are made, and written, at a time


def months_of_the_world():
    """(12, 181, 360), in kelvin; land is NaN."""
    sst = np.load(DATA)
    lat = np.clip(((LAT + 89) / 2).round().astype(int), 0, 89)
    lon = (((LON - 21) % 360) / 2).astype(int)
    return sst[:, lat][:, :, lon] + np.float32(273.15)


def days(first, n, seed):
    """Days `first` to `first` + n - 1: (n, 181, 360) of f32, the same for each call."""
    months = months_of_the_world()
    rng = np.random.default_rng([seed, first])
    coarse = rng.normal(0, 2, (n, 19, 37))
    up, across = np.linspace(0, 17.999, len(LAT)), np.linspace(0, 35.999, len(LON))
    i, j = up.astype(int), across.astype(int)
    a, b = (up - i)[:, None], (across - j)[None, :]
    out = np.empty((n, len(LAT), len(LON)), np.float32)
    for k in range(n):
        at = (first + k) % 365 * 12 / 365 - 0.5
        low, part = int(np.floor(at)), at - np.floor(at)
        c = coarse[k]
        weather = ((c[i][:, j] * (1 - b) + c[i][:, j + 1] * b) * (1 - a)
                   + (c[i + 1][:, j] * (1 - b) + c[i + 1][:, j + 1] * b) * a)
        out[k] = months[low % 12] * (1 - part) + months[(low + 1) % 12] * part + weather
    return np.round(out, 2)


def make(path, write):
    """The file of that name; write(its name until it is whole) makes it where it is not there."""
    if not os.path.exists(path):
        write(path + ".part")
        os.rename(path + ".part", path)
    return path


def netcdf(n, kind, seed):
    """write() of n days: "packed" (i16, deflated), "deflated" (f32), "classic" (f32, 64-bit offsets)."""
    def write(path):
        import netCDF4
        with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET" if kind == "classic" else "NETCDF4") as f:
            for name, at, units, standard in (("time", None, "days since 1990-01-01", "time"),
                                              ("lat", LAT, "degrees_north", "latitude"),
                                              ("lon", LON, "degrees_east", "longitude")):
                f.createDimension(name, None if at is None else len(at))
                v = f.createVariable(name, "f8", (name,))
                v.units, v.standard_name = units, standard
                if at is None:
                    v.calendar, v.axis = "standard", "T"
                else:
                    v[:] = at
            f.createVariable("gw", "f8", ("lat",))[:] = np.cos(np.deg2rad(LAT))
            filters = {} if kind == "classic" else {"zlib": True, "complevel": 1, "shuffle": True,
                                                    "chunksizes": (1, len(LAT), len(LON))}
            v = f.createVariable("tas", "i2" if kind == "packed" else "f4", ("time", "lat", "lon"),
                                 fill_value=-32768 if kind == "packed" else FILL, **filters)
            v.units, v.standard_name = "K", "air_temperature"
            if kind == "packed":
                v.scale_factor, v.add_offset = np.float32(0.01), np.float32(273.15)
            for first in range(0, n, BLOCK):
                part = days(first, min(BLOCK, n - first), seed)
                f["time"][first:first + len(part)] = np.arange(first, first + len(part)) + 0.5
                v[first:first + len(part)] = np.ma.masked_invalid(part)
    return write


def table(path):
    """A million lines of three columns: a whole number, one with six digits, one with all of a double's."""
    rng = np.random.default_rng(1)
    rows = zip(range(10 ** 6), rng.normal(20, 5, 10 ** 6), rng.random(10 ** 6))
    with open(path, "w", encoding="ascii") as f:
        f.write("id,t,u\n")
        f.writelines("%d,%.4f,%r\n" % (k, t, float(u)) for k, t, u in rows)


def hours(path):
    """A station's million hours, f32, deflated: 114 years."""
    import netCDF4
    n = 10 ** 6
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", n)
        v = f.createVariable("time", "f8", ("time",), zlib=True, chunksizes=(1 << 16,))
        v.units, v.calendar, v.standard_name, v.axis = "hours since 1900-01-01", "standard", "time", "T"
        v[:] = np.arange(n)
        v = f.createVariable("t", "f4", ("time",), zlib=True, chunksizes=(1 << 16,))
        v.units = "degC"
        rng = np.random.default_rng(2)
        v[:] = np.round(10 - 10 * np.cos(np.arange(n) * 2 * np.pi / 8766) + rng.normal(0, 3, n), 1)


def array(path):
    """(10000, 1000) of f32, in steps of a hundredth."""
    rng = np.random.default_rng(3)
    with open(path, "wb") as f:
        np.save(f, np.round(rng.normal(20, 5, (10000, 1000)), 2).astype("f4"))


def archive(path):
    """The same array in a deflated .npz."""
    rng = np.random.default_rng(3)
    with open(path, "wb") as f:
        np.savez_compressed(f, x=np.round(rng.normal(20, 5, (10000, 1000)), 2).astype("f4"))


def pressure(units, factor):
    """write() of 10^7 pressures in these units, as (10, 1000, 1000)."""
    def write(path):
        import netCDF4
        with netCDF4.Dataset(path, "w") as f:
            for name, n in (("time", 10), ("lat", 1000), ("lon", 1000)):
                f.createDimension(name, n)
            for name, at, said in (("time", np.arange(10.0), "days since 2000-01-01"),
                                   ("lat", np.linspace(-60, 60, 1000), "degrees_north"),
                                   ("lon", np.arange(1000) * 0.36, "degrees_east")):
                v = f.createVariable(name, "f8", (name,))
                v.units = said
                v[:] = at
            v = f.createVariable("p", "f4", ("time", "lat", "lon"))
            v.units = units
            v[:] = np.random.default_rng(4).normal(1000, 10, (10, 1000, 1000)) * factor
    return write


def zarr(path):
    """Two years of days as a Zarr store of version 2: 20 days of a quarter of the map a chunk, by zlib."""
    chunk = (20, 91, 180)
    os.mkdir(path)

    def say(name, what):
        with open(os.path.join(path, name), "w", encoding="ascii") as f:
            json.dump(what, f)

    def describe(name, shape, chunks, dtype, attributes, fill=None):
        os.mkdir(os.path.join(path, name))
        say(name + "/.zarray", {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "order": "C",
                                "fill_value": fill, "filters": None, "compressor": {"id": "zlib", "level": 1}})
        say(name + "/.zattrs", attributes)

    def put(name, values):
        with open(os.path.join(path, name), "wb") as f:
            f.write(zlib.compress(np.ascontiguousarray(values).tobytes(), 1))

    say(".zgroup", {"zarr_format": 2})
    say(".zattrs", {})
    for name, at, units in (("time", np.arange(SHORT) + 0.5, "days since 1990-01-01"), ("lat", LAT, "degrees_north"),
                            ("lon", LON, "degrees_east")):
        describe(name, [len(at)], [len(at)], "<f8", {"_ARRAY_DIMENSIONS": [name], "units": units})
        put(name + "/0", at)
    describe("tas", [SHORT, len(LAT), len(LON)], chunk, "<f4", {"_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "units": "K"},
             fill="NaN")
    for t in range(0, SHORT, chunk[0]):
        part = days(t, min(chunk[0], SHORT - t), 20)
        for a, y in enumerate(range(0, len(LAT), chunk[1])):
            for b, x in enumerate(range(0, len(LON), chunk[2])):
                whole = np.full(chunk, np.nan, "f4")
                cut = part[:, y:y + chunk[1], x:x + chunk[2]]
                whole[:cut.shape[0], :cut.shape[1], :cut.shape[2]] = cut
                put(f"tas/{t // chunk[0]}.{a}.{b}", whole)


def climate_files(kinds, scale):
    """What the rows of W15 read, in the folder that is the current one; `scale` is of numbers of days."""
    for kind in kinds:
        for name, n, seed in (("long", LONG, 0), ("short", SHORT, 1), ("other", SHORT, 2)):
            make(f"{name}_{kind}.nc", netcdf(max(int(n * scale), 1), kind, seed))
        for k in range(MEMBERS):
            make(f"member_{kind}_{k}.nc", netcdf(max(int(SHORT / 2 * scale), 1), kind, 3 + k))


def other_files():
    """What those of W16 read."""
    for name, write in (("table.csv", table), ("hours.nc", hours), ("array.npy", array), ("archive.npz", archive),
                        ("days.zarr", zarr), ("hpa.nc", pressure("hPa", 1)), ("pa.nc", pressure("Pa", 100))):
        make(name, write)
    make("short_deflated.nc", netcdf(SHORT, "deflated", 1))
