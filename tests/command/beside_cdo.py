#!/usr/bin/env python3
"""Operators of CDO and formulas of the command on the same files, side by side.

usage: beside_cdo.py RDIM [--data FOLDER] [--only WORD]

By hand: it needs cdo, netCDF4 and NumPy.  FOLDER has coads_sst.npy, and navy_uwnd.npy if it is there; examples/data is
the default.  Each row of ROWS is an operator, a formula, and how far they may differ.  Values and holes are compared,
and times where the result has them.  A row that is explained has a rule that its difference must obey."""
import argparse
import os
import subprocess
import sys
import tempfile

import netCDF4
import numpy as np

FILL = -9e33


# Files: real fields, continued in time with noise, with holes.

def grid(file, lat, lon):
    for name, at, units in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
        file.createDimension(name, len(at))
        v = file.createVariable(name, "f8", (name,))
        v.units = units
        v.standard_name = {"lat": "latitude", "lon": "longitude"}[name]
        v[:] = at


def times(file, at, calendar, units="days since 1982-01-01", bounds=None):
    file.createDimension("time", None)
    v = file.createVariable("time", "f8", ("time",))
    v.units, v.calendar, v.standard_name, v.axis = units, calendar, "time", "T"
    v[:] = at
    if bounds is not None:
        v.bounds = "time_bnds"
        file.createDimension("bnds", 2)
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = bounds


def variable(file, name, dims, values, units, packed=False):
    x = np.ma.masked_invalid(values)
    if packed:
        v = file.createVariable(name, "i2", dims, fill_value=-32768)
        v.scale_factor, v.add_offset = 0.01, 5.0
    else:
        v = file.createVariable(name, "f4", dims, fill_value=FILL)
    v.units = units
    if packed:
        v.set_auto_scale(False)
        v[:] = np.where(x.mask, -32768, np.round((x.filled(0) - 5) * 100)).astype("i2")
    else:
        v[:] = x


def monthly_dates(years):
    """Middles and bounds of months of the Gregorian calendar, in days since 1982-01-01."""
    first = [netCDF4.date2num(netCDF4.num2date(0, "days since 1982-01-01").replace(year=1982 + m // 12, month=m % 12 + 1),
                              "days since 1982-01-01", "standard") for m in range(12 * years + 1)]
    bounds = np.array([first[:-1], first[1:]], dtype=float).T
    return bounds.mean(axis=1), bounds


def holes(x, rng, part=0.05):
    """Some values, some whole places, and one step."""
    x = x.copy()
    x[rng.random(x.shape) < part] = np.nan
    x[:, rng.random(x.shape[1:]) < part] = np.nan
    x[5, :, :] = np.nan
    return x


def daily(sst, n, days, rng):
    """A year of months as days, with noise."""
    month = (np.arange(n) % days) * 12.0 / days
    low = month.astype(int) % 12
    part = (month - month.astype(int))[:, None, None]
    return (sst[low] * (1 - part) + sst[(low + 1) % 12] * part + rng.normal(size=(n,) + sst.shape[1:])).astype("f4")


def make_files(data):
    rng = np.random.default_rng(42)
    sst = np.load(os.path.join(data, "coads_sst.npy"))
    small = sst[:, 5::8, ::9]
    lat, lon = np.arange(-89, 90, 2.0)[5::8], np.arange(21, 381, 2.0)[::9]
    wind = os.path.join(data, "navy_uwnd.npy")
    if os.path.exists(wind):
        u, ulat, ulon = np.load(wind)[:, ::6, ::6], np.arange(90, -91, -15.0), np.arange(0, 360, 15.0)
    else:
        u, ulat, ulon = np.tile(sst[:, ::7, ::9], (11, 1, 1)), np.arange(-90, 91, 15.0), np.arange(0, 360, 18.0)
        u = u + rng.normal(size=u.shape)
    u = holes(u, rng)
    with netCDF4.Dataset("monthly.nc", "w") as f:
        at, bounds = monthly_dates(11)
        times(f, at, "standard", bounds=bounds)
        grid(f, ulat, ulon)
        variable(f, "v", ("time", "lat", "lon"), u, "m s-1", packed=True)
    with netCDF4.Dataset("noleap.nc", "w") as f:
        times(f, np.arange(1095) + 0.5, "noleap")
        grid(f, lat, lon)
        variable(f, "v", ("time", "lat", "lon"), holes(daily(small, 1095, 365, rng), rng), "degC")
    with netCDF4.Dataset("day360.nc", "w") as f:
        times(f, np.arange(720) + 0.5, "360_day")
        grid(f, lat[::-1], lon)
        variable(f, "v", ("time", "lat", "lon"), holes(daily(small, 720, 360, rng), rng)[:, ::-1], "degC", packed=True)
    with netCDF4.Dataset("sixhourly.nc", "w") as f:
        at = np.arange(1824) * 6.0
        times(f, at + 3, "standard", "hours since 1999-12-01", np.array([at, at + 6]).T)
        grid(f, lat, lon)
        x = np.repeat(daily(small, 456, 365.25, rng), 4, axis=0) + rng.normal(size=(1824, 1, 1))
        variable(f, "v", ("time", "lat", "lon"), holes(x, rng), "degC")
    with netCDF4.Dataset("levels.nc", "w") as f:
        at, _ = monthly_dates(2)
        times(f, at, "standard")
        f.createDimension("lev", 4)
        v = f.createVariable("lev", "f8", ("lev",))
        v.units, v.axis, v.positive, v.standard_name = "Pa", "Z", "down", "air_pressure"
        v[:] = [100000, 85000, 50000, 20000]
        grid(f, lat, lon)
        x = np.stack([np.tile(small, (2, 1, 1)) - 12 * k + rng.normal(size=(24,) + small.shape[1:]) for k in range(4)], 1)
        x[rng.random(x.shape) < 0.05] = np.nan
        x[:, :, 3, 4] = np.nan
        variable(f, "v", ("time", "lev", "lat", "lon"), x, "degC")
    with netCDF4.Dataset("fine.nc", "w") as f:
        times(f, np.arange(12) * 30.0 + 15, "360_day")
        grid(f, np.arange(-89, 90, 2.0), np.arange(21, 381, 2.0))
        variable(f, "v", ("time", "lat", "lon"), sst, "degC")
    for k in range(5):
        with netCDF4.Dataset("member_%d.nc" % k, "w") as f:
            times(f, np.arange(24) * 30.0 + 15, "360_day")
            grid(f, lat, lon)
            variable(f, "v", ("time", "lat", "lon"), holes(np.tile(small, (2, 1, 1)) + k, rng) + rng.normal(size=(24, 1, 1)),
                     "degC")


# Rules: what becomes of both results before they are compared.  A rule says why they may differ.

def sums_of_nothing(ours, cdo):
    """The sum of nothing is 0 here, as NumPy's; CDO has a missing value."""
    return np.where(np.isnan(cdo) & (ours == 0), np.nan, ours), cdo


def false_is_known(ours, cdo):
    """A comparison with a missing value is false here; CDO has a missing value."""
    return np.where(np.isnan(cdo) & (ours == 0), np.nan, ours), cdo


def empty_groups(ours, cdo):
    """Groups and periods without data are there, and NaN; CDO leaves them out."""
    flat = ours.reshape((-1,) + cdo.shape[1:])
    return flat[~np.isnan(flat.reshape(len(flat), -1)).all(axis=1)], cdo[~np.isnan(cdo.reshape(len(cdo), -1)).all(axis=1)]


def missing_stays(ours, cdo):
    """A window with a missing value is missing; CDO leaves the value out."""
    return ours, np.where(np.isnan(ours), np.nan, cdo)


def step_stays(ours, cdo):
    """The axis keeps its length, and steps of other dates are missing; CDO leaves them out."""
    return empty_groups(ours, cdo)


def one_value(ours, cdo):
    """CDO has a missing value where the least and the greatest value are the same."""
    with netCDF4.Dataset("levels.nc") as f:
        v = np.ma.filled(f.variables["v"][...], np.nan)
    same = (~np.isnan(v)).sum(axis=0) == 1
    return np.where(same, np.nan, ours), np.where(same, np.nan, cdo)


def one_of_two(ours, cdo):
    """Between a value and a missing one there is none; CDO takes the nearer level, if it has one."""
    return missing_stays(ours, cdo)


def great_circles(ours, cdo):
    """Cells of CDO have sides along great circles, and those at the poles end there; cosines are for small cells."""
    assert np.nanmax(abs(ours - cdo)) < 0.06 * np.nanmax(abs(cdo))
    return cdo, cdo


def as_is(ours, cdo):
    return ours, cdo


# Times: how those of the two results are compared.

def same_times(ours, cdo):
    return ours == cdo


def first_instant(ours, cdo):
    """The time of a period is its first instant; CDO has its middle."""
    ends = ours[1:] + ["9999"]
    return len(ours) >= len(cdo) and all(any(a <= d < b for a, b in zip(ours, ends)) for d in cdo)


def first_of_window(ours, cdo):
    """A window has the time of its first step; CDO has its middle."""
    return len(ours) == len(cdo) and all(a < b for a, b in zip(ours, cdo))


COS = "weights=cos(deg2rad(lat))"
BOX = "axis=('lat', 'lon')"
T, Z, X, Y = "axis='time'", "axis='lev'", "axis='lon'", "axis='lat'"
MONTHLY, NOLEAP, DAY360, SIX, LEVELS, FINE = ("monthly.nc", "noleap.nc", "day360.nc", "sixhourly.nc", "levels.nc", "fine.nc")
MEMBERS = "member_[0-4].nc"
WEIGHTS = ["w=weights.nc"]  # made by `cdo gridweights`, for each row that wants it
PERIOD = dict(times=first_instant, rule=empty_groups)


def row(file, cdo, formula, rule=as_is, times=same_times, tolerance=2e-6, rdim=()):
    """`cdo` has the operator and its arguments; FILE stands for the file, and follows it if it is not there."""
    return dict(file=file, cdo=cdo if "FILE" in cdo else cdo + " FILE", formula=formula, rule=rule, times=times,
                tolerance=tolerance, rdim=list(rdim))


def along_time(file):
    names = dict(timmean="nanmean(v, %s)", timstd="nanstd(v, %s)", timstd1="nanstd(v, %s, ddof=1)", timvar="nanvar(v, %s)",
                 timvar1="nanvar(v, %s, ddof=1)", timmin="nanmin(v, %s)", timmax="nanmax(v, %s)",
                 timrange="nanmax(v, %s) - nanmin(v, %s)", timavg="mean(v, %s)")
    return [row(file, c, f.replace("%s", T)) for c, f in names.items()] + [
        row(file, "timsum", "nansum(v, %s)" % T, rule=sums_of_nothing)]


ROWS = [r for f in (MONTHLY, NOLEAP, DAY360, SIX, LEVELS) for r in along_time(f)] + [
    row(MONTHLY, "--percentile inverted_cdf timpctl,90 FILE -timmin FILE -timmax FILE",
        "nanquantile(v, 0.9, %s, method=inverted_cdf)" % T, tolerance=2e-3),
    row(LEVELS, "timpctl,90 FILE -timmin FILE -timmax FILE", "nanquantile(v, 0.9, %s, method=inverted_cdf)" % T, rule=one_value),
    row(LEVELS, "timpctl,50 FILE -timmin FILE -timmax FILE", "nanquantile(v, 0.5, %s, method=inverted_cdf)" % T, rule=one_value),
    row(DAY360, "timselmean,30", "nanmean(v, %s, by=monthly(time))" % T, **PERIOD),
    row(DAY360, "timselmax,30", "nanmax(v, %s, by=monthly(time))" % T, **PERIOD),
    row(NOLEAP, "timcumsum -setmisstoc,0 FILE", "cumsum(fillna(v, 0), %s)" % T, tolerance=1e-5),
    row(MONTHLY, "sub FILE -timmean FILE", "v - nanmean(v, %s, keepdims=true)" % T),
    row(MONTHLY, "sub FILE -timmean FILE", "v - nanmean(v, %s)" % T),
    row(MONTHLY, "div FILE -timstd FILE", "v / nanstd(v, %s)" % T, tolerance=1e-5),
    row(NOLEAP, "sub FILE -seltimestep,1 FILE", "v - v[0]"),
    row(MONTHLY, "timcor FILE -sqr FILE", "corr(v, v ** 2, %s, skip_nan=true)" % T, tolerance=1e-4),
    row(MONTHLY, "timcovar FILE -sqr FILE", "cov(v, v ** 2, %s, skip_nan=true)" % T, tolerance=1e-4),
    # periods
    row(NOLEAP, "monmean", "nanmean(v, %s, by=monthly(time))" % T, **PERIOD),
    row(NOLEAP, "monstd", "nanstd(v, %s, by=monthly(time))" % T, tolerance=1e-5, **PERIOD),
    row(DAY360, "monmax", "nanmax(v, %s, by=monthly(time))" % T, **PERIOD),
    row(SIX, "monmin", "nanmin(v, %s, by=monthly(time))" % T, **PERIOD),
    row(SIX, "daymean", "nanmean(v, %s, by=daily(time))" % T, **PERIOD),
    row(SIX, "daymax", "nanmax(v, %s, by=daily(time))" % T, **PERIOD),
    row(SIX, "dayrange", "nanmax(v, %s, by=daily(time)) - nanmin(v, %s, by=daily(time))" % (T, T), **PERIOD),
    row(MONTHLY, "yearmean", "nanmean(v, %s, by=yearly(time))" % T, **PERIOD),
    row(MONTHLY, "yearstd1", "nanstd(v, %s, by=yearly(time), ddof=1)" % T, tolerance=1e-5, **PERIOD),
    row(NOLEAP, "yearmax", "nanmax(v, %s, by=yearly(time))" % T, **PERIOD),
    row(MONTHLY, "yearmonmean", "nanmean(v, %s, by=yearly(time), weights=days_in_month(time))" % T, **PERIOD),
    row(NOLEAP, "seasmean", "nanmean(v, %s, by=seasonal(time))" % T, **PERIOD),
    row(SIX, "seasmax", "nanmax(v, %s, by=seasonal(time))" % T, **PERIOD),
    row(NOLEAP, "monsum", "where(sum(v == v, %s, by=monthly(time)) > 0, nansum(v, %s, by=monthly(time)), nan)" % (T, T),
        tolerance=1e-5, **PERIOD),
    # climatologies
    row(MONTHLY, "ymonmean", "nanmean(v, %s, by=month(time))" % T, rule=empty_groups),
    row(DAY360, "ymonstd", "nanstd(v, %s, by=month(time))" % T, rule=empty_groups, tolerance=1e-5),
    row(NOLEAP, "ymonmax", "nanmax(v, %s, by=month(time))" % T, rule=empty_groups),
    row(SIX, "ymonmin", "nanmin(v, %s, by=month(time))" % T, rule=empty_groups),
    row(SIX, "ymonmean", "nanmean(v, %s, by=month(time))" % T, rule=empty_groups),
    row(MONTHLY, "ymonsub FILE -ymonmean FILE", "v - nanmean(v, %s, by=month(time))[month(time)]" % T),
    row(SIX, "ymonsub FILE -ymonmean FILE", "v - nanmean(v, %s, by=month(time))[month(time)]" % T),
    row(NOLEAP, "ymondiv FILE -ymonstd FILE", "v / nanstd(v, %s, by=month(time))[month(time)]" % T, tolerance=1e-5),
    row(NOLEAP, "yseasmean", "nanmean(v, %s, by=season(time))" % T, rule=empty_groups),
    row(DAY360, "yseasstd", "nanstd(v, %s, by=season(time))" % T, rule=empty_groups, tolerance=1e-5),
    row(SIX, "yseasmax", "nanmax(v, %s, by=season(time))" % T, rule=empty_groups),
    row(MONTHLY, "yseassub FILE -yseasmean FILE", "v - nanmean(v, %s, by=season(time))[season(time)]" % T),
    row(NOLEAP, "ydaymean", "nanmean(v, %s, by=(month(time), day(time)))" % T, rule=empty_groups),
    row(DAY360, "ydaymax", "nanmax(v, %s, by=(month(time), day(time)))" % T, rule=empty_groups),
    row(SIX, "ydaymean", "nanmean(v, %s, by=(month(time), day(time)))" % T, rule=empty_groups),
    row(SIX, "dhourmean", "nanmean(v, %s, by=hour(time))" % T, rule=empty_groups),
    row(NOLEAP, "ymonpctl,90 FILE -ymonmin FILE -ymonmax FILE",
        "nanquantile(v, 0.9, %s, by=month(time), method=inverted_cdf)" % T, rule=empty_groups),
    # running
    row(MONTHLY, "runmean,3", "o[t, i, j] = mean[k in 0:3, skip_nan=true] v[t + k, i, j]", times=first_of_window),
    row(MONTHLY, "runmean,3", "rolling_mean(v, 3, %s)" % T, rule=missing_stays, times=first_of_window),
    row(NOLEAP, "runmax,5", "rolling_max(v, 5, %s)" % T, rule=missing_stays, times=first_of_window),
    row(DAY360, "runmin,7", "rolling_min(v, 7, %s)" % T, rule=missing_stays, times=first_of_window),
    row(NOLEAP, "runstd,5", "rolling_std(v, 5, %s)" % T, rule=missing_stays, times=first_of_window, tolerance=1e-5),
    row(NOLEAP, "runstd1,5", "rolling_std(v, 5, %s, ddof=1)" % T, rule=missing_stays, times=first_of_window, tolerance=1e-5),
    row(SIX, "runsum,4", "rolling_sum(v, 4, %s)" % T, rule=missing_stays, times=first_of_window),
    # over the globe
    row(MONTHLY, "zonmean", "nanmean(v, %s)" % X),
    row(MONTHLY, "zonmax", "nanmax(v, %s)" % X),
    row(NOLEAP, "zonstd", "nanstd(v, %s)" % X, tolerance=1e-5),
    row(NOLEAP, "zonrange", "nanmax(v, %s) - nanmin(v, %s)" % (X, X)),
    row(MONTHLY, "zonsum", "nansum(v, %s)" % X, rule=sums_of_nothing),
    row(MONTHLY, "mermax", "nanmax(v, %s)" % Y),
    row(MONTHLY, "mermean", "nanmean(v, %s, weights=w)" % Y, rdim=WEIGHTS, tolerance=1e-5),
    row(NOLEAP, "mermean", "nanmean(v, %s, %s)" % (Y, COS), rule=great_circles),
    row(MONTHLY, "fldmean", "nanmean(v, %s, weights=w)" % BOX, rdim=WEIGHTS, tolerance=1e-5),
    row(MONTHLY, "fldmean", "nanmean(v, %s, %s)" % (BOX, COS), rule=great_circles),
    row(NOLEAP, "fldmean", "nanmean(v, %s, weights=w)" % BOX, rdim=WEIGHTS, tolerance=1e-5),
    row(FINE, "fldmean", "nanmean(v, %s, %s)" % (BOX, COS), tolerance=1e-4),
    row(FINE, "fldstd", "nanstd(v, %s, %s)" % (BOX, COS), tolerance=1e-4),
    row(DAY360, "fldstd", "nanstd(v, %s, weights=w)" % BOX, rdim=WEIGHTS, tolerance=1e-5),
    row(NOLEAP, "fldvar", "nanvar(v, %s, weights=w)" % BOX, rdim=WEIGHTS, tolerance=1e-5),
    row(MONTHLY, "fldmin", "nanmin(v, %s)" % BOX),
    row(LEVELS, "fldmax", "nanmax(v, %s)" % BOX),
    row(MONTHLY, "fldsum", "nansum(v, %s)" % BOX, rule=sums_of_nothing, tolerance=1e-5),
    row(SIX, "fldrange", "nanmax(v, %s) - nanmin(v, %s)" % (BOX, BOX)),
    row(NOLEAP, "fldpctl,90", "nanquantile(v, 0.9, %s, method=inverted_cdf)" % BOX),
    row(NOLEAP, "--percentile linear fldpctl,90", "nanquantile(v, 0.9, %s)" % BOX),
    row(LEVELS, "zonpctl,50", "nanquantile(v, 0.5, %s, method=inverted_cdf)" % X),
    row(NOLEAP, "fldcor FILE -sqr FILE", "corr(v, v ** 2, %s, skip_nan=true, %s)" % (BOX, COS), tolerance=1e-4),
    # levels
    row(LEVELS, "vertmean,weights=FALSE", "nanmean(v, %s)" % Z),
    row(LEVELS, "vertmax", "nanmax(v, %s)" % Z),
    row(LEVELS, "vertmin", "nanmin(v, %s)" % Z),
    row(LEVELS, "vertstd,weights=FALSE", "nanstd(v, %s)" % Z, tolerance=1e-5),
    row(LEVELS, "vertrange", "nanmax(v, %s) - nanmin(v, %s)" % (Z, Z)),
    row(LEVELS, "vertsum", "nansum(v, %s)" % Z, rule=sums_of_nothing),
    row(LEVELS, "vertavg,weights=FALSE", "mean(v, %s)" % Z),
    row(LEVELS, "sellevel,85000", "v[lev=85000]"),
    row(LEVELS, "sellevidx,2", "v[:, 1]"),
    row(LEVELS, "sub FILE -sellevel,50000 FILE", "v - v[lev=50000]"),
    row(LEVELS, "intlevel,60000", "interp(60000.0, lev[::-1], v[:, ::-1], axis=1)", rule=one_of_two),
    # ensembles
    row(MEMBERS, "ensmean", "nanmean(v, axis=0)", rdim=["--join", "member"]),
    row(MEMBERS, "ensstd", "nanstd(v, axis=0)", rdim=["--join", "member"], tolerance=1e-5),
    row(MEMBERS, "ensmin", "nanmin(v, axis=0)", rdim=["--join", "member"]),
    row(MEMBERS, "ensmax", "nanmax(v, axis='member')", rdim=["--join", "member"]),
    row(MEMBERS, "enssum", "nansum(v, axis=0)", rdim=["--join", "member"], rule=sums_of_nothing),
    row(MEMBERS, "ensavg", "mean(v, axis=0)", rdim=["--join", "member"]),
    row(MEMBERS, "enspctl,40", "nanquantile(v, 0.4, axis=0, method=inverted_cdf)", rdim=["--join", "member"]),
    # selection
    row(MONTHLY, "sellonlatbox,30,120,-45,45", "v[lon=30..120, lat=-45..45]"),
    row(NOLEAP, "sellonlatbox,21,180,-30,30", "v[lon=21..180, lat=-30..30]"),
    row(MONTHLY, "sellonlatbox,-60,60,-45,45", "v[lat=-45..45, lon=-60..60]"),
    row(MONTHLY, "seldate,1984-03-01,1985-02-28", "v[time='1984-03'..'1985-02']"),
    row(SIX, "seldate,2000-02-28,2000-03-01", "v[time='2000-02-28'..'2000-03-01']"),
    row(DAY360, "seldate,1982-02-29,1982-03-02", "v[time='1982-02-29'..'1982-03-02']"),
    row(NOLEAP, "selyear,1983", "v[time='1983']"),
    row(MONTHLY, "selmon,6", "v[5::12]"),
    row(NOLEAP, "selmon,6", "where(month(time) == 6, v, nan)", rule=step_stays, times=None),
    row(NOLEAP, "selmon,6/8", "v[6 <= month(time) <= 8]"),
    row(SIX, "selseason,DJF", "v[time=season(time) == 1]"),
    row(SIX, "selhour,9", "v[hour(time) == 9]"),
    row(SIX, "selseason,DJF", "where(season(time) == 1, v, nan)", rule=step_stays, times=None),
    row(SIX, "selhour,9", "v[1::4]"),
    row(SIX, "seltimestep,3/9/2", "v[2:9:2]"),
    row(NOLEAP, "selindexbox,3,5,2,4", "v[:, 1:4, 2:5]"),
    row(NOLEAP, "invertlat", "v[:, ::-1]"),
    # comparisons and masks
    row(NOLEAP, "gec,20", "where(isnan(v), nan, v >= 20)"),
    row(NOLEAP, "ltc,10", "v < 10", rule=false_is_known),
    row(MONTHLY, "gtc,0", "v > 0", rule=false_is_known),
    row(NOLEAP, "gt FILE -timmean FILE", "v > nanmean(v, %s)" % T, rule=false_is_known),
    row(NOLEAP, "ifthen -gtc,20 FILE FILE", "where(v > 20, v, nan)"),
    row(NOLEAP, "ifnotthen -gtc,20 FILE FILE", "where(v <= 20, v, nan)"),
    row(NOLEAP, "ifthenelse -gtc,20 FILE FILE -mulc,2 FILE", "where(isnan(v), nan, where(v > 20, v, 2 * v))"),
    row(NOLEAP, "ifthenc,7 -gtc,20 FILE", "where(v > 20, 7, nan)"),
    row(NOLEAP, "setctomiss,0 -nint FILE", "where(round(v) == 0, nan, round(v))"),
    row(NOLEAP, "setrtomiss,5,15", "where(5 <= v <= 15, nan, v)"),
    row(NOLEAP, "setvrange,5,15", "where(5 <= v <= 15, v, nan)"),
    row(NOLEAP, "setmisstoc,-1", "fillna(v, -1)"),
    row(NOLEAP, "setrtoc,5,15,0", "where(5 <= v <= 15, 0, v)"),
    row(NOLEAP, "timsum -gtc,20 FILE", "sum(v > 20, %s)" % T, rule=false_is_known),
    # arithmetic
    row(MONTHLY, "addc,3", "v + 3"),
    row(MONTHLY, "mulc,2.5", "v * 2.5"),
    row(MONTHLY, "divc,3", "v / 3"),
    row(NOLEAP, "subc,273.15", "v - 273.15"),
    row(MONTHLY, "abs", "abs(v)"),
    row(MONTHLY, "sqrt -abs FILE", "sqrt(abs(v))"),
    row(MONTHLY, "sqrt", "sqrt(v)"),
    row(MONTHLY, "exp", "exp(v)", tolerance=1e-5),
    row(MONTHLY, "ln", "log(v)"),
    row(MONTHLY, "log10 -abs FILE", "log10(abs(v))"),
    row(MONTHLY, "sqr", "v ** 2"),
    row(MONTHLY, "sin", "sin(v)"),
    row(MONTHLY, "reci", "1 / v"),
    row(MONTHLY, "pow,3", "v ** 3"),
    row(NOLEAP, "int", "trunc(v)"),
    row(NOLEAP, "nint", "round(v)"),
    row(MONTHLY, "mul FILE FILE", "v * v"),
    row(MONTHLY, "div FILE -addc,1 -abs FILE", "v / (abs(v) + 1)"),
    row(MONTHLY, "max FILE -mulc,-1 FILE", "maximum(v, -v)"),
    row(NOLEAP, "min FILE -timmean FILE", "fmin(v, nanmean(v, %s))" % T),
    row(NOLEAP, "sub FILE -enlarge,FILE -zonmean FILE", "v - nanmean(v, %s)" % X),
    row(NOLEAP, "sub FILE -enlarge,FILE -fldmean FILE", "v - nanmean(v, %s, weights=w)" % BOX, rdim=WEIGHTS,
        tolerance=1e-5),
    row(LEVELS, "sub FILE -vertmean,weights=FALSE FILE", "v - nanmean(v, %s)" % Z),
    row(MONTHLY, "mulcoslat", "v * cos(deg2rad(lat))"),
    row(MONTHLY, "deltat", "diff(v, %s)" % T, times=None),
]


# Running both.

def run(command, env=None):
    p = subprocess.run(command, capture_output=True, text=True, env=env)
    return p.stdout + p.stderr if p.returncode else None


def main_variable(file):
    sizes = {n: v for n, v in file.variables.items() if n not in file.dimensions and not n.endswith("_bnds")}
    return max(sizes.values(), key=lambda v: v.ndim)


def load(name):
    """Values without axes of one element, holes NaN, and the dates of the axis time."""
    with netCDF4.Dataset(name) as f:
        v = main_variable(f)
        values = np.ma.filled(np.ma.asarray(v[...]).astype(float), np.nan)
        dates = None
        if "time" in v.dimensions:
            t = f.variables["time"]
            if np.abs(t[:]).max() < 1e7:  # yseasmean of CDO 2.1.1 writes times of no year
                at = netCDF4.num2date(t[:], t.units, getattr(t, "calendar", "standard"))
                dates = [d.strftime("%Y-%m-%d %H:%M") for d in np.atleast_1d(at)]
        return np.squeeze(values), dates


def difference(ours, cdo, tolerance):
    """None where they are equal, else a sentence."""
    if ours.shape != cdo.shape:
        return "shapes %s and %s" % (ours.shape, cdo.shape)
    holes = int((np.isnan(ours) != np.isnan(cdo)).sum())
    if holes:
        return "%d holes of one alone" % holes
    scale = np.nanmax(np.abs(cdo), initial=0) if cdo.size and not np.isnan(cdo).all() else 0
    off = np.nanmax(np.abs(ours - cdo), initial=0) if scale else 0
    return "%.3g of %.3g" % (off, scale) if off > tolerance * scale else None


def compare(r, rdim):
    """What is printed of a row: its verdict and the reason."""
    for name in ("cdo.nc", "ours.nc"):
        if os.path.exists(name):
            os.remove(name)
    files = "member_0.nc member_1.nc member_2.nc member_3.nc member_4.nc" if r["file"] == MEMBERS else r["file"]
    told = run(["cdo", "-s", "-O", "-L", "-b", "F64"] + r["cdo"].replace("FILE", files).split() + ["cdo.nc"],
               dict(os.environ, CDO_PCTL_NBINS="2001"))
    if told:
        return "cdo refuses", told.strip().split("\n")[-1]
    if r["rdim"] == WEIGHTS:
        told = run(["cdo", "-s", "-O", "gridweights", r["file"], "weights.nc"])
    formula = r["formula"] if r["formula"].startswith("o[") else "o = " + r["formula"]
    told = run([rdim, formula, "v=" + r["file"] if r["file"] == MEMBERS else r["file"]] + r["rdim"] + ["-o", "ours.nc"])
    if told:
        return "differs", told.strip()
    (ours, our_dates), (cdo, cdo_dates) = load("ours.nc"), load("cdo.nc")
    plain = difference(ours, cdo, r["tolerance"])
    why = []
    if plain:
        left = difference(*r["rule"](ours, cdo), r["tolerance"])
        if left:
            return "differs", left
        why.append(r["rule"].__doc__)
    if r["times"] and our_dates and cdo_dates and our_dates != cdo_dates:
        if not r["times"](our_dates, cdo_dates):
            return "differs", "times: %s and %s" % (our_dates[:3], cdo_dates[:3])
        why.append(r["times"].__doc__)
    return ("explained", " ".join(why)) if why else ("equal", "")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][7:])
    parser.add_argument("rdim")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/data"))
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    rdim, data = os.path.abspath(given.rdim), os.path.abspath(given.data)
    os.environ["RDIM_TIER1"] = "off"
    counts, operators = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files(data)
        for r in ROWS:
            if given.only not in r["cdo"] + r["formula"]:
                continue
            try:
                verdict, why = compare(r, rdim)
            except (OverflowError, IndexError, ValueError, AssertionError) as error:
                verdict, why = "differs", repr(error)
            counts[verdict] = counts.get(verdict, 0) + 1
            operators.add(next(w for w in r["cdo"].split() if w not in ("--percentile", "linear", "inverted_cdf")).split(",")[0])
            print("%-11s %-10s cdo %-44s rdim '%s' %s" % (verdict, r["file"].split(".")[0], r["cdo"], r["formula"], why),
                  flush=True)
        os.chdir("/")
    print(", ".join("%s %d" % c for c in sorted(counts.items())), "of %d rows, %d operators" % (sum(counts.values()),
                                                                                             len(operators)))
    return 1 if counts.get("differs") or counts.get("cdo refuses") else 0


if __name__ == "__main__":
    sys.exit(main())
