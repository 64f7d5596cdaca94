#!/bin/sh
# Breaks the headers in one place after the other, and demands that a test notices.
#
#     sh cmake/mutation.sh [NAME...]     all, or those of tests/mutation/NAME.patch
#
# The first line of a patch names the test, below tests/, and says what is broken:
#
#     policies/dedup.cpp: results of other calls are taken for duplicates
#     laws.cpp, law 2: ...               what goes red has to be a line that says it checks this law
#
# A policy, a cadence, a guard or a law without a patch is an error, and so is a patch that does not apply, does not
# compile or is not noticed, and a test that is red without one.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
compiler=${CXX:-clang++}
work=$root/build/mutation
patches=$root/tests/mutation
# none of those recorded, so that it takes the same everywhere
export COPPICE_CORPUS="$work/none"

failures=0
wrong() {
    failures=$((failures + 1))
    printf 'coppice: mutation: %s\n' "$*" >&2
}

# --- what there is to break ------------------------------------------------------------------------------------

stem() { basename "$1" "$2"; }

every_part_has_a_patch() {
    for header in "$root"/include/coppice/policies/*.hpp "$root"/include/coppice/cadences/*.hpp \
        "$root"/include/coppice/guards/*.hpp; do
        family=$(basename "$(dirname "$header")")
        name=$(stem "$header" .hpp)
        patch=$patches/$name.patch
        if [ ! -f "$patch" ]; then
            wrong "$family/$name.hpp has no tests/mutation/$name.patch"
            continue
        fi
        [ "$(sed -n 's,^+++ b/,,p' "$patch")" = "include/coppice/$family/$name.hpp" ] ||
            wrong "$name.patch breaks something else than $family/$name.hpp"
        [ "$(test_of "$patch")" = "$family/$name.cpp" ] || wrong "$name.patch is for another test than $family/$name.cpp"
    done
    for law in 1 2 3 4 5 6 7 8 9 10; do
        [ -f "$patches/law_$law.patch" ] || wrong "law $law has no tests/mutation/law_$law.patch"
    done
    for patch in "$patches"/*.patch; do
        name=$(stem "$patch" .patch)
        case $name in
            law_*) [ "$(law_of "$patch")" = "${name#law_}" ] || wrong "$name.patch says it is for another law" ;;
            *)
                ls "$root"/include/coppice/*/"$name.hpp" >/dev/null 2>&1 || wrong "$name.patch is for a header that is gone"
                ;;
        esac
        [ "$(grep -c '^@@' "$patch")" -eq 1 ] || wrong "$name.patch breaks more than one place"
        [ -f "$root/tests/$(test_of "$patch")" ] || wrong "$name.patch names no test"
    done
}

test_of() { sed -n '1s/^\([a-z_\/]*\.cpp\)[,:].*/\1/p' "$1"; }
law_of() { sed -n '1s/^[^,:]*, law \([0-9]*\): .*/\1/p' "$1"; }

# --- building and running ----------------------------------------------------------------------------------------

# Most tests take longer to be optimised than to run as they are.
options() {
    case $1 in
        prefix_stability.cpp) level=-O1 ;;
        *) level=-O0 ;;
    esac
    printf '%s\n' -std=c++20 "$level" -w -DCOPPICE_TEST_WIRE=1 '-DCOPPICE_VERSION="mutation"'
}

# precompile NAME INCLUDE...: what many need, compiled once, in NAME.hpp.gch
precompile() {
    name=$1
    shift
    printf '#include %s\n' "$@" >"$work/$name.hpp"
    # shellcheck disable=SC2046
    "$compiler" $(options "$name") -I"$root/include" -I"$root/tests" -DCOPPICE_SOURCE_DIR="\"$root\"" -x c++-header \
        "$work/$name.hpp" -o "$work/$name.hpp.gch"
}

# compile SOURCE OBJECT HEADERS PRECOMPILED
compile() {
    # made with other options, it would not be taken
    precompiled=$work/$4.hpp
    [ "$1" != prefix_stability.cpp ] || precompiled=$work/none.hpp
    # shellcheck disable=SC2046
    "$compiler" $(options "$1") -include "$precompiled" -I"$3" -I"$root/tests" -DCOPPICE_SOURCE_DIR="\"$root\"" \
        -c "$root/tests/$1" -o "$2"
}

# link OBJECT LAWS PROGRAM: of a function in both, the test's is taken, which comes first
link() { "$compiler" "$1" "$2" "$work/main.o" -lfmt -lsimdjson -pthread -o "$3"; }

# run PROGRAM LOG OPTION...
run() {
    program=$1 log=$2
    shift 2
    timeout 900 "$program" "$@" >"$log" 2>&1
}

# Whether a line that went red says that it checks this law.
checks_law() {
    sed -n 's/^\(\/[^:]*\):\([0-9]*\): ERROR: .*/\1 \2/p' "$1" | sort -u | while read -r file line; do
        sed -n "${line}p" "$file"
    done | grep -Eq "// laws? ([0-9]+, )*$2(,|\$)"
}

is_green() {
    object=$work/green/$(printf %s "$1" | tr / .)
    if [ ! -f "$object.ok" ]; then
        compile "$1" "$object.o" "$root/include" whole
        link "$object.o" "$work/laws.o" "$object"
        run "$object" "$object.log" || return 1
        grep -Eq 'test cases: +[1-9]' "$object.log" || return 1
        : >"$object.ok"
        rm -f "$object.o" "$object"
    fi
}

break_and_run() {
    patch=$1
    name=$(stem "$patch" .patch)
    test=$(test_of "$patch")
    law=$(law_of "$patch")
    if ! is_green "$test"; then
        wrong "tests/$test is red without a patch"
        return
    fi
    rm -rf "$work/broken"
    mkdir "$work/broken"
    cp -R "$root/include" "$work/broken/include"
    if ! (cd "$work/broken" && patch -p1 -F0 -s --no-backup-if-mismatch <"$patch" >"$work/patch.log" 2>&1); then
        cat "$work/patch.log" >&2
        wrong "$name.patch does not apply any more"
        return
    fi
    laws=$work/laws.o
    # what is compiled there is made of these
    grep -Eq '^\+\+\+ b/include/coppice/(policies|cadences|guards)/' "$patch" || laws=$work/broken/laws.o
    if ! { compile "$test" "$work/broken/test.o" "$work/broken/include" others &&
        { [ -f "$laws" ] || compile support/laws.cpp "$laws" "$work/broken/include" others; } &&
        link "$work/broken/test.o" "$laws" "$work/broken/test"; }; then
        wrong "$name.patch does not compile"
        return
    fi
    enough=1
    [ -z "$law" ] || enough=200
    if run "$work/broken/test" "$work/broken/log" "--abort-after=$enough"; then
        wrong "$name.patch is not noticed by tests/$test: $(sed -n 1p "$patch")"
    elif [ -n "$law" ] && ! checks_law "$work/broken/log" "$law"; then
        wrong "$name.patch is noticed by tests/$test, but not by what checks law $law"
    else
        killed=$((killed + 1))
        printf 'red  %-18s %s\n' "$name" "$(sed -n 1p "$patch")"
    fi
}

every_part_has_a_patch
mkdir -p "$work"
rm -rf "$work/green" "$work/laws.o"
mkdir "$work/green"
: >"$work/none.hpp"
precompile others '<algorithm>' '<array>' '<filesystem>' '<fstream>' '<functional>' '<map>' '<optional>' '<random>' '<set>' \
    '<sstream>' '<string>' '<thread>' '<vector>' '<doctest/doctest.h>' '<fmt/format.h>' '<nlohmann/json.hpp>' '<simdjson.h>'
precompile whole '"others.hpp"' '<coppice/coppice.hpp>' '<coppice/wire.hpp>' '"support/pruned.hpp"'
compile support/main.cpp "$work/main.o" "$root/include" none
compile support/laws.cpp "$work/laws.o" "$root/include" none
killed=0
count=0
if [ $# -gt 0 ]; then
    for name; do
        count=$((count + 1))
        break_and_run "$patches/$name.patch"
    done
else
    for patch in "$patches"/*.patch; do
        count=$((count + 1))
        break_and_run "$patch"
    done
fi
printf '%d of %d broken headers are noticed\n' "$killed" "$count"
[ "$failures" -eq 0 ] || { printf 'coppice: mutation: %d failures\n' "$failures" >&2; exit 1; }
