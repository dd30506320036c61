# Runs on one thread and on two are two devices of one machine: reports tell them apart by device_key, also where the plugin has a
# parameter 'threads'. time_to_accuracy compares their coefficients of variation by an F test.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ] || skip 'two processors are needed'
cat >t.plugin <<'Y'
command: [sh, t.sh, "${kind}", "${repeat}"]
parameters: { kind: { type: string }, threads: { type: int, default: 0, neutral: true } }
metrics: { took: { unit: s, better: min }, reached_target: { better: max } }
Y
# on one thread times vary by a tenth, on two they are nearly equal
cat >t.sh <<'S'
case $1 in
one) echo "{\"reached_target\": 1, \"took\": $((18 + $2)).$2}" ;;
*) echo "{\"reached_target\": 1, \"took\": 11.0$2}" ;;
esac
S
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  one: { plugin: ./t.plugin, resources: { cores: 1 }, with: { kind: one }, repeat: 5 }
  two: { plugin: ./t.plugin, resources: { cores: 2 }, with: { kind: two }, repeat: 5 }
report:
  - { question: "1", title: Devices, time_to_accuracy: { value: result took, by: device_key } }
  - { question: "2", title: Pooled, time_to_accuracy: { value: result took, by: threads } }
R
ok orch run t.recipe -q
ok orch report t.recipe --disturbed --json
python3 - "$SCRATCH/out" <<'P' || _fail 'two devices'
import json, math, re, sys
first, pooled = json.load(open(sys.argv[1]))["sections"]
rows = lambda s: next(b["rows"] for b in s["blocks"] if b["kind"] == "table")
assert [r["runs"] for r in rows(first)] == [5, 5] and [r["runs"] for r in rows(pooled)] == [10], (rows(first), rows(pooled))
assert all(re.search(r"[12] threads?$", r["device_key"]) for r in rows(first)), rows(first)
said = [b["text"] for b in first["blocks"] if b["kind"] == "text"]
assert len(said) == 1 and re.search(r"coefficient of variation of took: .* against .*, more than noise\. Test: F test, p <0.0001", said[0]), said
assert not [b for b in pooled["blocks"] if b["kind"] == "text"], pooled
P
# equal variation
sed -i 's/11.0$2/$((8 + $2)).$2/' t.sh
ok orch run t.recipe -q
ok orch report t.recipe --disturbed --only 1
has 'not more than noise'
if /usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null; then
    ok /usr/bin/python3 "$SOURCE/tests/answers.py" t.recipe --disturbed
    has ' 0 differ; sections not recomputed: none'
fi
sed 's/by: device_key/by: device_keys/' t.recipe >bad.recipe
fails 2 orch check bad.recipe
says "did you mean 'device_key'"
