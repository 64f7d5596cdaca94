#!/bin/sh
set -eu

usage() {
    cat <<'END'
usage: sh cmake/run.sh WORD

  demo      build the program, prune a generated session and show what happened
  test      build and run all tests with g++
  clang     the same with clang++
  asan      the same with clang++ and the address and undefined behaviour sanitizers
  headers   compile every header on its own, with clang++
  release   the same with -O3, benchmarks built too
  bench     build and run the benchmarks
  reference make the reference of all public names with Doxygen; what is not documented is an error
  coverage  run all tests, and show which lines of the headers they ran
  fuzz      run each fuzz target for COPPICE_FUZZ_SECONDS, or 60, from its seeds
  mutation  break the headers in one place after the other; a test must notice each time
  tsan      run the tests of what threads may share with the thread sanitizer
  valgrind  run the program and the tests of what reads bytes under valgrind

Missing tools and libraries are installed with apt-get where that is possible.
END
}

say() { printf 'coppice: %s\n' "$*" >&2; }

[ $# -eq 1 ] || { usage >&2; exit 2; }
word=$1
compiler=g++
libraries='nlohmann-json3-dev libfmt-dev libsimdjson-dev doctest-dev'
case $word in
    demo) compiler=${CXX:-c++} libraries='nlohmann-json3-dev libfmt-dev libsimdjson-dev' ;;
    test) ;;
    # Their presets compile the benchmarks too, so that they cannot rot.
    clang) compiler=clang++ libraries="$libraries libbenchmark-dev" ;;
    asan) compiler=clang++ libraries="$libraries libbenchmark-dev libclang-rt-dev" ;;
    headers) compiler=clang++ ;;
    release | bench) compiler=${CXX:-c++} libraries="$libraries libbenchmark-dev" ;;
    reference) compiler=${CXX:-c++} libraries='nlohmann-json3-dev libfmt-dev doxygen' ;;
    coverage) compiler=clang++ libraries="$libraries libclang-rt-dev llvm" ;;
    fuzz | tsan) compiler=clang++ libraries="$libraries libclang-rt-dev" ;;
    mutation) compiler=clang++ libraries="$libraries patch" ;;
    valgrind) libraries="$libraries valgrind" ;;
    -h | --help | help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# --- what the word needs ---------------------------------------------------------------------------------------

has_cmake() {
    command -v cmake >/dev/null 2>&1 || return 1
    # shellcheck disable=SC2046
    set -- $(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    [ $# -eq 2 ] || return 1
    [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}

# Asks the compiler itself, and looks where CMake would look besides (the compiler may be what is missing).
has_header() {
    printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | $compiler -x c++ -E - >/dev/null 2>&1 && return 0
    for prefix in $(printf %s "${CMAKE_PREFIX_PATH:-}" | tr ':;' '  ') /usr /usr/local /opt/homebrew; do
        [ -e "$prefix/include/$1" ] && return 0
    done
    return 1
}

# The run time of the sanitizers is a package of its own on some systems.
has_sanitizers() {
    echo 'int main() { return 0; }' | $compiler -x c++ -fsanitize=address,undefined -o /dev/null - >/dev/null 2>&1
}

has() {
    case $1 in
        clang) command -v clang++ >/dev/null 2>&1 ;;
        libclang-rt-dev) has_sanitizers ;;
        g++) command -v "${compiler%% *}" >/dev/null 2>&1 ;;
        cmake) has_cmake ;;
        ninja-build) command -v ninja >/dev/null 2>&1 ;;
        nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
        libfmt-dev) has_header fmt/format.h ;;
        libsimdjson-dev) has_header simdjson.h ;;
        doctest-dev) has_header doctest/doctest.h ;;
        libbenchmark-dev) has_header benchmark/benchmark.h ;;
        doxygen) command -v doxygen >/dev/null 2>&1 ;;
        llvm) command -v "$($compiler -print-prog-name=llvm-cov 2>/dev/null)" >/dev/null 2>&1 ;;
        patch | valgrind) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

missing() {
    compiler_package=g++
    [ "$compiler" != clang++ ] || compiler_package=clang
    for package in $compiler_package cmake ninja-build $libraries; do
        has "$package" || printf '%s ' "$package"
    done
}

# names FAMILY APT-NAME...: the same packages as another system calls them
names() {
    family=$1
    shift
    for package; do
        case $family:$package in
            dnf:g++) set -- gcc-c++ ;;
            pacman:g++ | brew:g++) set -- gcc ;;
            brew:clang | brew:libclang-rt-dev) set -- llvm ;;
            dnf:libclang-rt-dev | pacman:libclang-rt-dev) set -- compiler-rt ;;
            pacman:ninja-build | brew:ninja-build) set -- ninja ;;
            dnf:nlohmann-json3-dev) set -- json-devel ;;
            pacman:nlohmann-json3-dev | brew:nlohmann-json3-dev) set -- nlohmann-json ;;
            dnf:libfmt-dev) set -- fmt-devel ;;
            pacman:libfmt-dev | brew:libfmt-dev) set -- fmt ;;
            dnf:libsimdjson-dev) set -- simdjson-devel ;;
            pacman:libsimdjson-dev | brew:libsimdjson-dev) set -- simdjson ;;
            dnf:doctest-dev) set -- doctest-devel ;;
            pacman:doctest-dev | brew:doctest-dev) set -- doctest ;;
            dnf:libbenchmark-dev) set -- google-benchmark-devel ;;
            pacman:libbenchmark-dev) set -- benchmark ;;
            brew:libbenchmark-dev) set -- google-benchmark ;;
            brew:patch) set -- gpatch ;;
            *) set -- "$package" ;;
        esac
        printf ' %s' "$1"
    done
}

give_up() {
    say "cannot run '$word': $1"
    shift
    for package; do
        case $package in
            g++) say "  missing: a C++20 compiler ($compiler)" ;;
            clang) say '  missing: a C++20 compiler (clang++)' ;;
            libclang-rt-dev) say "  missing: the run time of $compiler's sanitizers" ;;
            cmake) say '  missing: cmake 3.25 or newer' ;;
            ninja-build) say '  missing: ninja' ;;
            doxygen) say '  missing: doxygen' ;;
            llvm) say '  missing: llvm-cov and llvm-profdata, of the version of clang++' ;;
            patch | valgrind) say "  missing: $package" ;;
            *) say "  missing: the library$(names pacman "$package")" ;;
        esac
    done
    say "install them and run this again:"
    say "  Debian, Ubuntu   apt-get install $*"
    say "  Fedora           dnf install$(names dnf "$@")"
    say "  Arch             pacman -S$(names pacman "$@")"
    say "  Homebrew         brew install$(names brew "$@")"
    exit 1
}

install_missing() {
    packages=$(missing)
    [ -n "$packages" ] || return 0
    # shellcheck disable=SC2086
    command -v apt-get >/dev/null 2>&1 || give_up 'there is no apt-get here to install with' $packages
    if [ "$(id -u)" -eq 0 ]; then
        sudo=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo='sudo -n'
    else
        # shellcheck disable=SC2086
        give_up 'installing needs root, or sudo without a password' $packages
    fi
    say "installing $packages"
    apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
    # Stale lists are only a problem when the install fails, which is reported.
    $apt update </dev/null >/dev/null || say 'apt-get update failed, trying with the lists there are'
    # shellcheck disable=SC2086
    $apt install -y --no-install-recommends $packages </dev/null >/dev/null ||
        give_up 'apt-get install failed' $packages
    hash -r
    packages=$(missing)
    # shellcheck disable=SC2086
    [ -z "$packages" ] || give_up 'still missing or too old after apt-get install' $packages
}

# --- the words -------------------------------------------------------------------------------------------------

size() { wc -c <"$1" | tr -d ' '; }

demo() {
    dir=build/demo
    mkdir -p "$dir"
    printf 'Building (about a minute the first time) ...\n'
    if ! cmake --workflow --preset demo >"$dir/build.log" 2>&1; then
        cat "$dir/build.log" >&2
        exit 1
    fi
    "$dir/examples/generate_session" --seed 7 --results 300 "$dir/session.json"
    "$dir/examples/coppice" prune --report "$dir/report.json" "$dir/session.json" "$dir/pruned.json"
    "$dir/examples/coppice" explain "$dir/session.json" >"$dir/explain.txt"

    before=$(size "$dir/session.json")
    after=$(size "$dir/pruned.json")
    printf '\n  a session with 300 tool results  %9d bytes   %s\n' "$before" "$dir/session.json"
    printf '  after "coppice prune"            %9d bytes   %s\n' "$after" "$dir/pruned.json"
    printf '  saved                            %8d%%          %s\n' \
        $(((before - after) * 100 / before)) "$dir/report.json"
    printf '\nThe first lines of "coppice explain":\n\n'
    sed -n '1,14s/^/  /p' "$dir/explain.txt"
    printf '  ... (%d lines, %s)\n' "$(wc -l <"$dir/explain.txt")" "$dir/explain.txt"
}

bench() {
    cmake --preset release
    cmake --build --preset bench
    ran=no
    for program in build/release/benchmarks/bench_*; do
        [ -f "$program" ] || continue
        printf '\n%s\n' "${program##*/}"
        "$program"
        ran=yes
    done
    [ "$ran" = yes ] || { say 'there are no benchmarks'; exit 1; }
}

# Both compilers have one standard library here, so that what a header forgot to include, each of them finds.
headers() {
    cmake --preset clang
    cmake --build --preset clang --target all_verify_interface_header_sets
}

reference() {
    cmake --preset reference
    cmake --build --preset reference
    say "see build/reference/html/index.html"
}

build() {
    cmake --preset "$1"
    cmake --build --preset "$1"
}

coverage() {
    build coverage
    rm -rf build/coverage/profiles
    ctest --preset coverage
    sh cmake/coverage.sh build/coverage
}

# What is found stays in the build tree; the seeds are only read.
fuzz() {
    build fuzz
    seconds=${COPPICE_FUZZ_SECONDS:-60}
    for seeds in tests/fuzz/seeds/*; do
        target=${seeds##*/}
        finds=build/fuzz/finds/$target
        mkdir -p "$finds"
        printf '\n%s, %s s\n' "$target" "$seconds"
        "build/fuzz/tests/fuzz/coppice_fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
            -artifact_prefix="$finds/" -verbosity=0 -print_final_stats=1 "$finds" "$seeds"
    done
}

mutation() { sh cmake/mutation.sh; }

tsan() {
    build tsan
    build/tsan/tests/coppice_thread_tests
}

# Its own words would be lost among those of what it runs.
watched() { valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$@"; }

valgrind_all() {
    build valgrind
    dir=build/valgrind
    "$dir/examples/generate_session" --seed 7 --results 60 "$dir/session.json"
    for via in wire dom; do
        watched "$dir/examples/coppice" prune --preset standard --via "$via" --report "$dir/report.json" \
            "$dir/session.json" "$dir/pruned-$via.json"
    done
    cmp "$dir/pruned-wire.json" "$dir/pruned-dom.json"
    watched "$dir/tests/coppice_memory_tests"
}

install_missing
case $word in
    demo) demo ;;
    coverage) coverage ;;
    fuzz) fuzz ;;
    mutation) mutation ;;
    tsan) tsan ;;
    valgrind) valgrind_all ;;
    bench) bench ;;
    headers) headers ;;
    reference) reference ;;
    *) exec cmake --workflow --preset "$word" ;;
esac
