# An experiment with only_when_named is left out when the whole recipe runs. It runs when its name or problem is given,
# or when another experiment refers to it. Reports include it, --part does not, --smoke tests it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >fit.plugin <<'P'
plugin: fit
version: 1.0.0
command: [sh, -c, 'echo accuracy 0.${epochs}; echo x >w']
metrics_from: lines
parameters: { epochs: { type: int, default: 5 }, from: { type: artifact, optional: true } }
metrics: { accuracy: { better: max } }
artifacts: { w: w }
P
cat >t.recipe <<'R'
format: 1
recipe: t
problems: { p1: [main], p2: [base, long] }
experiments:
  main: { plugin: ./fit.plugin, sweep: { epochs: [1, 2] } }
  base: { plugin: ./fit.plugin, only_when_named: true, with: { epochs: 3 } }
  long: { plugin: ./fit.plugin, only_when_named: true, with: { from: "${base.w}" }, sweep: { epochs: [4, 6, 7] } }
report:
  - { question: "1.1", title: Main, table: { rows: epochs, value: result accuracy, experiments: [main] } }
  - { question: "2.1", title: Long, table: { rows: epochs, value: result accuracy, experiments: [long] } }
R
ok orch check t.recipe
ok orch plan t.recipe
says 't: 2 trials'
says 'long: left out: runs only when it is named (only_when_named)'
ok orch plan t.recipe --json
same "$(json trials.#) $(json left)" '2 2'
has '"long": "runs only when it is named'
ok orch plan t.recipe p2 --json
same "$(json trials.#)" 4
ok orch plan t.recipe long -s long.epochs=4 --json
same "$(json trials.#) $(json trials.0.experiment)" '2 base' # by reference
ok orch plan t.recipe --part 1/2 --json
same "$(json trials.#)" 1
ok orch plan t.recipe p2 --part 2/2 --json
same "$(json trials.#)" 3 # two of long's three, and base, which they refer to
# what is not run is in the report of everything, with the command; not in that of the run
ok orch run t.recipe
has 'Main'
has_not 'Long'
ok orch ls --json
same "$(json runs.#)" 2
ok orch report t.recipe
has 'Long'
has 'orch run t.recipe long'
has missing
ok orch run t.recipe p2
has 'Long'
has_not 'Main'
ok orch report t.recipe
has_not missing
ok orch ls --json
same "$(json runs.#)" 6
ok orch plan t.recipe --exit-code
# a recipe that refers to it runs it; a smoke run tests it
printf '  last: { plugin: ./fit.plugin, with: { from: "${base.w}", epochs: 9 } }\n' >last
sed '/^  long:/r last' t.recipe >u.recipe
sed -i 's/^recipe: t/recipe: u/' u.recipe
ok orch plan u.recipe --json
same "$(json trials.#)" 4
says_not 'base: left out'
ok orch run t.recipe --smoke -q --json
same "$(json trials.#)" 5
# the value is a bool
sed 's/base: { plugin: .\/fit.plugin, only_when_named: true/base: { plugin: .\/fit.plugin, only_when_named: often/' t.recipe >b.recipe
fails 2 orch check b.recipe
says "only_when_named"
says 'b.recipe:6'
exit 0
