# Shares of a GPU: two trials with gpus: 0.5 run on one GPU at once and a third waits, also one of another run; a whole
# GPU is exclusive. Results on a share are marked, and forecasts for whole GPUs do not use them. With a stand-in for
# NVML.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=1 LOG=$SCRATCH/log ORCH_SYSTEM_METRICS=off
# a trial takes one of the locks of its GPU's halves; 'meet': it waits until another trial holds the other one
cat >use.sh <<'S'
gpu=$LOG.gpu$CUDA_VISIBLE_DEVICES
exec 8>"$gpu.a" 9>"$gpu.b"
if flock -n 8; then half=a; elif flock -n 9; then half=b; else echo CLASH >>"$LOG"; fi
echo "$1 $ORCH_GPU_SHARE" >>"$LOG"
touch "$gpu.$half.$1.here"
if [ "$2" = meet ]; then
    other=$(echo $half | tr ab ba)
    while [ ! -e "$gpu.$other.$1.here" ]; do sleep 0.02; done
fi
echo loss 1
S
cat >use.plugin <<'Y'
command: [sh, use.sh, "${name}", "${how}"]
parameters: { name: a, how: meet, n: 0 }
metrics_from: lines
metrics: { loss: min }
Y
recipe() { # NAME SHARE HOW N...
    printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./use.plugin, with: { name: %s, how: %s }, sweep: { n: [%s] }, reuse: device, resources: { gpus: %s, cores: 1 } }\n' \
        "$1" "$1" "$3" "$4" "$2" >"$1.recipe"
}
# each waits for the other: this ends only if both run at once on the only GPU
recipe pair 0.5 meet 1,2
ok timeout 100 orch run pair.recipe
same "$(cat "$LOG")" $'pair 0.500000\npair 0.500000' 'what they saw'
ok orch show @last
has 'gpu            0.5 of GPU-fake-0, shared'
ok orch show @last --json
same "$(json device_key)" '0.5x Tesla V100-SXM2-16GB'
same "$(json facts.slot.gpu_share)" 0.5
# four runs of three trials each: never more than two at once
: >"$LOG"
for name in p q r s; do
    recipe $name 0.5 alone 1,2,3
    orch run $name.recipe >$name.out 2>&1 &
    pids="${pids-} $!"
done
for pid in $pids; do wait $pid || _fail "$(cat ?.out)"; done
same "$(grep -c CLASH "$LOG")" 0 'trials that found both halves taken'
same "$(grep -c 0.5 "$LOG")" 12 'trials that ran'
# a whole GPU: not the same device, so nothing is reused, and the times of shares are no basis of a forecast
recipe whole 1 alone 1
ok orch plan whole.recipe --json
same "$(json trials.0.forecast)" null
same "$(json trials.0.device_key)" '1x Tesla V100-SXM2-16GB'
recipe again 0.5 alone 1
ok orch plan again.recipe --json
same "$(json trials.0.device_key)" '0.5x Tesla V100-SXM2-16GB'
has '"total_s"'
# three of a third fit on one, and devices are charged by their share
recipe third 0.333333 alone 1,2,3
ok orch plan third.recipe --json
same "$(json forecast.slots)" 3 'trials at once'
ok orch cost --json
python3 -c 'import json, sys; d = json.load(sys.stdin)["total"]; assert abs(d["device_hours"] - d["hours"] / 2) < 1e-6, d' <<<"$out" || _fail 'devices that are charged'
# what is no share
for bad in 1.5 0.001 -0.5 half; do
    recipe bad $bad alone 1
    fails 2 orch check bad.recipe
    says "'gpus'"
    says 'bad.recipe:4'
done
