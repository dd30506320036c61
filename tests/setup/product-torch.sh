# The target 'product', which './build.sh torch' builds, contains the LibTorch adapter and its version.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
grep -q '^ORCH_TORCH_FOUND:[^=]*=.' "$BUILD/CMakeCache.txt" || skip 'built without LibTorch'
command -v ninja >/dev/null && [ -f "$BUILD/build.ninja" ] || skip 'no ninja'
ninja -C "$BUILD" -t inputs product 2>/dev/null >"$SCRATCH/inputs" || skip "this ninja lists no inputs"
grep -q 'adapter/adapter.cpp' "$SCRATCH/inputs" || _fail 'product is built without orch-torch.so'
same "$(cat "$BUILD/plugins/common/orch-torch.version")" "$(sed -n 's/^ORCH_TORCH_FOUND:[^=]*=LibTorch \([0-9.]*\) .*/\1/p' "$BUILD/CMakeCache.txt")"
