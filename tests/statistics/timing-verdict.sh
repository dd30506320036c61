# The report item compare describes times and rates in one word: same, faster, slower, or more repeats needed.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >kernel.plugin <<'Y'
command: [python3, kernel.py, '${version}']
parameters: { version: { type: string, default: old } }
metrics: { duration: { unit: ms, better: min }, throughput: { unit: GB/s, better: max } }
Y
cat >kernel.py <<'P'
import json, os, random, sys
version, noise = sys.argv[1], random.Random(os.environ["ORCH_SEED"] + sys.argv[1]).uniform(-1, 1)
duration = {"old": 100, "quick": 80, "slow": 125, "alike": 100, "noisy": 100}[version] + noise * (30 if version == "noisy" else 0.5)
with os.fdopen(int(os.environ["ORCH_EVENTS"]), "w") as events:
    for name, value in (("duration", duration), ("throughput", 1e4 / duration)):
        print(json.dumps({"event": "result", "name": name, "value": value}), file=events)
    print(json.dumps({"event": "done", "status": "ok"}), file=events)
P
cat >k.recipe <<'R'
format: 1
recipe: k
experiments:
  all: { plugin: ./kernel.plugin, sweep: { version: [old, quick, slow, alike, noisy] }, repeat: 5 }
  once: { plugin: ./kernel.plugin, sweep: { version: [old, quick] } }
report:
  - { question: "1", title: Times, compare: { value: result duration, by: version, baseline: old, experiments: all } }
  - { question: "2", title: Rates, compare: { value: result throughput, by: version, baseline: old, experiments: all } }
  - { question: "3", title: One each, compare: { value: result duration, by: version, baseline: old, experiments: once } }
R
git add -A
git commit -qm one
ok orch run k.recipe -q
ok orch report k.recipe --disturbed
for question in 1 2; do # a lower time is faster, and so is a higher rate
    printf '%s\n' "$out" | sed -n "/^$question /,/^$((question + 1)) /p" >part
    for verdict in 'quick version: FASTER, ' 'slow version: SLOWER, ' 'alike version: SAME, ' 'noisy version: UNSURE, ' 'SAME: the 95 % interval of the difference is within +-5 % of the value of old'; do
        grep -q "$verdict" part || _fail "question $question lacks: $verdict"
    done
done
printf '%s\n' "$out" | sed -n '/^3 /,$p' | grep -q 'quick version: [0-9.]* ms\. .*not tested, because one repeat' || _fail 'one repeat each decides nothing'
