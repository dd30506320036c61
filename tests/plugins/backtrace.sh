#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A crashing compiled plugin leaves a backtrace with functions and lines, and the reason of the run names its innermost
# frame.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
command -v "${CC:-cc}" >/dev/null || skip 'no C compiler'
ulimit -c 0
build() {
    "${CC:-cc}" -O1 -w -shared -fPIC -pthread "-DNAME=\"$1\"" "-I$SOURCE/include" -o "$1.so" "${@:2}" "$SOURCE/tests/plugins/crasher.c" || _fail "cannot build $1"
    trust "$1.so"
}
recipe() { printf 'format: 1\nrecipe: %s\nexperiments:\n  c: { plugin: ./%s.so, sweep: { how: [%s] } }\n' "$1" "$1" "$2" >"$1.recipe"; }
line_of() { grep -n "$1" "$SOURCE/tests/plugins/crasher.c" | head -n 1 | cut -d: -f1; }
# its trace: trace HOW; the log of the newest run with it
trace() {
    ok orch ls -n 1 --where "how=$1" --json
    run=$(json runs.0.key)
    ok orch log "$run"
}
case $(nm -D "$BUILD/orch-host" 2>/dev/null) in *asan*) skip 'a sanitizer has its own report' ;; esac

command -v addr2line >/dev/null || skip 'no addr2line'
build lined -g
recipe lined '"null", deep, abort, fpe, jump, raise, thread, thread-deep, locked, fork, fine'
fails 1 orch run lined.recipe --keep-going
says "11 trials: 2 ok, 9 crashed"
poke=$(line_of '\*nowhere +')
says "signal 11 (SIGSEGV) in poke at crasher.c:$poke"
says "signal 6 (SIGABRT) in run_one at crasher.c:$(line_of 'abort()'): it ends here"
says "signal 8 (SIGFPE) in run_one at crasher.c:$(line_of '5 / zero')"
says "signal 7 (SIGBUS) in run_one at crasher.c:$(line_of 'raise(')"
trace '"null"'
has "backtrace of signal 11 (SIGSEGV) at address 0x0"
has "  #0  poke at $SOURCE/tests/plugins/crasher.c:$poke"
has '  #1  step at'
has '  #2  run_one at'
has '  #3  run at'
has_not '#4'
has_not run_hooks
trace deep
has '#1  deep at'
has '(the same '
trace jump
has '0x0 (no code is mapped there)'
has "#1  run_one at $SOURCE/tests/plugins/crasher.c:$(line_of 'no_function(3)')"
trace thread
has '#0  poke at'
has "#2  in_thread at"
trace thread-deep
has '#1  deep at'
trace locked
says 'crashed: signal 11 (SIGSEGV)' # at the latest after five seconds
trace fork
has_not backtrace # a process of its own
trace fine
has_not backtrace
ok orch show @last

# without debug information: functions and offsets in the file; without addr2line: the offsets
build bare
recipe bare '"null"'
fails 1 orch run bare.recipe
says 'SIGSEGV) in poke in bare.so+0x'
mkdir "$SCRATCH/few"
for word in sh env; do ln -s "$(command -v $word)" "$SCRATCH/few/"; done
fails 1 env "PATH=$BUILD:$SCRATCH/few" orch run lined.recipe --force -x c.how=null
says 'SIGSEGV) in lined.so+0x'
says_not 'crasher.c:'
build stripped
strip stripped.so && trust stripped.so && recipe stripped thread
fails 1 orch run stripped.recipe
says 'SIGSEGV) in stripped.so+0x'
