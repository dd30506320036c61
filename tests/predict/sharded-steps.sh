# Steps of trainings with sharded weights on A100 and H100, as MosaicML measured them (llm-foundry, scripts/train/benchmarking): forecasts are near,
# with activations kept or computed again and for long sequences. Those of H100 were not fitted to.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# GPU NETWORK TOKENS MICRO ACCUMULATIONS tokens a second and GPU [OPTION]
near_measured() {
    gpu=$1 net=$2 tokens=$3 micro=$4 times=$5 measured=$6
    shift 6
    precision=bf16
    [ "${1-}" != --precision ] || { precision=$2; shift 2; }
    ok orch predict --gpu "$gpu" --net "$net" --classes 50368 --tokens "$tokens" --batch $((micro * times)) --precision "$precision" --optimizer adam \
        --parallel "fsdp=8,micro=$times" "$@" --json
    python3 -c "import json, math, sys
p = json.loads(sys.argv[1])['predictions'][0]
log = math.log(p['tokens_per_s'] / 8 / $measured)
assert abs(log) < 0.2, log
assert p['step_low_s'] <= $((micro * times * tokens)) / $measured <= p['step_high_s']" "$out" || _fail "$gpu $net $tokens"
}
near_measured A100-SXM4-80GB mpt:24,2048,16 2048 14 4 20513
near_measured A100-SXM4-80GB mpt:40,5120,40 4096 10 3 2060 --checkpointing
near_measured A100-SXM4-80GB mpt:24,1024,16 65536 1 2 7524
near_measured H100-SXM5 mpt:24,2048,16 2048 14 1 45455
near_measured H100-SXM5 mpt:32,4096,32 2048 6 1 10643
near_measured H100-SXM5 mpt:48,7168,56 2048 3 21 2002 --checkpointing
near_measured H100-SXM5 mpt:32,2560,20 65536 1 2 3262 --checkpointing
# in fp8: the linear layers but the last
near_measured H100-SXM5 mpt:32,2560,20 2048 10 6 30586 --precision fp8
near_measured H100-SXM5 mpt:32,2560,20 512 40 6 36527 --precision fp8
near_measured H100-SXM5 mpt:24,2048,16 512 56 4 70315 --precision fp8
near_measured H100-SXM5 mpt:24,1024,16 16384 2 4 42929 --precision fp8

# what is computed again ends with the last value that a gradient needs: without dropout not with the second feed-forward layer, a third of the operations
cost() { python3 -c "print($2 / $1 - 1)"; }
ok orch predict --gpu A100 --net mpt:32,4096,32 --tokens 1024 --batch 8 --precision bf16 --json
kept=$(json predictions.0.step_s)
ok orch predict --gpu A100 --net mpt:32,4096,32 --tokens 1024 --batch 8 --precision bf16 --checkpointing --json
python3 -c "import sys; sys.exit(not 0.17 < $(cost "$kept" "$(json predictions.0.step_s)") < 0.26)" || _fail "computing again costs $(cost "$kept" "$(json predictions.0.step_s)")"
ok orch predict --gpu A100 --net gpt:32,4096,32 --tokens 1024 --batch 8 --precision bf16 --json
kept=$(json predictions.0.step_s)
ok orch predict --gpu A100 --net gpt:32,4096,32 --tokens 1024 --batch 8 --precision bf16 --checkpointing --json
python3 -c "import sys; sys.exit(not 0.28 < $(cost "$kept" "$(json predictions.0.step_s)") < 0.36)" || _fail "with dropout it costs $(cost "$kept" "$(json predictions.0.step_s)")"

# PyTorch's sums on tensor cores are in fp32: a GeForce card has half of the rate of the units
ok orch gpu show RTX-3090 --json
python3 -c "import json, sys; v = {f['what']: f['value'] for f in json.loads(sys.argv[1])['facts']}; w = [v[k] for k in v if k.startswith('sustained') and 'fp32' not in k]; assert w and max(w) < 71.2, v" "$out" ||
    _fail 'sustained rate'
fails 2 orch predict --gpu H100 --net mpt-7b --tokens 2000000
says "option '--tokens': '2000000' is out of range"
