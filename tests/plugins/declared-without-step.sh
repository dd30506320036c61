# A metric that a manifest declares without a step is one value: earlier ones that the program printed are lost, and
# this is said, with the key that keeps them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.plugin <<'Y'
plugin: t
command: [sh, -c, 'for e in 1 2 3; do echo "epoch $$e acc 0.$$e loss 1.$$e"; done; echo "best 0.3"; echo "best 0.3"']
metrics: { acc: { better: max }, loss: { better: min, step: epoch }, best: { better: max } }
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  t: { plugin: ./t.plugin, repeat: 2 }
R
git add -A
git commit -qm one
ok orch run r.recipe
says "4 values were replaced by a later one, because the metric is declared without a step, first: acc; 'step: epoch' in"
ok orch show @last --json
same "$(of_json 'it["results"]')" '{"acc":0.3,"best":0.3}'
sed -i 's/acc: { better: max }/acc: { better: max, step: epoch }/' t.plugin
ok orch run r.recipe --json
says_not 'without a step'
same "$(json output.single_values)" 0
ok orch show @last --json
same "$(of_json '[[m["name"], m["points"]] for m in it["metrics"]]')" '[["acc",3],["loss",3]]'
