# A search that may spend only so much: it prefers cheap points among equally good ones, begins none that would exceed the budget or
# come after the deadline of its objective, and says so. 'orch try' has --budget, --deadline and --price.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# both ways give the same, and one takes longer
cat >task.py <<'P'
import sys, time
time.sleep(0.7 if sys.argv[2] == "dear" else 0)
print("loss", (float(sys.argv[1]) - 0.3) ** 2)
P
# of the last twelve trials of twenty, those that were dear
dear() { orch export --db "$1" -c started,way -f csv | tail -n +2 | sort | tail -n +9 | grep -c dear || true; }
search=(-x 'at=uniform(0, 1)' -x 'way=choice(dear, cheap)' --search 'min loss' --trials 20 -j 1)
ok orch try --db plain.db "${search[@]}" -- python3 task.py '{at}' '{way}'
says_not 'was written by more than one trial' # the store is not the trials'
ok orch try --db limited.db "${search[@]}" --budget 1h -- python3 task.py '{at}' '{way}'
says 'budget 1 h 0 min of device time'
plain=$(dear plain.db) cheap=$(dear limited.db)
[ "$cheap" -lt "$plain" ] && [ "$cheap" -le 3 ] || _fail "$plain of 12 trials were dear, $cheap with a budget"

# a budget that ends: exit status 6, and the same command goes on
fails 6 orch try --db short.db -x 'n=range(1, 9)' -j 1 --budget 1.5s -- python3 -c 'import time; time.sleep(0.7); print("loss", {n})'
says 'stopped by the budget'
fails 2 orch try -x n=1,2 --budget much -- echo '{n}'
says "option '--budget': 'much' is not an amount above 0"

# limits of an objective: of this search alone, and no failure of the run
cat >slow.plugin <<'P'
plugin: slow
version: 1.0.0
about: half a second
metrics_from: lines
command: [python3, -c, 'import sys, time; time.sleep(0.5); print("loss", float(sys.argv[1]))', '${at}']
parameters:
  at: { type: real, default: 0.5 }
metrics:
  loss: { better: min }
P
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  slow:
    plugin: ./slow.plugin
    search: { at: "uniform(0, 1)" }
    objective: { metric: min loss, trials: 30, budget: 3s }
R
ok orch run t.recipe -j 1
says 'the search of slow ends: it has spent'
says 'of 3.0 s, and one more setting would exceed that'
n=$(orch ls -n 0 --state ok --where 'experiment = slow' --format tsv | tail -n +2 | wc -l)
[ "$n" -ge 2 ] && [ "$n" -le 6 ] || _fail "$n trials of half a second in 3 s"
ok orch run t.recipe -j 1
same "$(orch ls -n 0 --where 'experiment = slow' --format tsv | tail -n +2 | wc -l)" "$n" 'what was spent before counts'
# a point is begun with all of its repeats, or not at all
sed 's/^recipe: t/recipe: r/; s/budget: 3s }/budget: 2s }\n    repeat: 3/' t.recipe >r.recipe
ok orch run r.recipe -j 1 --db r.db
same "$(orch ls -n 0 --db r.db --format tsv | tail -n +2 | wc -l)" 3 'trials of half a second in 2 s, three a point'
says 'and one more setting would exceed that'
sed -i 's/budget: 3s/deadline: 1s/; s/trials: 30/trials: 20/' t.recipe
ok orch run t.recipe -j 1 --force
says 'the search of slow ends: its deadline has passed'
for bad in 'budget: much' 'deadline: "18:00"' 'budget: -1usd'; do
    sed "s/deadline: 1s/$bad/" t.recipe >bad.recipe
    fails 2 orch check bad.recipe
    says "bad.recipe:7:"
done
sed 's/deadline: 1s/budget: 3usd/' t.recipe >money.recipe
fails 2 orch run money.recipe
says 'the price per hour of this machine is not known'
ok orch run money.recipe --price 1 -j 1 --smoke
