# A parameter in a script's manifest that its command does not use: 'orch check' of a recipe warns, as 'orch plugin
# check' does.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.plugin <<'P'
command: [sh, -c, "echo loss 1; echo ${lr}"]
parameters: { lr: 0.1, epochs: 5 }
metrics: { loss: min }
P
cat >my.recipe <<'R'
format: 1
recipe: my
experiments:
  a: { plugin: ./train.plugin, sweep: { epochs: [5, 7] } }
  b: { plugin: ./train.plugin, with: { epochs: 9 } }
R
ok orch check my.recipe
has 'well formed'
says "parameter 'epochs' changes nothing"
says "$PWD/train.plugin:2:"
says 'hint: pass it on: --epochs'
[ "$(grep -c 'changes nothing' <<<"$err")" = 1 ] || _fail 'one file is named once'
ok orch plugin check ./train.plugin
has "0 artifacts; warning: parameter 'epochs'"
sed -i 's/echo ${lr}/echo ${lr} ${epochs}/' train.plugin
ok orch check my.recipe
says_not 'changes nothing'
