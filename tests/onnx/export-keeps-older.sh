# An export whose files cannot get their names leaves the older model and its file of weights as they were, and one
# that is killed leaves a whole model: the older one with its weights, or the new one with its own.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/../cli/kill_calls.sh"
export=(orch net export lenet5 --onnx m.onnx --external-data)
ok "${export[@]}" --seed 1
cp m.onnx old.onnx
cp m.onnx.data old.data
# the numbers of the calls by which files get their names
failing_at() { # N: the call fails with EIO
    rm -f "$SCRATCH/hit"
    LD_PRELOAD=$FAULT_LIBRARY ORCH_FAULT_PROGRAM=orch ORCH_FAULT_UNDER=$PWD ORCH_FAULT_AT=$1 ORCH_FAULT_ERRNO=5 ORCH_FAULT_LOG=$SCRATCH/hit "${export[@]}" --seed 2
}
failing_at 0 >/dev/null 2>&1 || _fail 'the calls cannot be listed'
calls_of() { grep -n " $1 .*m\.onnx" "$SCRATCH/hit" | cut -d: -f1; }
calls=$(calls_of rename)
[ "$(wc -w <<<"$calls")" = 2 ] || _fail "these calls rename: $calls"
cp m.onnx new.onnx
cp m.onnx.1.data new.data
! cmp -s new.data old.data || _fail 'another seed gives the same weights'
[ ! -e m.onnx.data ] || _fail 'the older weights stayed'
older() {
    rm -f m.onnx*
    cp old.onnx m.onnx
    cp old.data m.onnx.data
}
is_old() { cmp -s m.onnx old.onnx && cmp -s m.onnx.data old.data; }
is_new() { cmp -s m.onnx new.onnx && cmp -s m.onnx.1.data new.data; }
for call in $calls; do
    older
    fails 3 failing_at "$call"
    is_old || _fail "call $call ($(<"$SCRATCH/hit")): another model"
    [ "$(echo m.onnx*)" = 'm.onnx m.onnx.data' ] || _fail "call $call left $(echo m.onnx*)"
    ! compgen -G '*orch-tmp*' >/dev/null || _fail "call $call: a temporary file stayed"
done
for call in $calls; do
    older
    killed_at "$call" orch "${export[@]}" --seed 2 >/dev/null 2>&1
    grep -q '^rename ' "$SCRATCH/hit" || _fail "call $call renames nothing"
    is_old || is_new || _fail "killed at call $call ($(<"$SCRATCH/hit")): $(ls)"
    # the next export finds what was left
    ok "${export[@]}" --seed 2
    is_new || cmp -s m.onnx.data new.data || _fail "after a kill at call $call: $(ls)"
    [ "$(ls m.onnx* | wc -l)" = 2 ] || _fail "after a kill at call $call: $(ls)"
done
# the names alternate
older
ok "${export[@]}" --seed 2
says "the weights of the model are in 'm.onnx.1.data'"
ok "${export[@]}" --seed 1
says "the weights of the model are in 'm.onnx.data'"
is_old || _fail 'the same seed gives another model'
[ ! -e m.onnx.1.data ] || _fail 'the weights of the model before stayed'
# with nothing there before, nothing is there afterwards
rm m.onnx m.onnx.data
failing_at 0 >/dev/null 2>&1
calls=$(calls_of rename)
[ "$(wc -w <<<"$calls")" = 2 ] || _fail "with nothing there these calls rename: $calls"
for call in $calls; do
    rm -f m.onnx m.onnx.data
    fails 3 failing_at "$call"
    [ ! -e m.onnx ] && [ ! -e m.onnx.data ] || _fail "call $call left a file"
    ! compgen -G '*orch-tmp*' >/dev/null || _fail "call $call: a temporary file stayed with nothing there before"
done
# a folder in the place of the weights stays
rm -f m.onnx
mkdir m.onnx.data
fails 3 "${export[@]}"
[ -d m.onnx.data ] || _fail 'the folder is gone'
rmdir m.onnx.data
ok "${export[@]}" --seed 2
