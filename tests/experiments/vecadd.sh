# The plugin vecadd: measurements on the processor, GPU scenarios without a GPU, a student's program in its place, bad
# input, and problem 3 of lab 5.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >v.recipe <<R
format: 1
recipe: v
experiments:
  add: { plugin: vecadd, with: { min_samples: 5, min_time: 0s, time_limit: 1s, settled: 1, threads: 2 },
         zip: { scenario: [cpu_1, cpu_all, cpu_all], elements: [10007, 1000003, 1] } }
  on_gpu: { plugin: vecadd, with: { elements: 100003, time_limit: 1s }, sweep: { scenario: [gpu_1x256, gpu_stride], memory: [pageable, managed_prefetch] } }
  mine: { plugin: vecadd, program: "sh mine.sh \${scenario} \${millions}", with: { scenario: gpu_grid, millions: 5 } }
  large: { plugin: vecadd, with: { elements: 100000000000 } }
report:
  - { question: "1", title: Time by size, plot: { x: elements, y: result kernel_time, by: scenario, log_x: true, log_y: true, experiments: [add] } }
R
cat >mine.sh <<'S'
event() { printf '%s\n' "$1" >&"$ORCH_EVENTS"; }
event '{"event":"result","name":"kernel_time","value":4.5}'
[ "$1 $2" = "gpu_grid 5" ] || exit 1
event '{"event":"done","status":"ok"}'
S
git add -A
git commit -qm one
ok orch run v.recipe add mine -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'what was measured'
import json, sys
runs = [r for r in json.load(open(sys.argv[1])) if r["experiment"] == "add"]
assert len(runs) == 3
for r in runs:
    got = lambda name: r["result." + name]
    assert r["state"] == "ok" and got("wrong_elements") == 0, r
    count = got("element_count")
    assert count == r["param.elements"] if "param.elements" in r else count in (1, 10007, 1000003), r
    assert got("thread_count") == (1 if r["param.scenario"] == "cpu_1" else 2), r
    assert got("kernel_samples") >= 3 and got("dropped_samples") == 0, r
    assert got("kernel_time") > 0 and got("kernel_warm_time") > 0 and got("total_time") == got("kernel_time"), r
    assert abs(got("bandwidth") * got("kernel_time") * 1e6 / (12 * count) - 1) < 1e-9, r
    assert abs(got("bandwidth_share") * got("measured_bandwidth") / got("bandwidth") - 1) < 1e-9, r
    assert got("program_time") >= got("fill_time") + got("first_kernel_time") - 10, r  # a process's start counts in ticks of 10 ms
    assert got("streaming_stores") in (0, 1) if r["param.scenario"] == "cpu_all" else True, r
P
ok orch ls --where 'experiment = mine' --json
mine=$(json runs.0.key)
ok orch show "$mine"
has 'kernel_time'
has '4.5'
ok orch report v.recipe add
has 'Time by size'
# a GPU, or the reason why there is none
ok orch run v.recipe on_gpu -q
ok orch ls --where 'experiment = on_gpu' --json
cp "$SCRATCH/out" gpu.json
python3 - gpu.json <<'P' || _fail 'GPU scenarios'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert len(runs) == 4 and all(r["state"] in ("ok", "skipped") for r in runs), runs
P
if grep -q skipped gpu.json; then
    ok orch show @last
    grep -qE 'no CUDA device|neither prefetch nor advice' "$SCRATCH/out" || _fail 'the reason'
fi
# what cannot be
fails 1 orch run v.recipe large -q
says 'GB of the machine'
says 'are free for this trial: choose fewer elements'
fails 2 orch run v.recipe add -q -s memory=pinned
says "memory: 'pinned' needs a gpu scenario, not 'cpu_1'"
fails 2 orch run v.recipe add -q -s elements=-1
fails 2 orch run v.recipe add -q -s scenario=gpu_grids
says "gpu_grid"
# the recipe
ok orch plan "$ORCH_SOURCE_DIR/recipes/lab5.recipe" p3 --db other.db
has 'add scenario=cpu_all millions=100'
ok orch plan "$ORCH_SOURCE_DIR/recipes/lab5.recipe" p3 --profile course --db other.db
has 'memory=managed_advice millions=100'
