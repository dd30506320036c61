# 'orch plan --gpu' says what the trials left take and cost elsewhere: the same figures as 'orch coverage --gpu', where a plugin
# rejects a trial for want of its data, too.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/plugins/train.so" ] || skip 'the training plugins are not built'
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  big:
    plugin: train
    with: { net: resnet20, dataset: cifar10, data_root: nowhere, epochs: 10 }
    sweep: { batch: [64, 128] }
    resources: { gpus: 1 }
R
git add . && git commit -qm t
fails 2 orch plan t.recipe
ok orch plan t.recipe --gpu V100 --json
same "$(json left) $(json gpus.0.gpu)" '2 V100-SXM2-16GB'
same "$(json gpus.0.trials) $(json gpus.0.unknown)" '2 0'
seconds=$(json gpus.0.total_s)
ok orch coverage t.recipe --offline --gpu V100 --json
same "$(json gpus.0.total_s)" "$seconds" 'seconds by orch coverage'
ok orch plan t.recipe --gpu V100,H100 --price 2
has 'H100'
fails 2 orch plan t.recipe --gpu NONE
says NONE
