# After an edit, the runs of the new code replace the older ones in winners, tables, comparisons and charts.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf 'import sys\nprint("accuracy", 0.9 - float(sys.argv[1]))\n' >train.py
git add -A
git commit -qm one
ok orch try -x lr=0.1,0.2 --repeat 3 -- python3 train.py '{lr}'
sed -i 's/0\.9/0.5/' train.py
ok orch try -x lr=0.1 --repeat 3 -- python3 train.py '{lr}'
says '3 ok'
ok orch best accuracy --max --by lr --json
same "$(json rankings.0.settings.0.label) $(json rankings.0.settings.0.mean)" 'lr=0.2 0.7' 'the winner'
same "$(json rankings.0.settings.1.mean)" 0.4 'the edited code'
ok orch table --rows lr --value accuracy --format csv
has '0.1,0.4'
ok orch compare lr=0.1 lr=0.2 -m accuracy --json
same "$(json metrics.0.a.mean) $(json metrics.0.b.mean)" '0.4 0.7' 'compare'
ok orch plot --y accuracy --x lr --out chart.csv
grep -q '0.1,0.4,' chart.csv || _fail "the chart: $(cat chart.csv)"
# runs that were recorded by hand have no seed: each counts
for _ in 1 2; do printf '{"event":"metrics","points":[["loss",0,null,1]]}\n{"event":"done","status":"ok"}\n' | orch record -e byhand -s lr=1 2>/dev/null; done
ok orch best loss --min --json
same "$(json rankings.0.settings.0.runs.#)" 2 'recorded runs'
# a checkout within the repository is no part of its source
ok orch checkout "$(orch ls --where 'lr = 0.1 and accuracy > 0.5' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')" then
grep -q 0.9 then/train.py || _fail 'not the source before the edit'
ok orch try -n -x lr=0.1 --repeat 3 -- python3 train.py '{lr}'
has_not stale
has_not 'then/train.py'
printf 'x\n' >.gitignore
ok orch try -x lr=0.3 -- python3 train.py '{lr}'
ok orch checkout @last other
says "add 'other/' to .gitignore"
