# A run during which other programs used the CPUs is marked as disturbed, and comparisons of times leave it out where
# they can.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# repeat 1 is disturbed, and long enough to be judged; both are of one setting
ok orch try --name nap --repeat 2 -j 1 -- sh -c 'echo answer 42; [ {repeat} = 2 ] || { machine-is-busy; sleep 1.1; }'
says 'other programs used up to '
ok orch ls --where repeat=1 --json
long=$(json runs.0.key)
ok orch show "$long"
has 'foreign cpu'
has 'used by other programs: its times are used only if'
ok orch show "$long" --json
python3 -c "assert $(json facts.foreign_cpu) > 0.1"
# times leave it out and say so; other metrics count it; --disturbed counts it
ok orch best wall_s --min --json
same "$(json rankings.0.settings.0.n) $(json disturbed_left_out)" '1 1'
says '1 run is left out'
says '--disturbed counts them too'
ok orch best wall_s --min --disturbed --json
same "$(json rankings.0.settings.0.n)" 2
says_not 'left out'
ok orch best answer --max --json
same "$(json rankings.0.settings.0.n)" 2
says_not 'left out'
# where nothing else is there it counts, with a warning
ok orch best wall_s --min -w repeat=1
says 'may be too slow: other programs used over 10 % of the CPUs'
ok orch compare 'repeat=1' 'repeat=2' -m wall_s --across
says 'may be too slow: other programs used over 10 % of the CPUs'
ok orch compare 'repeat>0' 'repeat=2' -m wall_s --json
same "$(json disturbed_left_out)" 1
ok orch try --name nap --json -- sh -c 'echo answer 43'
same "$(json disturbed.trials)" 0
# a report's times leave it out as well, with a note; a forecast is not learned from it
mkdir exp
printf 'plugin: work\ncommand: [sh, work.sh, "${repeat}", "${lr}"]\nparameters: {lr: 0.1}\nmetrics: {took: {unit: s, better: min}, answer: max}\n' >exp/work.plugin
echo '[ $1 = 2 ] || { machine-is-busy; sleep 1.1; }; echo "took: $1.5 s"; echo answer 4$1' >exp/work.sh
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  work: { plugin: exp/work.plugin, sweep: { lr: [0.1] }, repeat: 2 }
report:
  - { title: Times, table: { rows: lr, value: took } }
  - { title: Answers, table: { rows: lr, value: answer } }
R
ok orch run r.recipe -j 1
ok orch report r.recipe
has '1 run is left out'
has 'orch report --disturbed'
has '2.5'
has_not '1.500'
has '41.50'
ok orch report r.recipe --disturbed
has_not 'left out'
has '1.500..2.500'
# a quotient of times says in its first line that all runs of a setting were disturbed; steps of measured batches leave disturbed ones out
cat >w.recipe <<'R'
format: 1
recipe: w
experiments:
  w: { plugin: exp/workers.plugin, sweep: { workers: [1, 2] } }
  again: { plugin: exp/workers.plugin, sweep: { workers: [1] } }
report:
  - { title: Speedup, speedup: { value: took } }
  - { title: Times, table: { rows: workers, value: took } }
R
printf 'plugin: workers\ncommand: [sh, workers.sh, "${workers}"]\nparameters: {workers: {type: int}}\nmetrics: {took: {unit: s, better: min}}\n' >exp/workers.plugin
echo 'machine-is-busy; sleep 1.1; echo "took: $((3 - $1)).5 s"' >exp/workers.sh
ok orch run w.recipe -j 1
ok orch report w.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the load in the first line'
import json, sys
speedup, times = (s["blocks"][0]["text"] for s in json.load(open(sys.argv[1]))["sections"])
assert speedup.endswith(". 2 of the 2 measured runs were disturbed by other programs") and "disturbed" not in times, (speedup, times)
P
sed -i 's/repeat: 2/repeat: 3/' r.recipe
ok orch plan r.recipe --json
has '"because": "1 run of this setting here"'
