# The plugin asyncsgd: one learner trains as the plugin train does, two synchronous learners as one with their batches
# together; staleness of uneven learners; a rank that fails or is killed ends the trial, and no process is left.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
orch plugin show asyncsgd >/dev/null 2>&1 || skip 'built without LibTorch or MPI (libopenmpi-dev, openmpi-bin)'
# compared to the last bit, training takes one thread
small='dataset: synthetic, image_size: 12, net: "mlp:32", per_class: 32, val_images: 100, schedule: constant, threads: 1'
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  plain: { plugin: train, with: { $small, epochs: 2, lr: 0.05, momentum: 0.9, layout: plain, loader_threads: 0 }, sweep: { batch: [8, 16] }, timeout: 10min }
  one: { plugin: asyncsgd, with: { $small, epochs: 2, lr: 0.05, momentum: 0.9, learners: 1, batch: 8 }, timeout: 10min }
  parts: { plugin: asyncsgd, with: { $small, epochs: 2, lr: 0.05, momentum: 0.9, learners: 1, servers: 2, batch: 8 }, timeout: 10min }
  together: { plugin: asyncsgd, with: { $small, epochs: 2, lr: 0.05, momentum: 0.9, learners: 2, servers: 2, mode: synchronous, batch: 8 }, timeout: 10min }
  uneven: { plugin: asyncsgd, with: { $small, epochs: 2, lr: 0.05, momentum: 0.9, learners: 2, batch: 8, lr_rule: by_staleness, slowdown: [1, 8] }, timeout: 10min }
  endless: { plugin: asyncsgd, with: { $small, learners: 2, servers: 2, batch: 8, epochs: 100000, lr: 0.0001 }, timeout: 10min, retries: 0 }
R
ok orch run t.recipe plain one parts together uneven -q
ok orch export --format json
python3 - "$SCRATCH/out" <<'P' || _fail 'the trainings'
import json, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    name = run["experiment"] + (str(run["param.batch"]) if run["experiment"] == "plain" else "")
    runs[name] = {k[7:]: v for k, v in run.items() if k.startswith("result.")}
one, parts, together, uneven = (runs[n] for n in ("one", "parts", "together", "uneven"))
# the same batches, initial weights and update rule; tolerance: rounding in another order
assert abs(one["full_loss"] - runs["plain8"]["full_loss"]) < 1e-4 * runs["plain8"]["full_loss"], (one, runs["plain8"])
assert one["full_loss"] == parts["full_loss"], (one, parts)
assert abs(together["full_loss"] - runs["plain16"]["full_loss"]) < 1e-4 * runs["plain16"]["full_loss"], (together, runs["plain16"])
assert abs(runs["plain8"]["full_loss"] / runs["plain16"]["full_loss"] - 1) > 1e-3, "the comparison could not fail"
for run in (one, parts, together):
    assert run["max_staleness"] == 0 and run["applied_gradients"] == 80, run
assert one["updates"] == 80 and together["updates"] == 40, (one, together)
assert uneven["applied_gradients"] == uneven["updates"] == 80 and uneven["max_staleness"] >= 1, uneven
assert 0.5 < uneven["mean_staleness"] < 1, uneven # every update counts for the other learner
P
# the mode and the rule of a single learner have no effect: the check says so, and it is true
ok orch plugin check asyncsgd -s learners=1
has 'without effect: mode, lr_rule'
ok orch export --where 'experiment = one' --format json
cp "$SCRATCH/out" one.json
ok orch run t.recipe one --db other.db -s mode=synchronous -s lr_rule=by_staleness -q
ok orch export --db other.db --format json
python3 - one.json "$SCRATCH/out" <<'P' || _fail 'one learner in rounds of its own'
import json, sys
one, other = (json.load(open(path))[0] for path in sys.argv[1:])
for name in ("full_loss", "final_loss", "updates", "max_staleness"):
    assert one["result." + name] == other["result." + name], (name, one, other)
P
ok orch ls --where 'experiment = uneven' --json
orch show "$(json runs.0.key)" -a updates >updates.csv
python3 - updates.csv <<'P' || _fail 'the table of updates'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 80, len(rows)
for version, row in enumerate(rows):
    stale = int(row["staleness"])
    assert int(row["version updated"]) == version and version - int(row["version read"]) == stale, row
    assert abs(float(row["learning rate"]) - 0.05 / max(1, stale)) < 1e-9, row
by = [sum(row["learner"] == str(i) for row in rows) for i in (1, 2)]
assert by[0] > by[1], by
P
# gone: no process of a trial is left, each of which has its folder on the command line or as its working folder
none_left() { ! ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -F "$PWD/.orch/results.db.d/trials"; }
gone() { until_true none_left; }
# a learner that fails says why
ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_FAIL=train:5 _run orch run t.recipe uneven --force -q
[ $status = 1 ] || _fail "status $status of a failing learner"
ok orch show @last --json
same "$(json state)" failed
case $(json reason) in 'rank '[12]': '*train*) ;; *) _fail "reason: $(json reason)" ;; esac
gone
# a loss that is not finite
ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_NAN=100 _run orch run t.recipe uneven --force -q
ok orch show @last --json
same "$(json state)" diverged
same "$(json reason)" 'the loss is not finite'
gone
# start: four ranks train; their ids are in pids
trains() { grep -qs train_loss .orch/results.db.d/trials/*/journal; }
start() {
    orch run t.recipe endless --force -q >out1 2>err1 &
    pid=$!
    until_true trains
}
start
victim=$(for p in /proc/[0-9]*; do [ "$({ tr '\0' '\n' <"$p/environ"; } 2>/dev/null | grep -c '^OMPI_COMM_WORLD_RANK=3$')" = 1 ] &&
    case $(readlink "$p/cwd") in "$PWD"/.orch/results.db.d/trials/*) echo "${p#/proc/}" ;; esac done | sort -n | tail -n 1)
kill -KILL "$victim"
wait $pid
ok orch show @last --json
same "$(json state)" crashed
same "$(json reason)" 'rank 3 was killed by signal 9 (SIGKILL)'
gone
start
interrupt $pid
wait $pid
ok orch show @last --json
same "$(json state)" cancelled
gone
# contradictions
fails 2 orch run t.recipe uneven -s learners=3
says 'slowdown has 2 values for 3 learners'
