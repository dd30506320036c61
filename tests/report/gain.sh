# The report item 'gain': the value gained for each per cent of cost over pairs of seeds, with Fieller's interval.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >trick.plugin <<'Y'
command: [sh, trick.sh, "${with}", "${repeat}"]
parameters: { with: { type: enum, choices: [both, fast, slow, none] } }
metrics: { good: { better: max }, cost: {} }
Y
# by repeat: cost 10 + 1 for 'slow' (10 %, no spread) with 0.2, 0.3, 0.4 more; 'fast' differs in cost by noise alone
cat >trick.sh <<'S'
case $1 in slow) c=11 g=0.$(($2 + 1)) ;; fast) c=$((8 + $2)) g=0.1 ;; *) c=10 g=0 ;; esac
printf '{"good": %s, "cost": %s}\n' "$g" "$c"
S
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  tricks: { plugin: ./trick.plugin, sweep: { with: [none, slow, fast] }, repeat: 3 }
report:
  - { question: "1", title: What it is worth, gain: { value: good, cost: cost, by: with, baseline: none } }
  - { question: "2", title: The first is the baseline, gain: { value: good, cost: cost, by: with } }
R
ok orch check t.recipe
ok orch report t.recipe --only 1
has 'missing'
ok orch run t.recipe -q
ok orch report t.recipe --only 1
grep -Eq '^ *slow +3 +0\.3000 +10\.00 +0\.0300 +0\.005 to 0\.055$' "$SCRATCH/out" || _fail 'the row'
grep -Eq '^ *fast +3 +0\.1000 .* - +unbounded$' "$SCRATCH/out" || _fail 'the row'
has 'compared with none, between runs with the same seed'
ok orch report t.recipe --only 2
has 'compared with none'
sed 's/repeat: 3/repeat: 4/' t.recipe >more.recipe
ok orch report more.recipe --only 1
has 'missing'
sed 's/baseline: none/baseline: nothing/' t.recipe >other.recipe
ok orch report other.recipe --only 1
has 'no run of the baseline (nothing) has a result yet'
sed 's/cost: cost, by/by/' t.recipe >o.recipe
fails 2 orch check o.recipe
says "cost"
exit 0
