# What a search has tried counts, whoever ran it: runs of an equal search of another recipe, before this one has run at
# all, and every run that 'orch run' finds done, in plan, report, 'orch best' and 'orch ls' afterwards.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >p.py <<'P'
import sys
x = float(sys.argv[1])
if x < 0.05:
    sys.exit("diverged")
print("v", 1 - (x - 0.3) ** 2)
P
cat >p.plugin <<'P'
plugin: p
version: 1.0.0
command: [python3, p.py, "${x}"]
metrics_from: lines
parameters: { x: { type: real, default: 0.5 } }
metrics: { v: { better: max } }
P
recipe() { # NAME EXPERIMENT RANGE OBJECTIVE
    printf 'format: 1\nrecipe: %s\nexperiments:\n  %s:\n    plugin: ./p.plugin\n    retries: 0\n    search: { x: "%s" }\n    objective: { metric: max last v, %s }\nreport:\n  - { title: Best, search: { experiments: %s } }\n' "$1" "$2" "$3" "$4" "$2" >"$1.recipe"
}
recipe one s 'uniform(0.1, 1)' 'trials: 8, sampler: sobol'
git add -A
git commit -qm x
ok orch run one.recipe
best=$(sed -n 's/^best of 8 settings: s \(x=[^ ,]*\),* .*/\1/p' <<<"$err")
[ -n "$best" ] || _fail 'no best point'
# under another name, with more trials, before anything of it has run
recipe two other 'uniform(0.1, 1)' 'trials: 12, sampler: sobol'
ok orch plan two.recipe --json
same "$(of_json '[t["state"] for t in it["trials"]].count("done")')" 8 'points of the equal search'
ok orch report two.recipe
has 'missing: 4 of 12 trials are not run'
has "settings of other: $best."
ok orch run two.recipe
says '4 ok, 8 done before'
says "best of 12 settings: other $best, last v"
ok orch report two.recipe
has_not missing
has "settings of other: $best."
# another sampler is another search: it chooses its own points
recipe three s 'uniform(0.1, 1)' 'trials: 8, sampler: random'
ok orch plan three.recipe --json
same "$(of_json '[t["state"] for t in it["trials"]].count("done")')" 0 'points of another search'
# values that a sweep had: the search finds them done, and counts them from then on
printf 'format: 1\nrecipe: grid\nexperiments:\n  g: { plugin: ./p.plugin, sweep: { x: [0.1, 0.25, 0.4] } }\n' >grid.recipe
ok orch run grid.recipe
recipe few f 'choice(0.1, 0.25, 0.4)' 'trials: 3'
ok orch run few.recipe
says '3 done before'
for again in 1 2; do
    ok orch plan few.recipe
    has_not 'missing'
    has_not 'waiting'
    ok orch report few.recipe
    has_not missing
    has 'Best of 3 settings of f: x=0.25'
    ok orch best v --recipe few
    has 'best: x=0.25'
    ok orch best v -e f
    has 'best: x=0.25'
    ok orch ls --recipe few --json
    same "$(json runs.#)" 3 'runs that the recipe counts'
    ok orch run few.recipe
    says '3 done before'
done
ok orch ls --recipe grid --json
same "$(json runs.#)" 3 'runs of the sweep'
# a sweep of another name counts them as well
printf 'format: 1\nrecipe: grid2\nexperiments:\n  h: { plugin: ./p.plugin, sweep: { x: [0.25, 0.4] } }\nreport:\n  - { title: All, table: { rows: x, value: last v } }\n' >grid2.recipe
ok orch run grid2.recipe
says '2 done before'
ok orch best v --recipe grid2 -e h
has 'best: x=0.25'
ok orch export --recipe grid2 --columns key
same "$(wc -l <<<"$out")" 3 'lines of the export'
# what an edit makes stale is said of them, too
sed -i 's/0.3/0.35/' p.py
ok orch plan grid2.recipe
has 'p.py changed'
git checkout -q p.py
# a point that failed in the other recipe fails here: it is not tried again
recipe bad1 s 'choice(0.01, 0.5)' 'trials: 2'
fails 1 orch run bad1.recipe
recipe bad2 s 'choice(0.01, 0.5)' 'trials: 2'
ok orch run bad2.recipe
says_not 'failed  s'
# hidden runs count nowhere
ok orch ls --recipe few --json
ok orch rm $(of_json '" ".join(r["key"] for r in it["runs"])')
ok orch report few.recipe
has 'missing: 3 of 3 trials are not run'

# what 'orch try --write' wrote finds the runs of that search before it runs
echo 'import sys; print("loss", float(sys.argv[1]))' >w.py
git add -A
git commit -qm w
ok orch try -x 'x=uniform(0, 1)' --search 'min loss' --trials 3 --name w --write w.recipe -- python3 w.py {x}
ok orch run w.recipe
says 'nothing to run'
