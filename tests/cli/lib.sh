# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by every tests/SUBJECT/WHAT.sh. Makes a scratch folder with a git repository of its own, puts
# the built programs first on the PATH, and offers a few words to say what is expected:
#
#   ok CMD...              it must exit with 0; output in $out (stdout) and $err (stderr)
#   fails STATUS CMD...    it must exit with just that status
#   has TEXT / has_not     the last stdout holds it
#   says TEXT / says_not   the last stderr holds it
#   same A B [WHAT]        equal texts
#   await -e|-s FILE [LOG] waits until it exists (-s: has bytes); after ten minutes it fails, and shows LOG
#   until_true CMD...      waits until the command succeeds; after ten minutes it fails
#   begun [N]              N trials (1) of the store here have begun, and are not recorded yet
#   is_gone PID            the process has ended, or is a zombie
#   interrupt PID          Ctrl-C twice, the second one when the first has been taken
#   disturb WHERE          marks stored runs as disturbed by other programs
#   lasted SECONDS WHERE   gives stored runs another duration
#   skip WHY               ends the test as skipped (status 77)
#   judge_by MODULE...     sets $judge to a Python that has these validators ($ORCH_VALIDATORS is its venv), or skips
#   trust FILE...         lets compiled plugins that a test builds be loaded ('orch plugin trust')
set -u
export LC_ALL=C NO_COLOR=1 GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org ORCH_USER=tester
unset ORCH_DB ORCH_PLUGIN_PATH ORCH_HARDWARE CLICOLOR_FORCE FORCE_COLOR ORCH_PAGER COLUMNS
export PAGER=cat # a terminal of a test has no user who leaves a pager
BUILD=${ORCH_BUILD_DIR:?run through ctest, or set ORCH_BUILD_DIR}
SOURCE=${ORCH_SOURCE_DIR:?run through ctest, or set ORCH_SOURCE_DIR}
PATH=$BUILD:$PATH
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/orch-test-XXXXXX")
export HOME=$SCRATCH/home XDG_CACHE_HOME=$SCRATCH/cache XDG_DATA_HOME=$SCRATCH/share XDG_CONFIG_HOME=$SCRATCH/config XDG_STATE_HOME=$SCRATCH/state
export ORCH_SLOTS=$SCRATCH/slots # not those of the machine
mkdir -p "$HOME" "$SCRATCH/w" "$SCRATCH/bin"
# other programs use no CPU, whatever runs here meanwhile; a trial that calls 'machine-is-busy' finds that they did
export ORCH_PROC_STAT=$SCRATCH/stat
grep '^cpu[0-9]' /proc/stat | sed 's/ .*/ 0 0 0 0/' >"$ORCH_PROC_STAT"
cat >"$SCRATCH/bin/machine-is-busy" <<'S'
#!/bin/sh
exec 9>"$ORCH_PROC_STAT.lock" && flock 9
awk '{ $2 += 1000000 } 1' "$ORCH_PROC_STAT" >"$ORCH_PROC_STAT.new" && mv "$ORCH_PROC_STAT.new" "$ORCH_PROC_STAT"
S
chmod +x "$SCRATCH/bin/machine-is-busy"
# the interpreter itself, where 'python3' is a script that looks for one each time
printf '#!/bin/sh\nexec "%s" "$@"\n' "${ORCH_PYTHON:-$(command -v python3)}" >"$SCRATCH/bin/python3"
chmod +x "$SCRATCH/bin/python3"
PATH=$SCRATCH/bin:$PATH
# A test that ends with a failure names its line: that of ok, has, ..., else that of the last command that failed.
# _fail may be called in a subshell, so a file says that the failure has been printed.
failed_line=
cleanup() {
    local status=${1:-$?}
    [ $status = 0 ] || [ $status = 77 ] || [ -e "$SCRATCH/said" ] ||
        printf 'FAILED: status %s; the last command that failed: %s:%s\n' "$status" "$(basename "$0")" "${failed_line:-?}"
    cd /
    chmod -R u+w "$SCRATCH" 2>/dev/null
    rm -rf "$SCRATCH"
}
trap cleanup EXIT
set -E
trap '[ "${BASH_SOURCE[0]}" != "$0" ] || failed_line=$LINENO' ERR
cd "$SCRATCH/w"
git init -q -b main . 2>/dev/null

out= err= status=0
_run() {
    "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
    status=$?
    out=$(<"$SCRATCH/out") err=$(<"$SCRATCH/err")
}
# the lines of the script that led here, the outermost last: "12 40"
_lines() {
    local i
    for ((i = 2; i < ${#BASH_SOURCE[@]}; i++)); do
        [ "${BASH_SOURCE[i]}" != "$0" ] || printf ' %s' "${BASH_LINENO[i - 1]}"
    done
}
_fail() {
    : >"$SCRATCH/said"
    printf 'FAILED: %s\n  in: %s, line%s\n--- stdout\n%s\n--- stderr\n%s\n' "$1" "$(basename "$0")" "$(_lines)" "$out" "$err"
    exit 1
}
ok() {
    _run "$@"
    [ $status = 0 ] || _fail "status $status, expected 0: $*"
}
fails() {
    local want=$1
    shift
    _run "$@"
    [ $status = "$want" ] || _fail "status $status, expected $want: $*"
}
has() { case $out in *"$1"*) ;; *) _fail "stdout lacks: $1" ;; esac }
has_not() { case $out in *"$1"*) _fail "stdout has: $1" ;; esac }
says() { case $err in *"$1"*) ;; *) _fail "stderr lacks: $1" ;; esac }
says_not() { case $err in *"$1"*) _fail "stderr has: $1" ;; esac }
same() { [ "$1" = "$2" ] || _fail "${3:-values} differ: '$1' and '$2'"; }
_within_ten_minutes() {
    local waited
    for ((waited = 0; waited < 12000; waited++)); do
        ! "$@" || return 0
        sleep 0.05
    done
    return 1
}
await() { _within_ten_minutes [ "$1" "$2" ] || _fail "there is no '$2' after ten minutes${3:+: $(cat "$3")}"; }
until_true() { _within_ten_minutes "$@" || _fail "not within ten minutes: $*"; }
begun() { [ "$(grep -ls '"event":"start"' .orch/results.db.d/trials/*/journal | wc -l)" -ge "${1:-1}" ]; }
is_gone() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
# its SIGINT (bit 1) is not pending, or it has ended
_took_interrupt() { ! grep -qs '^ShdPnd:.*[2367abef]$' "/proc/$1/status"; }
interrupt() {
    kill -INT "$1"
    until_true _took_interrupt "$1"
    kill -INT "$1"
}
# trust FILE...: compiled plugins from outside the build folder are loaded only when the user trusts them
trust() { "$BUILD/orch" plugin trust -q "$@" >/dev/null || _fail "cannot trust $*"; }
judge_by() {
    local module
    judge=${ORCH_VALIDATORS:+$ORCH_VALIDATORS/bin/}python3
    for module; do
        "$judge" -c "import $module" 2>/dev/null || skip "the Python module $module is not here (ORCH_VALIDATORS=VENV)"
    done
}
skip() {
    printf 'skipped: %s\n' "$1"
    exit 77
}
# json PATH: a value of the last stdout, e.g. json runs.0.state
json() { "$BUILD/json_get" "$1" <<<"$out"; }
# of_json EXPRESSION: what Python makes of the last stdout, which is 'it': of_json '[r["key"] for r in it["runs"]]'
of_json() { python3 -c '
import json, sys
it = json.load(sys.stdin)
value = eval(sys.argv[1])
print(value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))' "$1" <<<"$out"; }
jq() { _fail 'a fresh system has no jq: use json or of_json'; }
# terminal CMD...: runs it with a terminal for its stderr, which comes as stdout here; its stdout as stderr
terminal() { python3 -c '
import os, pty, subprocess, sys, threading
master, slave = pty.openpty()
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=slave)
os.close(slave)
out = []
reader = threading.Thread(target=lambda: out.append(run.stdout.read()))
reader.start()
while True:
    try:
        part = os.read(master, 65536)
    except OSError: # the other end is closed
        break
    if not part:
        break
    sys.stdout.buffer.write(part)
    sys.stdout.flush()
reader.join()
sys.stderr.buffer.write(out[0])
sys.exit(run.wait())' "$@"; }
# _update SET WHERE: SQL on table 'run'
_update() {
    ok orch db info --json
    local store
    store=$(json path)
    {
        sqlite3 "$store" "SELECT 'DROP TRIGGER \"'||name||'\";' FROM sqlite_master WHERE type='trigger'"
        echo "UPDATE run SET $1 WHERE $2;"
    } >"$SCRATCH/update.sql"
    sqlite3 "$store" <"$SCRATCH/update.sql"
}
# disturb WHERE: marks stored runs as the host does while other programs use half of the CPUs
disturb() { _update "facts=json_set(facts, '\$.foreign_cpu', 0.5)" "$1"; }
lasted() { _update "wall_ms=1000.0*$1" "$2"; }
# a recipe of sleeps: sleeps NAME SECONDS-LIST [REPEAT]
sleeps() {
    cat >"$1.recipe" <<R
format: 1
recipe: $1
experiments:
  nap:
    plugin: sleep
    sweep: { seconds: [$2] }
    repeat: ${3:-1}
R
}
