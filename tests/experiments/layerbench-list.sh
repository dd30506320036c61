# Listed and drawn layers of the plugin layerbench, with a stand-in for LibTorch: rows with operations, bytes and
# utilisation, and lists that are refused before the run.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so TINY_TORCH_LOG=$SCRATCH/torch.log
one() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: layerbench, with: { %s } } }\n' "$1" >o.recipe
    orch run o.recipe --force -q 2>&1
}
prints() { case $1 in *"$2"*) ;; *)
    out=$1
    _fail "not printed: $2"
    ;;
esac }

# two layers of one's own: 2 * 64 * 128 * 9 * 16 * 16 * 16 operations forward and twice as many backward, 3 + 6 ms
one 'layers: [conv 64x32x32 -> 128 k3 s2 p1 b16, batchnorm+relu 8x4x4], net_batch: 4, repeats: 5'
ok orch show @last --json
same "$(json state) $(json results.layers_timed) $(json results.layer_sum)" 'ok 3.0 27.0' 'rows and their sum:'
ok orch show @last -a rows
has 'layer,conv,conv 64x32x32 -> 128 k3 s2 p1,16,64,32,32,128,16,16,3,2,1,1,0,73728,train,0,fp32,plain,sgd,1.81194,'
has ',batchnorm,batchnorm 8x4x4,4,'
has ',relu,relu 8x4x4,4,'
# 1.81194 GFLOP in 9 ms, of a peak of 3699 GFLOP/s (the stand-in's 1 ms)
same "$(printf '%s\n' "$out" | sed -n 's/.*,conv 64.*,sgd,//p' | cut -d, -f8,9,11)" '9,201.327,0.0544218' 'rate and utilisation:'
grep -q '^part 1 of conv, batch 16, trains, input learns$' "$TINY_TORCH_LOG" || _fail "$(cat "$TINY_TORCH_LOG")"

# forward only; no peak, so no share of it
one 'layers: [dense 512 -> 10 b2], optimizer: none, peak: false'
ok orch show @last -a rows
has ',dense,dense 512 -> 10,2,'
has ',5130,forward,0,fp32,plain,none,'
same "$(printf '%s\n' "$out" | tail -1 | cut -d, -f24,25,32-)" '3,0,,' 'forward 3 ms, nothing backward, no utilisation:'

# every kind can be drawn, and equal seeds draw equal layers
one 'draws: 12, kinds: [conv, dense, pool, batchnorm, elementwise, attention], in_hw: [1, 16], peak: false'
ok orch show @last -a rows
printf '%s\n' "$out" | cut -d, -f2-4 >first
for kind in conv dense pool batchnorm attention; do has "$kind"; done
one 'draws: 12, kinds: [conv, dense, pool, batchnorm, elementwise, attention], in_hw: [1, 16], peak: false, layout: channels_last'
ok orch show @last -a rows
printf '%s\n' "$out" | cut -d, -f2-4 | cmp - first || _fail 'equal seeds drew other layers'

# refused at check: nothing is recorded
: >"$TINY_TORCH_LOG"
prints "$(one 'layers: [conv 3x8x8 -> 6 k3, conv 3x4x4 -> 6 k7]')" \
    "layers, entry 2: layer 'conv 3x4x4 -> 6 k7': a window of 7x7 is larger than the padded input, 4x4"
prints "$(one 'layers: [covn 3x8x8 -> 6 k3]')" "unknown kind 'covn'"
prints "$(one 'layers: [conv 3x8x8 -> 6]')" "write it as 'conv 64x32x32 -> 128 k3 s2 p1'"
prints "$(one 'layers: [dense 5 -> 6], net: lenet5')" "set either 'net' or 'layers', not both"
prints "$(one 'timer: justus, kinds: [conv, pool]')" "'timer: justus' measures only the kinds conv and dense"
[ ! -s "$TINY_TORCH_LOG" ] || _fail "something ran: $(cat "$TINY_TORCH_LOG")"
prints "$(
    TINY_TORCH_FAIL=part_time:2 one 'layers: [dense 5 -> 6], peak: false, optimizer: none'
    TINY_TORCH_FAIL=part_time one 'draws: 1, peak: false'
)" 'part_time failed on purpose'
exit 0
