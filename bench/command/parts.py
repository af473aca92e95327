"""W16: what the command does that the library has no part in: names, dates, units, texts, pipes, archives, chunks.

A row: name, rdim's arguments, {peer: words for the shell}, how far the numbers that both print may differ.  Peers are what
one writes first in Python, as processes of their own, and CDO where it reads the file."""
from dataclasses import dataclass, field


@dataclass
class Part:
    name: str
    rdim: str
    peers: dict = field(default_factory=dict)
    far: float = 1e-4


def python(*lines):
    return "python3 -c '" + "\n".join(lines) + "'"


XARRAY = 'import xarray as xr; d = xr.open_dataset("%s"%s)'
HOURS = XARRAY % ("hours.nc", "")
ZARR = XARRAY % ("days.zarr", ', engine="zarr"')

PARTS = [
    Part("start", "'mean(x)' x=3", {"numpy": python("import numpy as np; print(np.mean(3))"), "cdo": "cdo -s output -const,3,r1x1"}),
    Part("list", "--list short_deflated.nc > /dev/null; echo 0",
         {"cdo": "cdo -s sinfon short_deflated.nc > /dev/null; echo 0", "nco": "ncks -m short_deflated.nc > /dev/null; echo 0"}),
    Part("a date", "\"t[time='1984-06-15T12']\" hours.nc",
         {"xarray": python(HOURS, 'print(float(d.t.sel(time="1984-06-15T12").mean()))'),
          "cdo": "cdo -s output -seldate,1984-06-15T12:00:00 hours.nc"}),
    Part("a range of dates", "\"nanmean(t[time='1950'..'1980'])\" hours.nc",
         {"xarray": python(HOURS, 'print(float(d.t.sel(time=slice("1950", "1980")).mean()))')}),
    Part("by month", "\"nanmean(t, axis='time', by=month(time))\" hours.nc -o -:csv",
         {"xarray": python(HOURS, 'print(*d.t.groupby("time.month").mean().values)'),
          "pandas": python(HOURS, "s = d.t.to_series()", "print(*s.groupby(s.index.month).mean())"),
          "cdo": "cdo -s outputf,%.7g -ymonmean hours.nc"}, 2e-3),
    Part("monthly", "\"nanmean(t, axis='time', by=monthly(time))\" hours.nc -o -:csv",
         {"xarray": python(HOURS, 'print(*d.t.resample(time="MS").mean().values)'),
          "pandas": python(HOURS, 'print(*d.t.to_series().resample("MS").mean())'),
          "cdo": "cdo -s outputf,%.7g -monmean hours.nc"}, 2e-3),
    Part("units", "'mean(p + q)' p=hpa.nc:p q=pa.nc:p", {"cdo": "cdo -s outputf,%.9g -fldmean -timmean -add hpa.nc -divc,100 pa.nc"}, 1e-1),
    Part("csv, a column", "'mean(t)' table.csv",
         {"pandas": python('import pandas as pd; print(pd.read_csv("table.csv", usecols=["t"]).t.mean())'),
          "numpy": python('import numpy as np', 'print(np.loadtxt("table.csv", delimiter=",", skiprows=1, usecols=1).mean())')}),
    Part("csv, all", "'mean(t) + mean(u) + mean(id)' table.csv",
         {"pandas": python('import pandas as pd; d = pd.read_csv("table.csv"); print(d.t.mean() + d.u.mean() + d.id.mean())'),
          "numpy": python('import numpy as np', 'print(np.loadtxt("table.csv", delimiter=",", skiprows=1).mean(0).sum())')}),
    Part("csv, written", "'t * 2' table.csv -o -:csv | tail -1",
         {"pandas": python('import pandas as pd, sys', '(pd.read_csv("table.csv", usecols=["t"]) * 2).to_csv(sys.stdout, index=False)')
          + " | tail -1"}),
    Part("a file", "'mean(x)' array.npy",
         {"numpy": python('import numpy as np; print(np.load("array.npy").mean(dtype=float))')}),
    Part("a pipe", "'mean(x)' x=- < array.npy",
         {"numpy": "cat array.npy | " + python('import numpy as np, sys, io', 'print(np.load(io.BytesIO(sys.stdin.buffer.read())).mean(dtype=float))')}),
    Part("an archive", "'mean(x)' archive.npz",
         {"numpy": python('import numpy as np; print(np.load("archive.npz")["x"].mean(dtype=float))')}),
    Part("chunks", "'nanmean(tas)' days.zarr", {"xarray": python(ZARR, "print(float(d.tas.mean(dtype=float)))")}, 2e-2),
    Part("a box of chunks", "\"nanmean(tas[lat=10..20, lon=200..240])\" days.zarr",
         {"xarray": python(ZARR, "print(float(d.tas.sel(lat=slice(10, 20), lon=slice(200, 240)).mean(dtype=float)))")}, 2e-2),
]
