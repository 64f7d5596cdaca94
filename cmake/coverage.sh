#!/bin/sh
# Which lines of include/ the tests have run, from what `ctest --preset coverage` left.
#
#     sh cmake/coverage.sh BUILD
#
# Prints each file and the whole, then every line that did not run. A line is covered when any instance of its template
# ran it, in any program. An error: less than 95 percent in all, a line that did not run and is not in
# tests/coverage.txt with the reason, or one there that did run or is gone.
set -eu
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$(CDPATH='' cd -- "$1" && pwd)
tool() { "${CXX:-clang++}" -print-prog-name="$1"; }

"$(tool llvm-profdata)" merge -sparse "$build"/profiles/*.profraw -o "$build/tests.profdata"
: >"$build/lines"
# One by one: where a function is in several programs, llvm-cov takes the first one's word.
for program in tests/coppice_tests tests/coppice_optimised_tests examples/coppice; do
    "$(tool llvm-cov)" export -format=lcov -instr-profile="$build/tests.profdata" "$build/$program" >"$build/lcov"
    awk -F '[:,]' -v inside="$root/include/" '
        /^SF:/ { file = substr($0, 4); mine = index(file, inside) == 1; file = substr(file, length(inside) + 1) }
        mine && /^DA:/ { print file, $2, $3 }
    ' "$build/lcov" >>"$build/lines"
done

awk '{ key = $1 " " $2; if (!(key in most) || $3 + 0 > most[key]) { most[key] = $3 + 0 } }
     END { for (key in most) { print key, most[key] } }' "$build/lines" | sort -k1,1 -k2,2n >"$build/merged"
[ -s "$build/merged" ] || { echo 'coppice: no line of include/ was counted' >&2; exit 1; }

awk -v root="$root" -v explained="$root/tests/coverage.txt" '
    function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
    function complain(what) { print "coppice: coverage: " what >"/dev/stderr"; failed = 1 }
    function open_file(name,   text, n) {
        n = 0
        while ((getline text < (root "/include/" name)) > 0) { source[++n] = text }
        close(root "/include/" name)
    }
    BEGIN {
        while ((getline line < explained) > 0) {
            if (line ~ /^#/ || line == "") { continue }
            if (line ~ /^    /) { pending[++waiting] = file " " trimmed(line); continue }
            if (line ~ /^- ./) {
                if (waiting == 0) { complain("tests/coverage.txt has a reason without a line: " line) }
                for (i = 1; i <= waiting; ++i) { reason[pending[i]] = substr(line, 3) }
                waiting = 0
                continue
            }
            if (waiting > 0) { complain("tests/coverage.txt has no reason for: " pending[waiting]) }
            waiting = 0
            file = line
        }
        if (waiting > 0) { complain("tests/coverage.txt has no reason for: " pending[waiting]) }
    }
    $1 != current { current = $1; open_file(current); names[++files] = current }
    {
        ++total[current]
        if ($3 > 0) { ++ran[current]; next }
        key = current " " trimmed(source[$2])
        met[key] = 1
        missing[++missed] = sprintf("%s:%d: %s", current, $2, trimmed(source[$2]))
        if (key in reason) { missing[missed] = missing[missed] "\n        " reason[key] } else { unexplained[++unknown] = missed }
    }
    END {
        for (i = 1; i <= files; ++i) {
            name = names[i]
            printf "%6.1f %%  %5d of %5d  %s\n", 100 * ran[name] / total[name], ran[name], total[name], name
            lines += total[name]
            covered += ran[name]
        }
        percent = 100 * covered / lines
        printf "%6.2f %%  %5d of %5d  in all\n", percent, covered, lines
        if (missed > 0) { print "\nlines that did not run:" }
        for (i = 1; i <= missed; ++i) { print "    " missing[i] }
        for (i = 1; i <= unknown; ++i) { complain("not explained in tests/coverage.txt: " missing[unexplained[i]]) }
        for (key in reason) { if (!(key in met)) { complain("explained in tests/coverage.txt, and it runs or is gone: " key) } }
        if (percent < 95) { complain("less than 95 percent of the lines ran") }
        exit failed
    }
' "$build/merged"
