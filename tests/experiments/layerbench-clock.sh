# The parameter clock of layerbench: the processor time of one thread is refused with several threads, a GPU or the
# timer justus. With a stand-in for LibTorch.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_LOG=$SCRATCH/torch.log
one() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: layerbench, resources: { cores: 1 }, with: { %s } } }\n' "$1" >o.recipe
    _run orch run o.recipe --force -q
}
part="clock: processor, peak: false, repeats: 2"
one "layers: [dense 5 -> 6], $part"
[ $status = 0 ] || _fail 'one thread'
grep -q '^part .*processor time' "$TINY_TORCH_LOG" || _fail "the adapter was not asked for processor time: $(cat "$TINY_TORCH_LOG")"
: >"$TINY_TORCH_LOG"
one 'layers: [dense 5 -> 6], peak: false'
[ $status = 0 ] || _fail 'the wall clock'
grep -q '^part ' "$TINY_TORCH_LOG" && ! grep -q 'processor time' "$TINY_TORCH_LOG" || _fail "$(cat "$TINY_TORCH_LOG")"
for wrong in 'threads: 2, layers: [dense 5 -> 6]' 'timer: justus, draws: 1'; do
    one "$wrong, $part"
    [ $status = 1 ] || _fail "status $status, expected 1: $wrong"
    says "'clock: processor' needs threads: 1, device: cpu and timer: engine"
done
