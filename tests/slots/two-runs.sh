# Runs of one machine share its GPUs, also from different stores: a run without a free GPU says once which run it waits
# for, continues when one is free, and can be stopped while waiting. With a stand-in for NVML; each trial locks its GPU,
# so that a second trial on it is detected.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=1 LOG=$SCRATCH/log ORCH_SYSTEM_METRICS=off
cat >use.sh <<'S'
exec 9>"$LOG.gpu$CUDA_VISIBLE_DEVICES"
if flock -n 9; then echo "use $1" >>"$LOG"; else echo "CLASH $1" >>"$LOG"; fi
while [ -e "$LOG.$1.stay" ]; do sleep 0.05; done
echo loss 1
S
cat >use.plugin <<'Y'
command: [sh, use.sh, "${name}"]
parameters: { name: a, n: 0 }
metrics_from: lines
metrics: { loss: min }
Y
recipe() { printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./use.plugin, with: { name: %s }, sweep: { n: [%s] }, resources: { gpus: 1, cores: 1 } }\n' "$1" "$1" "$2" >"$1.recipe"; }
recipe a 1
recipe b 1,2
recipe c 1
until_line() { # TEXT FILE: waits until the file has it
    for _ in $(seq 600); do
        grep -q -- "$1" "$2" 2>/dev/null && return
        sleep 0.05
    done
    cat "$2"
    _fail "never said: $1"
}
touch "$LOG.a.stay"
orch run a.recipe >a.out 2>&1 &
a=$!
until_line 'use a' "$LOG"
orch run b.recipe --db "$SCRATCH/other.db" >b.out 2>&1 &
b=$!
until_line 'waiting for GPU 0' b.out
grep -q "waiting for GPU 0: held by orch run of a e (pid $a) since 20" b.out || _fail "$(cat b.out)"
# who holds what
fails 3 orch status
has "slots    GPU-fake-0, CPU 0: orch run of a e (pid $a) since"
has 'waiting for GPU-fake-0: orch run of b e (pid '
fails 3 orch status --json
same "$(json slots.0.what)" 'a e'
same "$(json slots.1.waiting)" true
same "$(json slots.0.gpus.0.gpu)" GPU-fake-0
orch doctor >doctor.out 2>&1
grep -q 'slots: in use.*GPU-fake-0' doctor.out || _fail "$(cat doctor.out)"
# Ctrl-C while it waits: it was in line behind b
setsid sh -c 'trap - INT; exec orch run c.recipe' >c.out 2>&1 &
c=$!
until_line 'waiting for GPU 0' c.out
kill -INT $c
wait $c
same $? 130 'the status of an interrupted run'
grep -c CLASH "$LOG" | grep -qx 0 || _fail "$(cat "$LOG")"
rm "$LOG.a.stay"
wait $a || _fail "$(cat a.out)"
wait $b || _fail "$(cat b.out)"
same "$(sort "$LOG" | tr '\n' ' ')" 'use a use b use b ' 'the trials'
same "$(grep -c waiting b.out)" 1 'how often it said so'
fails 3 orch status
has_not slots
same "$(cat "$ORCH_SLOTS"/*.json)" '{"entries":[],"format":1}' 'the list afterwards'
# another user's run shares the list as well, where this test may become another user
as_nobody() { setpriv --reuid=65534 --clear-groups env HOME="$SCRATCH/them" XDG_CACHE_HOME="$SCRATCH/them" XDG_DATA_HOME="$SCRATCH/them" \
    XDG_CONFIG_HOME="$SCRATCH/them" XDG_STATE_HOME="$SCRATCH/them" "$@"; }
mkdir "$SCRATCH/them"
cp use.sh use.plugin c.recipe "$SCRATCH/them"
chmod 711 "$SCRATCH"
chmod 666 "$LOG"*
chown -R 65534 "$SCRATCH/them" 2>/dev/null && cd "$SCRATCH/them" && as_nobody orch version >/dev/null 2>&1 || exit 0
cd "$SCRATCH/w"
: >"$LOG"
touch "$LOG.a.stay"
(
    umask 077
    exec orch run a.recipe --force
) >a.out 2>&1 &
a=$!
until_line 'use a' "$LOG"
(cd "$SCRATCH/them" && as_nobody orch run c.recipe) >c.out 2>&1 &
c=$!
until_line "held by orch run of a e by root (pid $a)" c.out
rm "$LOG.a.stay"
wait $a || _fail "$(cat a.out)"
wait $c || _fail "$(cat c.out)"
same "$(tr '\n' ' ' <"$LOG")" 'use a use c ' 'the trials of two users'
[ -e "$ORCH_SLOTS/65534.json" ] || _fail 'the other user has no file'
