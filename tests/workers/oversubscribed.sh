# The report item speedup leaves out trials of oversubscribed workers with a note, unless it requests them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >time.plugin <<'Y'
command: [sh, time.sh, "${workers}"]
parameters: { workers: { type: int } }
metrics: { seconds: { unit: s, better: min }, oversubscribed: {} }
Y
# 8, 4 and 1 s, the last of workers that share processors
printf '%s\n' 'case $1 in 1) t=8 o=0 ;; 2) t=4 o=0 ;; *) t=1 o=1 ;; esac; printf "{\"seconds\": %d, \"oversubscribed\": %d}\n" $t $o' >time.sh
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  t: { plugin: ./time.plugin, sweep: { workers: [1, 2, 4] } }
report:
  - { question: "1", title: Claims, speedup: { value: result seconds } }
  - { question: "2", title: All, speedup: { value: result seconds, oversubscribed: true } }
  - { title: Without, speedup: { value: result seconds, where: oversubscribed = 0 } }
R
ok orch run t.recipe -q
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the rows'
import json, sys
claims, everything, without = (
    [[row["workers"], row["seconds_(s)"], row["speedup"]] for b in s["blocks"] if "rows" in b for row in b["rows"]]
    for s in json.load(open(sys.argv[1]))["sections"])
assert claims == [[1, 8, 1], [2, 4, 2], [4, None, None]], claims
assert everything == [[1, 8, 1], [2, 4, 2], [4, 1, 8]], everything
assert without == [[1, 8, 1], [2, 4, 2]], without
P
ok orch report t.recipe --only 1
has 'trials left out: 1. Their workers have more threads than the machine'
ok orch report t.recipe --only 2
has_not 'more threads than the machine'
sed -i 's/oversubscribed: true/oversubscribed: maybe/' t.recipe
fails 2 orch check t.recipe
says "'maybe' is not true or false"
