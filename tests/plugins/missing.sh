# A plugin that is not there leaves out the experiments that use it, and those that refer to them, and no others. Every command says
# it, with the way to have the plugin.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir here plugins
cat >here/gone.plugin <<'P'
plugin: gone
command: [sh, -c, "echo value 2; echo w >w"]
metrics: { value: max }
artifacts: { w: w }
P
cat >a.recipe <<'R'
format: 1
recipe: a
problems: { p1: one, p2: [two, after], p3: three }
profile: all
profiles: { all: {}, less: { experiments: { two: { skip: not today }, after: { skip: not today } } } }
experiments:
  one: { plugin: sleep, with: { seconds: 10ms }, repeat: 2 }
  two: { plugin: gone }
  after: { program: "cat ${file}", with: { file: "${two.w}" } }
  three: { program: echo loss 3 }
  four: { plugin: gone, only_when_named: true }
report:
  - { question: 1.1, points: 2, title: S, table: { rows: experiment, value: last slept_s, experiments: one } }
  - { question: 2.1, points: 3, title: N, table: { rows: experiment, value: last value, experiments: two } }
  - { question: 3.1, points: 1, title: L, table: { rows: experiment, value: last loss, experiments: three } }
R
git add -A
git commit -qm first
skipped="experiment 'two' is skipped: there is no plugin 'gone' here"
ok orch plan a.recipe
says "$skipped"
says "hint: see 'orch plugin ls'"
says "experiment 'after' is skipped: needs 'two', whose plugin is not here"
says 'two: left out: there is no plugin'
says 'four: left out'
has 'one #2'
ok orch run a.recipe
says "$skipped"
says '3 trials: 3 ok'
ok orch run a.recipe p3
says_not gone
fails 4 orch run a.recipe p2
says "no plugin 'gone' in $PWD, "
fails 4 orch run a.recipe four
ok orch run a.recipe --profile less
says 'two: left out: not today'
says_not warning
fails 4 orch check a.recipe
has '3 experiments not checked'
says "experiments 'two', 'four' are skipped: there is no plugin 'gone' here"
ok orch config a.recipe
has seconds
ok orch report a.recipe
has "two is not available: there is no plugin 'gone' here"
has 'Loss: 3'
ok orch report a.recipe --points
has '3 in 2 parts'
ok orch coverage a.recipe
ok orch cost a.recipe
ok orch pack a.recipe part.pack
says "there is no plugin 'gone' here"
fails 8 orch submit a.recipe --netid ab1 --out in
has 'two is not available'
# who has the plugin verifies what was packed without it, and the other way round
mv here/gone.plugin plugins/
ok orch verify part.pack --plugin-path plugins
has_not differs:
has "1.1 S  confirmed"
has 'plugins of two'
ok orch run a.recipe --plugin-path plugins
says '2 ok'
ok orch pack a.recipe full.pack --plugin-path plugins
ok orch verify full.pack
has '2.1 N  confirmed' # its description is in the pack
# a misspelt name is an error where nothing else is left
printf 'format: 1\nrecipe: b\nexperiments:\n  e: { plugin: slep }\n' >b.recipe
fails 4 orch run b.recipe
says "did you mean 'sleep'?"
