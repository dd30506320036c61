# A forecast uses the undisturbed settings, wherever they stand among disturbed ones.
# test: slow serial
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
printf 'plugin: work\ncommand: [sh, work.sh, "${lr}"]\nparameters: {lr: 0.1}\nmetrics: {took: {unit: s, better: min}}\n' >exp/work.plugin
# 12 that are disturbed, and long enough to be judged; the others long enough that starting is a small part of two times
# of which a law is made
echo '[ $1 -gt 12 ] || machine-is-busy; sleep 1.1; echo "took: 1 s"' >exp/work.sh
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  work: { plugin: exp/work.plugin, sweep: { lr: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] } }
R
ok orch run r.recipe -j 12
says 'other programs used up to '
sed -i 's/ 12\]/ 12, 13, 14]/' r.recipe
ok orch run r.recipe -j 12
sed -i 's/ 14\]/ 14, 15]/' r.recipe
ok orch plan r.recipe -j 12 --json
has '"because": "'
