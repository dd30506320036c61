# A report distinguishes trials that never ran from those with runs of an earlier version or of other settings, gives
# the command for each, and does not call a part of the trials "small scale".
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >job.plugin <<'Y'
plugin: job
command: [sh, job.sh, "${lr}", "${steps}"]
parameters: { lr: { type: real, default: 0.1 }, steps: { type: int, default: 5 } }
metrics: { score: { better: max } }
Y
echo 'echo "score $1$2"' >job.sh
cat >r.recipe <<'R'
format: 1
recipe: r
profile: course
profiles: { course: {} }
experiments:
  job: { plugin: ./job.plugin, sweep: { lr: [0.1, 0.2] }, repeat: 2 }
report:
  - { title: Scores, question: 1.1, points: 2, table: { rows: lr, value: score } }
  - { title: Chart, question: 1.2, points: 2, plot: { x: lr, y: score } }
R
git add -A
git commit -qm first
# nobody ran it
ok orch report r.recipe
has '4 of 4 trials are not run'
has_not stale
has_not 'settings -'
ok orch report r.recipe --points
has 'not run: 4 in 2 parts'
# the program was edited since
ok orch run r.recipe -q
echo '#' >>job.sh
ok orch report r.recipe
has '4 of 4 trials are stale, which means that only an earlier version was run: job.sh changed'
has_not 'not run'
has 'to have it: orch run r.recipe job'
ok orch report r.recipe --points
has 'stale: 4 in 2 parts'
has_not 'not run'
ok orch report r.recipe --points --json
same "$(json parts.1.state)" stale
case $(json parts.1.missing) in '4 of 4 trials are stale'*) ;; *) _fail 'the part of a plot lacks its reason' ;; esac
# one of the trials is run again
ok orch run r.recipe -q --part 1/4
ok orch report r.recipe
has '3 of 4 trials are stale'
# other settings: ls shows them, the report names the command that reports on them, and that works
git checkout -q job.sh
rm -rf .orch
ok orch run r.recipe -q -s steps=7
ok orch ls
has 'lr=0.1 steps=7'
ok orch report r.recipe
has '4 of 4 trials have runs with other settings only (steps was 7, is 5)'
command=$(sed -n "s/.*'\(orch report[^']*\)' reports on those.*/\1/p" <<<"$out" | head -1)
same "$command" 'orch report r.recipe -s job.steps=7'
ok $command
has '0.1700'
has 'settings -s job.steps=7'
has_not missing
ok $command --json
same "$(json settings)" '-s job.steps=7'
ok $command --html report.html
grep -q 'job.steps=7' report.html || _fail 'the page does not name the settings'
# a value that was set for another experiment, or swept, is shown once
ok orch run r.recipe -q -s job.steps=8 -x lr=0.3
ok orch ls
has 'lr=0.3 steps=8'
# a part of the trials is no smaller scale
rm -rf .orch
ok orch run r.recipe -q --part 1/2
has_not 'small scale'
ok orch report r.recipe --part 1/2
has 'settings --part 1/2'
has_not 'small scale'
has_not missing
# another size is, in a part as well
ok orch run r.recipe -q --part 1/2 -s steps=2
ok orch report r.recipe --part 1/2 -s steps=2
has 'small scale: full size (profile course) has steps 5 instead of 2'
