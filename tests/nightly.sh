#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests that take too long for each change: every fuzz target for a while under AddressSanitizer and
# UBSan, the threaded parts under ThreadSanitizer, 10,000 trials in one go in a store of 100,000 runs,
# and (as root, with debootstrap) the two commands of the README on a fresh machine of each Debian.
#
#   tests/nightly.sh [SECONDS]        seconds for each fuzz target (default 60)
#   tests/nightly.sh fuzz [SECONDS] [TARGET...]   fuzzing alone
#   tests/nightly.sh threads          ThreadSanitizer alone
#   tests/nightly.sh many             the 10,000 trials alone (bench/many.sh)
#   tests/nightly.sh systems          the fresh machines alone (tests/systems.sh)
#   tests/nightly.sh validators       what orch writes, by the official validators from PyPI
#
# Needs clang with its run-time library (Debian: clang libclang-rt-dev) and what ./build.sh test needs.
# What it finds lies in build-fuzz/found; what it learned (inputs that reach new code) in
# build-fuzz/corpus, from where the next night goes on. Exit status: 0 nothing found, 1 a finding,
# 2 it could not be built.
set -u
cd "$(dirname "$0")/.." || exit 2
SOURCE=$PWD
FUZZ=${ORCH_BUILD_DIR:-build}-fuzz
TSAN=${ORCH_BUILD_DIR:-build}-tsan

say() { printf '%s\n' "$*" >&2; }

build() { # build FOLDER TARGETS CMAKE-ARG...
    local folder=$1 targets=$2
    shift 2
    # shellcheck disable=SC2086
    { cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DORCH_TORCH=off -DORCH_TESTS=on "$@" &&
        ninja -C "$folder" $targets; } >"$folder.log" 2>&1 && return 0
    tail -n 20 "$folder.log" >&2
    say "building failed; all of it is in $folder.log"
    exit 2
}

# A finding of the target lies in $FUZZ/found/TARGET-crash-..., -timeout-..., -leak-... or -oom-...
fuzz_one() { # fuzz_one TARGET SECONDS
    local target=$1 seconds=$2 corpus=$FUZZ/corpus/$1 more fast=1
    mkdir -p "$corpus" "$FUZZ/found"
    case $target in
        pth | safetensors) more=tests/data/weights ;;
        printed) more=tests/wire/printed ;;
        *) more= ;;
    esac
    [ "$target" != http ] || fast=0 # libsoup's frames, which suppressions name, need the slow unwinder
    # shellcheck disable=SC2086
    LSAN_OPTIONS="suppressions=$SOURCE/tests/lsan.supp:print_suppressions=0" ORCH_SOURCE_DIR=$SOURCE \
        ASAN_OPTIONS="fast_unwind_on_malloc=$fast" \
        "$FUZZ/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -max_len=65536 \
        -artifact_prefix="$FUZZ/found/$target-" -print_final_stats=1 -verbosity=1 \
        "$corpus" tests/*/corpus/"$target" $more >"$FUZZ/found/$target.log" 2>&1
    local status=$?
    printf '%-12s %s runs, %s inputs kept%s\n' "$target" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$FUZZ/found/$target.log")" \
        "$(find "$corpus" -type f | wc -l)" "$([ $status = 0 ] || echo ": FOUND, see $FUZZ/found/$target.log")"
    return $status
}

fuzz() { # fuzz SECONDS TARGET...
    local seconds=$1 found=0 target
    shift
    command -v clang >/dev/null || { say "no clang: apt-get install clang libclang-rt-dev"; exit 2; }
    [ $# -gt 0 ] || set -- $(basename -a tests/*/fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')
    build "$FUZZ" "$(printf 'fuzz_%s ' "$@")" -DCMAKE_C_COMPILER=clang -DORCH_FUZZ=on
    for target in "$@"; do fuzz_one "$target" "$seconds" || found=1; done
    return $found
}

# Everything that runs in more than one thread: the host's services, the loader of images, the page.
# What counts is a report of a race: the tests themselves may fail, since under ThreadSanitizer all is
# about ten times as slow and some of them hold limits of time or memory.
threads() {
    local reports=$TSAN/races
    build "$TSAN" all -DORCH_TSAN=on
    rm -rf "$reports" && mkdir -p "$reports"
    TSAN_OPTIONS="log_path=$SOURCE/$reports/race:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:suppressions=$SOURCE/tests/tsan/tsan.supp" \
        ctest --test-dir "$TSAN" -j 2 \
        -R '^(unit\.(data|image_folder|loader|loader_options|scenes|scene_files|subset|base|wire_.*|conform|plugins|hw_.*|replay_threads|actor|gorila)|host\.trials|fuzz\.http|web\.refusals|run\.(trials|interrupt)|plugins\.(formats|wrapped|faults))$' \
        >"$TSAN.tests.log" 2>&1
    sed -n 's/^\([0-9]* *% tests passed.*\)/threads: \1/p' "$TSAN.tests.log"
    grep -q 'tests passed' "$TSAN.tests.log" || { tail -n 5 "$TSAN.tests.log" >&2; exit 2; }
    [ -z "$(ls "$reports")" ] && { echo "threads: no race"; return 0; }
    echo "threads: FOUND, see $reports"
    return 1
}

# The README's commands on fresh machines. By night they are left out where they cannot be made.
systems() {
    if [ "$mode" = all ] && { [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; }; then
        echo 'systems: left out (needs root and debootstrap)'
        return 0
    fi
    tests/systems.sh
}

# Judges of others' formats, in a venv. uv resolves their versions in seconds, pip in a quarter of an hour.
validators() {
    local venv=${ORCH_BUILD_DIR:-build}-validators tests log
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q uv && "$venv/bin/uv" pip install -q --python "$venv/bin/python" \
        'jsonschema>=4.20' ruamel.yaml roc-validator rocrate==0.13.0 in-toto-attestation securesystemslib \
        openapi-spec-validator 'nbgrader>=0.9' py-rattler; } >&2 || exit 2
    build "${ORCH_BUILD_DIR:-build}-many" all -DCMAKE_BUILD_TYPE=RelWithDebInfo
    tests=$(grep -lE 'judge_by [a-z]|ORCH_VALIDATORS' tests/*/*.sh | sed '/cli\/lib/d; s|tests/||; s|/|\\.|; s|\.sh$||' | paste -sd'|')
    log=$(ORCH_VALIDATORS=$PWD/$venv ctest --test-dir "${ORCH_BUILD_DIR:-build}-many" -R "^($tests)\$" --output-on-failure) &&
        ! grep -q Skipped <<<"$log" && { sed -n 's/^\(100% tests passed.*\)/validators: \1, none skipped/p' <<<"$log"; return 0; }
    printf '%s\nvalidators: FOUND, or a test was skipped\n' "$log"
    return 1
}

# Built without the sanitizers, whose time would say nothing.
many() {
    build "${ORCH_BUILD_DIR:-build}-many" 'product bench_store_fill' -DCMAKE_BUILD_TYPE=RelWithDebInfo
    bench/many.sh "${ORCH_BUILD_DIR:-build}-many" 100000 10000
}

mode=all seconds=60
case ${1:-} in
    fuzz | threads | many | systems | validators) mode=$1; shift ;;
    '' | *[!0-9]*) [ $# = 0 ] || { sed -n '3,17s/^# \{0,1\}//p' "$0" >&2; exit 2; } ;;
esac
case ${1:-} in '' | *[!0-9]*) ;; *) seconds=$1; shift ;; esac
status=0
case $mode in all | fuzz) fuzz "$seconds" "$@" || status=1 ;; esac
case $mode in all | threads) threads || status=1 ;; esac
case $mode in all | many) many || status=1 ;; esac
case $mode in all | validators) validators || status=1 ;; esac
case $mode in all | systems) systems || status=1 ;; esac
exit $status
