# Shared by the scripts beside it, which source it: where the repository is, packages, steps.
# shellcheck shell=bash
set -euo pipefail
exec < /dev/null                    # nothing here asks; without a terminal nothing may wait for one
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# What a Debian 12 without recommended packages needs to build the library, its examples and its tests; those from
# zlib on are for files that the command reads, and pictures; it is built without them, too.
# shellcheck disable=SC2034  # for the scripts that source this
build_packages=(gcc libc6-dev cmake ninja-build pkg-config check zlib1g-dev libnetcdf-dev libhdf5-dev
                libudunits2-dev libdeflate-dev libjson-c-dev libblosc-dev libzstd-dev libeccodes-dev
                libcairo2-dev fonts-dejavu-core)
# shellcheck disable=SC2034
python_packages=(python3 python3-dev python3-venv)

# install PACKAGE...: installs those that are missing, and names them before it does.
install() {
    local missing=() package as_root=() log
    if ! command -v apt-get > /dev/null; then
        echo "no apt-get here, so these must be installed already: $*"
        return
    fi
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] ||
            missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    echo "installing: ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo > /dev/null || { echo "this needs root or sudo" >&2; return 1; }
        as_root=(sudo)
    fi
    log=$(mktemp)
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3)
    if ! { "${as_root[@]}" update && "${as_root[@]}" install --no-install-recommends "${missing[@]}"; } &> "$log"
    then
        cat "$log" >&2
        return 1
    fi
    rm "$log"
}

# step NAME COMMAND...: a heading, the command, its seconds.  The first failure ends the script.
step() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    "$@" || { echo "== FAILED: $name, after $((SECONDS - start)) s"; exit 1; }
    echo "== $name: $((SECONDS - start)) s"
}

# python_environment FOLDER REQUIREMENTS: an environment of python3's with these packages of PyPI, and nothing of others;
# made again when the list has changed.
python_environment() {
    local here=$1 wanted=$2
    if cmp -s "$wanted" "$here/requirements.txt"; then return; fi
    install "${python_packages[@]}" && rm -rf "$here" && python3 -m venv "$here" &&
        PYTHONPATH='' "$here/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" &&
        cp "$wanted" "$here/requirements.txt"
}

# python_build [TARGET...]: the package in build/release/python, links to its sources beside the extension; and more.
python_build() {
    cmake --preset release -DRDIM_PYTHON=ON -DRDIM_WERROR=ON &&
        cmake --build --preset release --target rdim_python "$@"
}
