# Ten runs with separate stores share two GPUs. One run is killed during a trial, another together with its host. No GPU
# has two trials at any time, which a lock for each GPU verifies, and all other trials run. With a stand-in for NVML.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=2 LOG=$SCRATCH/log ORCH_SYSTEM_METRICS=off
cat >use.sh <<'S'
exec 9>"$LOG.gpu$CUDA_VISIBLE_DEVICES"
if flock -n 9; then echo "use $1" >>"$LOG"; else echo "CLASH $1" >>"$LOG"; fi
[ "$1" -gt 2 ] || while [ -e "$LOG.$1.stay" ]; do sleep 0.05; done
sleep 0.02
echo loss 1
S
cat >use.plugin <<'Y'
command: [sh, use.sh, "${name}"]
parameters: { name: 0, n: 0 }
metrics_from: lines
metrics: { loss: min }
Y
printf 'format: 1\nrecipe: r\nexperiments:\n  e: { plugin: ./use.plugin, sweep: { n: [1, 2] }, resources: { gpus: 1, cores: 1 } }\n' >r.recipe
until_line() {
    for _ in $(seq 900); do
        grep -q -- "$1" "$LOG" 2>/dev/null && return
        sleep 0.05
    done
    _fail "never: $1"
}
touch "$LOG.1.stay" "$LOG.2.stay" "$LOG"
start() {
    orch run r.recipe -s e.name=$1 --db "$SCRATCH/$1.db" -j 2 >"$1.out" 2>&1 &
    pid[$1]=$!
}
declare -A pid
start 1
until_line 'use 1' # with -j 2 it has both GPUs
for i in 2 3 4 5 6 7 8 9 10; do start $i; done
for i in 2 3 4 5 6 7 8 9 10; do
    for _ in $(seq 900); do
        grep -q 'waiting for' $i.out && break
        sleep 0.05
    done
    grep -q 'waiting for 1 of GPUs 0,1' $i.out || _fail "run $i does not wait: $(cat $i.out)"
done
kill -KILL ${pid[1]} # its hosts notice, and end their trials
until_line 'use 2'   # first or later, both trials of run 2 start and stay
host=$(pgrep -f "orch-host $SCRATCH/2.db.d/" | head -1)
kill -STOP ${pid[2]}
kill -KILL ${pid[2]} $host
rm "$LOG.1.stay" "$LOG.2.stay"
for i in 3 4 5 6 7 8 9 10; do wait ${pid[$i]} || _fail "run $i: $(cat $i.out)"; done
same "$(grep -c CLASH "$LOG")" 0 'trials that met another on their GPU'
for i in 3 4 5 6 7 8 9 10; do same "$(grep -cx "use $i" "$LOG")" 2 "trials of run $i"; done
fails 3 orch status
has_not 'slots'
