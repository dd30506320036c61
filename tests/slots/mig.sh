# Each MIG instance is a slot, also between runs, and can be shared like a GPU. With a stand-in for NVML.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=1 FAKE_NVML_MIG=2 FAKE_NVML_MODEL='NVIDIA A100-SXM4-40GB' LOG=$SCRATCH/log
export ORCH_SYSTEM_METRICS=off
cat >use.sh <<'S'
exec 9>"$LOG.$CUDA_VISIBLE_DEVICES"
flock -n 9 || echo "CLASH $CUDA_VISIBLE_DEVICES" >>"$LOG"
echo "use $CUDA_VISIBLE_DEVICES" >>"$LOG"
while [ -e "$LOG.$1.stay" ]; do sleep 0.05; done
echo loss 1
S
printf 'command: [sh, use.sh, "${name}"]\nparameters: { name: a, n: 0 }\nmetrics_from: lines\nmetrics: { loss: min }\n' >use.plugin
recipe() { printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./use.plugin, with: { name: %s }, sweep: { n: [%s] }, resources: { gpus: %s, cores: 1 } }\n' "$1" "$1" "$2" "$3" >"$1.recipe"; }
until_lines() { # NUMBER FILE
    for _ in $(seq 900); do
        [ "$(grep -c . "$2" 2>/dev/null)" = "$1" ] && return
        sleep 0.05
    done
    _fail "never $1 lines in $2: $(cat "$2")"
}
# two runs at once, one instance each
recipe a 1 1
recipe b 1 1
recipe c 1 1
touch "$LOG.a.stay" "$LOG.b.stay"
orch run a.recipe -j 1 >a.out 2>&1 &
a=$!
until_lines 1 "$LOG"
orch run b.recipe -j 1 --oversubscribe >b.out 2>&1 &
b=$!
until_lines 2 "$LOG"
same "$(cat "$LOG" | tr '\n' ' ')" 'use MIG-fake-0 use MIG-fake-1 ' 'the instances'
fails 3 orch status
has 'MIG-fake-0'
has 'MIG-fake-1'
# a third waits for either; it gets the one that becomes free
orch run c.recipe -j 1 --oversubscribe >c.out 2>&1 &
c=$!
for _ in $(seq 900); do
    grep -q waiting c.out && break
    sleep 0.05
done
grep -q 'waiting for 1 of GPUs MIG-fake-0,MIG-fake-1: held by' c.out || _fail "$(cat c.out)"
rm "$LOG.b.stay"
wait $b || _fail "$(cat b.out)"
wait $c || _fail "$(cat c.out)"
rm "$LOG.a.stay"
wait $a || _fail "$(cat a.out)"
same "$(tail -1 "$LOG")" 'use MIG-fake-1' 'the instance of the third'
same "$(grep -c CLASH "$LOG")" 0 'trials that met another'
# one run uses both at once by default
recipe two 1,2 1
ok orch plan two.recipe --force
ok orch run two.recipe
same "$(tail -2 "$LOG" | sort | tr '\n' ' ')" 'use MIG-fake-0 use MIG-fake-1 ' 'both instances'
ok orch show @last --json
same "$(json facts.slot.gpus.0 | cut -c1-9)" MIG-fake- 'what is recorded'
# a share of an instance
recipe half 1 0.5
ok orch run half.recipe
ok orch show @last
has '0.5 of MIG-fake-0, shared'
