"""W15: what is written first about climate files, in the words of three programs.

A row: name, file, {program: words}, how far results may differ, and what else is true of their comparison.  In words
{} is the kind of the files; rdim's are the formula, then what else stands in front of -o.  NCO has no words for some."""
from dataclasses import dataclass, field

FIELD = "nanmean(tas, axis=('lat', 'lon'), weights=cos(deg2rad(lat)))"
MEMBERS = " ".join("member_{}_%d.nc" % k for k in range(10))
ENSEMBLE = ["tas=member_{}_?.nc", "--join", "member"]


@dataclass
class Job:
    name: str
    rdim: list
    peers: dict = field(default_factory=dict)
    far: float = 0.0
    variable: str = "tas"
    note: str = ""
    part: bool = False  # of the file, as it lies there
    wrong: tuple = ()  # peers, and kinds of files of which their result is another one


def along_time(name, formula, cdo, nco=None, far=2e-3, file="long_{}.nc", note="", part=False, wrong=()):
    peers = {"cdo": f"cdo -s -O {{options}} {cdo} {{output}}"}
    if nco:
        peers["nco"] = nco
    return Job(name, ["tas = " + formula, file], peers, far, note=note, part=part, wrong=wrong)


JOBS = [
    along_time("time mean", "nanmean(tas, axis='time')", "timmean long_{}.nc", "ncra -O -v tas long_{}.nc {output}"),
    along_time("time max", "nanmax(tas, axis='time')", "timmax long_{}.nc", "ncra -O -y max -v tas long_{}.nc {output}",
               wrong=(("nco", "packed"),), note="NCO rounds packed ones to whole numbers"),
    along_time("time std", "nanstd(tas, axis='time')", "timstd long_{}.nc"),
    along_time("monthly climatology", "nanmean(tas, axis='time', by=month(time))", "ymonmean long_{}.nc"),
    along_time("seasonal climatology", "nanmean(tas, axis='time', by=season(time))", "yseasmean long_{}.nc"),
    along_time("seasonal means", "nanmean(tas, axis='time', by=seasonal(time))", "seasmean long_{}.nc"),
    along_time("daily to monthly", "nanmean(tas, axis='time', by=monthly(time))", "monmean long_{}.nc"),
    along_time("yearly max", "nanmax(tas, axis='time', by=yearly(time))", "yearmax long_{}.nc"),
    along_time("monthly anomalies", "tas - nanmean(tas, axis='time', by=month(time))[month(time)]",
               "ymonsub short_{}.nc -ymonmean short_{}.nc", file="short_{}.nc"),
    along_time("anomalies", "tas - nanmean(tas, axis='time')", "sub short_{}.nc -timmean short_{}.nc",
               "ncra -O -v tas short_{}.nc mean.nc && ncwa -O -a time mean.nc mean.nc && "
               "ncbo -O -v tas short_{}.nc mean.nc {output}", file="short_{}.nc"),
    Job("running mean of 5", ["tas[t, i, j] = mean[k in 0:5, skip_nan=true] tas[t + k, i, j]", "short_{}.nc"],
        {"cdo": "cdo -s -O {options} runmean,5 short_{}.nc {output}"}, 2e-3),
    along_time("90th percentile", "nanquantile(tas, 0.9, axis='time', method=inverted_cdf)",
               "timpctl,90 long_{}.nc -timmin long_{}.nc -timmax long_{}.nc", far=0.8,
               note="CDO's is that of a histogram of 101 bins"),
    along_time("zonal mean", "nanmean(tas, axis='lon')", "zonmean -selname,tas long_{}.nc", "ncwa -O -v tas -a lon long_{}.nc {output}"),
    along_time("field mean", FIELD, "fldmean long_{}.nc",
               "ncwa -O -v tas -a lat,lon -w gw long_{}.nc {output}", far=2e-2,
               note="CDO's cells have sides along great circles"),
    along_time("a box", "tas[lat=30..60, lon=200..300]", "sellonlatbox,200,300,30,60 long_{}.nc",
               "ncks -O -v tas -d lat,30.,60. -d lon,200.,300. long_{}.nc {output}", far=1e-3, part=True),
    along_time("a year", "tas[time='1990']", "seldate,1990-01-01,1990-12-31T23:59:59 long_{}.nc",
               "ncks -O -v tas -d time,0.,365. long_{}.nc {output}", far=1e-3, part=True),
    along_time("from kelvin", "tas - 273.15", "subc,273.15 short_{}.nc",
               "ncap2 -O -v -s 'tas=float(tas-273.15)' short_{}.nc {output}", file="short_{}.nc"),
    along_time("days of frost", "sum(tas < 273.155, axis='time')", "timsum -ltc,273.155 long_{}.nc", far=0,
               note="missing is no frost; CDO has it missing"),
    Job("difference of files", ["tas = a - b", "a=short_{}.nc:tas", "b=other_{}.nc:tas"],
        {"cdo": "cdo -s -O {options} sub short_{}.nc other_{}.nc {output}",
         "nco": "ncbo -O -v tas short_{}.nc other_{}.nc {output}"}, 1e-3),
    Job("correlation", ["tas = corr(a, b, axis='time', skip_nan=true)", "a=short_{}.nc:tas", "b=other_{}.nc:tas"],
        {"cdo": "cdo -s -O {options} timcor short_{}.nc other_{}.nc {output}"}, 1e-3),
    Job("ensemble mean", ["tas = nanmean(tas, axis='member')"] + ENSEMBLE,
        {"cdo": f"cdo -s -O {{options}} ensmean {MEMBERS} {{output}}", "nco": f"nces -O -v tas {MEMBERS} {{output}}"}, 2e-3),
    Job("ensemble std", ["tas = nanstd(tas, axis='member')"] + ENSEMBLE,
        {"cdo": f"cdo -s -O {{options}} ensstd {MEMBERS} {{output}}"}, 2e-3),
]

# What is said, so that all write the same: CDO deflates only where it is told to, and would pack what is packed again, in the
# range of the input.  Parts stay packed, by CDO and by NCO.
OPTIONS = {"packed": "-b F32 -z zip_1", "deflated": "-z zip_1", "classic": ""}
PARTS = {"packed": "-z zip_1", "deflated": "-z zip_1", "classic": ""}
