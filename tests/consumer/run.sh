#!/bin/sh
# Installs a build tree into a fresh place, then builds and runs a program of someone else's against it:
# once with find_package(), once with pkg-config, and once in C++.  Called by ctest, which sets the names in capitals.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

echo "== install"
"$CMAKE" --install "$RDIM_BUILD" --prefix "$place/prefix"
lib=$(dirname "$(find "$place/prefix" -name 'librdim.*' | head -n 1)")

echo "== find_package"
"$CMAKE" -G "$GENERATOR" -S "$here" -B "$place/build" -DCMAKE_PREFIX_PATH="$place/prefix" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_MAKE_PROGRAM="$MAKE_PROGRAM"
"$CMAKE" --build "$place/build"
"$place/build/consumer"

echo "== pkg-config"
export PKG_CONFIG_PATH="$lib/pkgconfig"
static=--static
[ "$SHARED" = ON ] && static=
# Flags are words: they must split.
# shellcheck disable=SC2046,SC2086
"$CC" -std=c11 $CFLAGS "$here/main.c" -o "$place/consumer" $("$PKG_CONFIG" --cflags --libs $static rdim) \
    -Wl,-rpath,"$lib"
"$place/consumer" | tee "$place/output"

echo "== C++"
if command -v "$CXX" > /dev/null; then
    # shellcheck disable=SC2046,SC2086
    "$CXX" -std=c++17 $CFLAGS "$here/main.cpp" -o "$place/consumer++" \
        $("$PKG_CONFIG" --cflags --libs $static rdim) -Wl,-rpath,"$lib"
    (cd "$place" && ./consumer++)
else
    echo "no $CXX here"
fi

# The version stands in CMakeLists.txt and in the header.
grep -qx "rdim $("$PKG_CONFIG" --modversion rdim): 6 15" "$place/output"
