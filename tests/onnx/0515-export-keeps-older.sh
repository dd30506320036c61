# An export whose files cannot get their names leaves the older model and its file of weights as they were, and one
# that is killed leaves a model and a file of weights.
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
links=$(calls_of link)
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
for call in $calls; do
    rm -f m.onnx*
    cp old.onnx m.onnx
    cp old.data m.onnx.data
    killed_at "$call" orch "${export[@]}" --seed 2 >/dev/null 2>&1
    grep -q '^rename ' "$SCRATCH/hit" || _fail "call $call renames nothing"
    [ -e m.onnx ] && [ -e m.onnx.data ] || _fail "killed at call $call ($(<"$SCRATCH/hit")): $(ls)"
done
rm -f m.onnx*
cp old.onnx m.onnx
cp old.data m.onnx.data
# a file system without links
[ "$(wc -w <<<"$links")" = 1 ] || _fail "these calls link: $links"
ok failing_at "$links"
grep -q '^link ' "$SCRATCH/hit" || _fail "call $links does not link"
! cmp -s m.onnx.data old.data || _fail 'the older weights stayed'
! compgen -G '*orch-tmp*' >/dev/null || _fail "without links: a temporary file stayed"
# with nothing there before, nothing is there afterwards
rm m.onnx m.onnx.data
failing_at 0 >/dev/null 2>&1
calls=$(calls_of rename)
[ "$(wc -w <<<"$calls")" -ge 2 ] || _fail "with nothing there only these calls rename: $calls"
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
