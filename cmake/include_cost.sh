#!/bin/sh
# What does `#include <coppice/coppice.hpp>` cost over the headers that it needs anyway? Prints, for each compiler
# that is there, the time of both as a ratio and the difference, best of five.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <nlohmann/json.hpp>\n#include <fmt/format.h>\nint main() {}\n' >"$work/base.cpp"
printf '#include <coppice/coppice.hpp>\nint main() {}\n' >"$work/coppice.cpp"

best() {
    fastest=
    for _ in 1 2 3 4 5; do
        start=$(date +%s%N)
        "$1" -std=c++20 -O0 -I"$root/include" -fsyntax-only "$2"
        taken=$(($(date +%s%N) - start))
        if [ -z "$fastest" ] || [ "$taken" -lt "$fastest" ]; then fastest=$taken; fi
    done
    echo "$fastest"
}

for compiler in "${CXX:-g++}" clang++; do
    command -v "$compiler" >/dev/null 2>&1 || continue
    base=$(best "$compiler" "$work/base.cpp")
    whole=$(best "$compiler" "$work/coppice.cpp")
    awk -v name="$compiler" -v base="$base" -v whole="$whole" 'BEGIN {
        printf "%-10s coppice/coppice.hpp is %.2f times json.hpp with fmt, %.2f s over it\n", name, whole / base, (whole - base) / 1e9
    }'
done
