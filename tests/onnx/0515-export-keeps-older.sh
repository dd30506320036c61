# An export whose files cannot get their names leaves the older model and its file of weights as they were.
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/../cli/kill_calls.sh"
export=(orch net export lenet5 --onnx m.onnx --external-data)
ok "${export[@]}" --seed 1
cp m.onnx old.onnx
cp m.onnx.data old.data
# the number of each call by which a file gets its name
failing_at() { # N: the call fails with EIO
    rm -f "$SCRATCH/hit"
    LD_PRELOAD=$FAULT_LIBRARY ORCH_FAULT_PROGRAM=orch ORCH_FAULT_UNDER=$PWD ORCH_FAULT_AT=$1 ORCH_FAULT_ERRNO=5 ORCH_FAULT_LOG=$SCRATCH/hit "${export[@]}" --seed 2
}
failing_at 0 >/dev/null 2>&1 || _fail 'the calls cannot be listed'
calls=$(grep -n ' rename .*m\.onnx' "$SCRATCH/hit" | cut -d: -f1)
[ "$(wc -w <<<"$calls")" -ge 2 ] || _fail "only these calls rename: $calls"
! cmp -s m.onnx.data old.data || _fail 'another seed gives the same weights'
for call in $calls; do
    cp old.onnx m.onnx
    cp old.data m.onnx.data
    fails 3 failing_at "$call"
    cmp m.onnx old.onnx || _fail "call $call ($(<"$SCRATCH/hit")): another model"
    cmp m.onnx.data old.data || _fail "call $call ($(<"$SCRATCH/hit")): other weights"
    ! compgen -G '*orch-tmp*' >/dev/null || _fail "call $call: a temporary file stayed"
done
# with nothing there before, nothing is there afterwards
rm m.onnx m.onnx.data
failing_at 0 >/dev/null 2>&1
for call in $(grep -n ' rename .*m\.onnx' "$SCRATCH/hit" | cut -d: -f1); do
    rm -f m.onnx m.onnx.data
    _run failing_at "$call"
    [ "$status" != 0 ] || continue # there was no older file to set aside
    [ ! -e m.onnx ] && [ ! -e m.onnx.data ] || _fail "call $call left a file"
done
ok "${export[@]}" --seed 2
