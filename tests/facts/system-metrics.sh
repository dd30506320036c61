# Processor, memory and GPUs are sampled during a trial, with a stand-in for NVML: stored apart from the plugin's
# metrics, at low cost, ended with a note when a GPU is lost, without harm when the driver hangs, and disabled on
# request. The test does not depend on time, because the program waits until the samples are in its journal.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml
cat >wait.py <<'P'
import os, sys, time
text, count, more = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
for step in range(600):
    journal = open(os.environ["ORCH_TRIAL_DIR"] + "/../journal", encoding="utf8").read()
    if journal.count(text) >= count:
        break
    time.sleep(0.1)
time.sleep(more)
print("loss", 0.5)
P
cat >wait.plugin <<'Y'
command: [python3, wait.py, "${text}", "${count}", "${more}"]
metrics_from: lines
parameters:
  text: { type: string, default: system/cpu_machine }
  count: { type: int, default: 2 }
  more: { type: real, default: 0 }
metrics:
  loss: { better: min }
Y
cat >s.recipe <<'R'
format: 1
recipe: s
experiments:
  sampled: { plugin: ./wait.plugin, resources: { gpus: 1 } }
  lost: { plugin: ./wait.plugin, resources: { gpus: 2 }, retries: 0, with: { text: no longer sampled, count: 1, more: 20 } }
  hung: { plugin: ./wait.plugin, resources: { gpus: 1 }, with: { count: 1, more: 1.5 } }
  off: { plugin: ./wait.plugin, system_metrics: off, with: { count: 0, more: 1.3 } }
  slow: { plugin: ./wait.plugin, system_metrics: 30s, with: { count: 0, more: 1.3 } }
report:
  - { question: "1", title: Utilisation by time, plot: { x: second, y: [system/gpu0_core, system/gpu0_memory_busy], experiments: sampled } }
  - { question: "1", title: Its mean, table: { rows: experiment, value: [mean system/gpu0_core, mean system/gpu0_memory_busy, mean system/cpu_trial, max system/memory_trial], experiments: sampled } }
R
# several drivers at once, each with a store and made-up GPUs of its own
start() { (ORCH_DB=$SCRATCH/$2.db ORCH_SLOTS=$SCRATCH/slots.$2 FAKE_NVML=$1 FAKE_NVML_COUNT=${3:-2} orch run s.recipe "$2" -q >"$SCRATCH/$2.out" 2>&1) & }
start '' sampled
start vanishes lost
start hangs hung
start '' off
start '' slow
wait
shown() {
    ok env ORCH_DB="$SCRATCH/$1.db" orch show @last --json
    same "$(json state)" "${2:-ok}" "the trial $1"
}

shown sampled
python3 - "$SCRATCH/out" <<'P' || _fail 'what was sampled'
import json, sys
run = json.load(open(sys.argv[1]))
assert [m["name"] for m in run["metrics"]] in ([], ["loss"]), run["metrics"]
s = {m["name"]: m for m in run["system"]}
for name in ("cpu_trial", "cpu_machine", "memory_trial", "memory_machine"):
    assert s["system/" + name]["points"] >= 1, s.keys()
assert 0 <= s["system/cpu_machine"]["mean"] <= 100 and s["system/memory_trial"]["min"] > 1, s
for name, value, unit in (("core", 80, "%"), ("memory_busy", 30, "%"), ("memory", 0, "MB"), ("power", 250.5, "W"),
                          ("temperature", 60, "degC"), ("clock", 1530, "MHz"), ("memory_clock", 877, "MHz")):
    m = s["system/gpu0_" + name]
    assert (m["first"], m["min"], m["mean"], m["unit"]) == (value, value, value, unit), m
assert s["system/gpu0_core"]["points"] >= 2 and s["system/gpu0_core"]["last_step"] >= 2, s["system/gpu0_core"]
cost = run["facts"]["sampling_cpu_s"]
print("sampling took %.2f ms of CPU in %.2f s" % (1e3 * cost, run["wall_s"]))
assert 0 < cost < 0.005 * run["wall_s"] + 0.1, cost  # 0.1 s to open NVML and to start the thread
P
ok env ORCH_DB="$SCRATCH/sampled.db" orch show @last
has 'machine while it ran'
has 'system/gpu0_power'
# a report charts it and gives the mean; other outputs have the plugin's metrics alone
ok env ORCH_DB="$SCRATCH/sampled.db" orch report s.recipe sampled
has "use of the GPU's cores"
has 80
has_not missing
ok env ORCH_DB="$SCRATCH/sampled.db" orch export
has_not 'system/gpu'
ok env ORCH_DB="$SCRATCH/sampled.db" orch table --rows experiment --value 'mean system/gpu0_power'
has 250.5
ok env ORCH_DB="$SCRATCH/sampled.db" orch db check

shown lost lost
python3 - "$SCRATCH/out" <<'P' || _fail 'a GPU that is lost'
import json, sys
run = json.load(open(sys.argv[1]))
s = {m["name"]: m["points"] for m in run["system"]}
notes = [n["text"] for n in run["notes"]] + run["facts"].get("notes", [])
assert any("GPU 1 is no longer sampled" in n and "GPU is lost" in n for n in notes), notes
assert s["system/gpu1_core"] >= 1 and s["system/gpu0_core"] >= 1, s
P
shown hung
python3 - "$SCRATCH/out" <<'P' || _fail 'a driver that hangs'
import json, sys
run = json.load(open(sys.argv[1]))
assert {m["name"]: m["points"] for m in run["system"]}["system/gpu0_core"] == 1, run["system"]
P
for none in off slow; do
    shown $none
    same "$(python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(len(r["system"]), "sampling_cpu_s" in r["facts"])' "$SCRATCH/out")" '0 False' "$none"
done
# the environment switches all of it off
ok env ORCH_DB="$SCRATCH/env.db" ORCH_SYSTEM_METRICS=off orch run s.recipe slow -q
# wrong values are errors of the recipe
for wrong in 's/system_metrics: off/system_metrics: 0.2s/' 's/system_metrics: off/system_metrics: often/' 's/system_metrics: off/system_metric: off/' 's/gpu0_core/gpu0_cor/' 's/x: second/x: seconds/'; do
    sed "$wrong" s.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says 'bad.recipe:'
done
