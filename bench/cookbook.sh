#!/bin/bash
# cookbook.sh [DIRECTORY]: times the jobs of docs/cookbook.md on a NetCDF-4 file of 1 GB beside CDO, and NCO where it has
# them (Debian's cdo and nco), and looks whether the results are CDO's.  Files are made in DIRECTORY, or build/cookbook,
# and stay in the system's file cache: what is timed is computing.  RDIM names another command.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
rdim=${RDIM:-$here/build/release/bin/rdim}
threads=$(nproc)
cd "$(mkdir -p "${1:-$here/build/cookbook}" && cd "${1:-$here/build/cookbook}" && pwd)"

for command in cdo ncra; do
    command -v $command > /dev/null || { echo "cookbook.sh: no $command; Debian has cdo and nco" >&2; exit 1; }
done

# random FILE STEPS SEED: temperatures of a grid of half a degree, no two steps alike.
random() {
    [[ -e $1 ]] || cdo -s -f nc4 -b F32 -setname,tas -addc,255 -mulc,30 -add "-random,r720x360,$3" \
        -enlarge,r720x360 -mulc,0.001 "-for,1,$2" "$1"
}
random tas.nc 1000 1
for k in 1 2 3 4; do random member_$k.nc 250 $k; done
[[ -e deflated.nc ]] || cdo -s -f nc4 -z zip_1 -b F32 copy member_1.nc deflated.nc

# seconds FILE COMMAND...: the least of three runs, each of which makes the file anew: rdim, which keeps an old file until
# the new one is on the disk, would else wait for that.
seconds() {
    local file=$1 best=0 begin took
    shift
    for _ in 1 2 3; do
        rm -f "$file"
        begin=$(date +%s%N)
        "$@" > /dev/null 2> why || { cat why >&2; echo "cookbook.sh: failed: $*" >&2; exit 1; }
        took=$(($(date +%s%N) - begin))
        best=$((best == 0 || took < best ? took : best))
    done
    awk "BEGIN { printf \"%.3f\", $best / 1e9 }"
}

# job NAME TOLERANCE 'RDIM ARGUMENTS' 'CDO OPERATORS' ['NCO COMMAND']: arguments are split at |.
job() {
    local ours cdos ncos="" far rdim_arguments cdo_arguments
    IFS='|' read -ra rdim_arguments <<< "$3"
    IFS=' ' read -ra cdo_arguments <<< "$4"
    rm -f ours.nc cdo.nc nco.nc
    ours=$(seconds ours.nc "$rdim" "${rdim_arguments[@]}" -o ours.nc)
    cdos=$(seconds cdo.nc cdo -s -O -P "$threads" "${cdo_arguments[@]}" cdo.nc)
    if [[ -n ${5-} ]]; then
        IFS=' ' read -ra nco_arguments <<< "$5"
        ncos=$(seconds nco.nc "${nco_arguments[@]}" nco.nc)
    fi
    far=$("$rdim" "max(abs(float64(a) - b))" a=ours.nc:tas b=cdo.nc:tas | tail -1)
    awk -v name="$1" -v a="$ours" -v b="$cdos" -v c="$ncos" -v far="$far" -v most="$2" 'BEGIN {
        printf "| %s | %.2f | %.2f | %.1f | %s | %s | %.1e |\n", name, a, b, b / a, c == "" ? "" : sprintf("%.2f", c),
               c == "" ? "" : sprintf("%.1f", c / a), far
        if (!(far <= most)) { printf "cookbook.sh: %s differs by %g\n", name, far > "/dev/stderr"; exit 1 } }'
}

members=$(echo member_{1,2,3,4}.nc)
echo "| job | rdim, s | cdo, s | cdo / rdim | nco, s | nco / rdim | largest difference |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
job "time mean" 1e-3 "tas = nanmean(tas, axis='time')|tas.nc" "timmean tas.nc" "ncra -O tas.nc"
job "time mean, deflated" 1e-3 "tas = nanmean(tas, axis='time')|deflated.nc" "timmean deflated.nc" "ncra -O deflated.nc"
job "time std" 1e-3 "tas = nanstd(tas, axis='time')|tas.nc" "timstd tas.nc"
job "time max" 0 "tas = nanmax(tas, axis='time')|tas.nc" "timmax tas.nc" "ncra -O -y max tas.nc"
job "anomaly" 1e-3 "tas = tas - nanmean(tas, axis='time', keepdims=true)|tas.nc" "sub tas.nc -timmean tas.nc"
job "running mean of 3" 1e-3 "tas = rolling_mean(tas, 3, axis='time')|tas.nc" "runmean,3 tas.nc"
job "median" 1e-3 "tas = nanmedian(tas, axis='time')|tas.nc" "timpctl,50 tas.nc -timmin tas.nc -timmax tas.nc"
job "zonal mean" 1e-3 "tas = nanmean(tas, axis='lon', keepdims=true)|tas.nc" "zonmean tas.nc" "ncwa -O -a lon tas.nc"
job "field mean" 1e-3 \
    "tas = nanmean(tas, axis=('lat', 'lon'), weights=cos(deg2rad(lat))[None, :, None], keepdims=true)|tas.nc" \
    "fldmean tas.nc"
job "a box" 0 "tas = tas[:, 100:200, 200:400]|tas.nc" "selindexbox,201,400,101,200 tas.nc" \
    "ncks -O -d lat,100,199 -d lon,200,399 tas.nc"
job "from kelvin" 1e-4 "tas = tas - 273.15|tas.nc" "subc,273.15 tas.nc" "ncap2 -O -v -s tas=tas-273.15f tas.nc"
job "days of frost" 0 "tas = sum(tas < 273.15, axis='time')|tas.nc" "timsum -ltc,273.15 tas.nc"
job "ensemble mean" 1e-3 "tas = nanmean(tas, axis=0)|tas=member_1.nc,member_2.nc,member_3.nc,member_4.nc|--join|member" \
    "ensmean $members" "nces -O $members"
job "ensemble std" 1e-3 "tas = nanstd(tas, axis=0)|tas=member_1.nc,member_2.nc,member_3.nc,member_4.nc|--join|member" \
    "ensstd $members"
