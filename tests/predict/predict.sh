# Forecasts without any runs: the prior, PALEO with its own anchors, the roofline, and wrong questions.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu V100 --net resnet50
has 'tier same-step: this network was measured on this chip'
has 'newest software: '
ok orch predict --gpu V100 --net resnet50 --model transferred
has 'assumptions (change with the option in brackets):'
has 'imagenet, 1281167 images'
has '(--epochs)'
has '$3.06 an hour a GPU'
has 'as of 2026'
has 'tier transferred'
has '863 public measurements'
has 'The largest batch that fits is'
ok orch predict --gpu V100 --net resnet50 --model prior
has 'tier prior'
has '61 published measurements'
ok orch predict --gpu V100 --net resnet50 --dataset 50000 --epochs 2 --workers 1,4 --price 2 --json
same "$(json predictions.0.tier) $(json predictions.#) $(json interval)" 'same-step 2 0.9'
# cost = hours x workers x price; the interval holds the answer; an epoch is its steps
printf '%s' "$out" | python3 -c '
import json, math, sys
for p in json.load(sys.stdin)["predictions"]:
    steps = math.ceil(50000 / (64 * p["workers"]))
    assert abs(p["epoch_s"] - steps * p["step_s"]) < 1e-9 * p["epoch_s"]
    assert abs(p["total_s"] - 2 * p["epoch_s"]) < 1e-9 * p["total_s"]
    assert abs(p["cost_usd"] - p["total_s"] / 3600 * p["workers"] * 2) < 1e-9 * p["cost_usd"]
    assert p["low_s"] < p["total_s"] < p["high_s"]
    assert (p["exchange_s"] > 0) == (p["workers"] > 1) and p["exposed_exchange_s"] <= p["exchange_s"]
' || _fail 'the figures do not fit each other'
ok orch predict --gpu H200 --net resnet50 --model transferred
has 'this architecture was not measured'
ok orch predict --gpu H200 --net resnet50 --model prior
has 'none on Hopper'
has 'a guess'
fails 2 orch predict --gpu MI210 --net resnet50 --model transferred
says '--model prior'
ok orch predict --gpu V100 --net resnet50 --explain
has 'analytical model: forward'
has 'trained predictor: none'
ok orch predict --gpu all --net resnet50 --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["predictions"]
guess = [bool(r["no_basis"]) or r["tier"] == "prior" for r in rows]
places = [(not r["fits"], g) for r, g in zip(rows, guess)]
assert places == sorted(places) and guess.count(False) > 40, "a guess stands before a measured one, or one that does not fit before one that fits"
for part in set(places):
    times = [r["total_s"] for r, p in zip(rows, places) if p == part]
    assert times == sorted(times)
able = [r for r, g in zip(rows, guess) if r["fits"] and r["cost_usd"] and not g]
for r in able:
    beaten = any(o["total_s"] < r["total_s"] and o["cost_usd"] < r["cost_usd"] for o in able)
    assert not (r["pareto"] and beaten), r["gpu"]
assert 2 <= sum(r["pareto"] for r in rows) < len(rows)
' || _fail 'the ranking or its Pareto set is wrong'
# limits: all that is left keeps them, and the cheapest is taken within a deadline, the fastest within a budget
ok orch predict --gpu all --net resnet50 --deadline 40h --budget 100usd --json
printf '%s' "$out" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["predictions"]
assert rows and all(r["total_s"] <= 40 * 3600 and r["cost_usd"] <= 100 and r["keeps_limits"] for r in rows)
best = [r for r in rows if r["recommended"]]
assert len(best) == 1 and best[0]["cost_usd"] == min(r["cost_usd"] for r in rows if r["fits"])
' || _fail 'a limit is broken'
ok orch predict --gpu all --net resnet50 --budget 60usd
has 'recommended: '
ok orch predict --gpu V100 --net resnet50 --budget '$1' --deadline 2d
has broken
ok orch predict --gpu all --net resnet50 --budget 0.01usd
has 'no GPU keeps to the limits: raise --budget'
for wrong in '--budget 0' '--budget x' '--deadline -3h' '--deadline soon' '--pareto x.svg' '--model fast'; do
    fails 2 orch predict --gpu V100 --net resnet50 $wrong
done
fails 2 orch predict --gpu all --net resnet50 --pareto chart.jpg
says 'FILE.svg'
ok orch predict --gpu all --net resnet50 --pareto chart.svg
grep -q 'B200' chart.svg || _fail 'no label in the chart'
# PALEO: the anchors of its own program (alex_v2, K80, ethernet20, 128 images a worker)
anchor() { orch paleo --net-table "$SOURCE/bench/alexnet.csv" --gpu paleo:K80 --network ethernet20 \
    --batch 128 --scaling weak --workers 4 --scheme "$1" --ppp-comp 0.62 --ppp-comm 0.72 --json; }
near() { python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(abs(a - b) > 5e-7)' "$1" "$2" ||
    _fail "$1 is not $2"; }
ok anchor TreeAllReduce
near "$(json steps.0.fwd_ms)" 57.121928
near "$(json steps.0.bwd_ms)" 154.905506
near "$(json steps.0.update_ms)" 1.189195
near "$(json steps.0.comm_ms)" 447.145884
ok anchor OneToAll
near "$(json steps.0.comm_ms)" 670.718827
ok anchor ButterflyAllReduce
near "$(json steps.0.comm_ms)" 223.572942
ok anchor ButterflyMixing
near "$(json steps.0.comm_ms)" 111.786471
ok anchor ring
same "$(json steps.0.added_to_paleo.scheme)" ring
ok orch paleo --net inception_v3 --gpu K80 --workers 1,2,4,8 --scaling strong --dataset 50000
has 'PPP 0.42'
has '$0.9 an hour a worker'
ok orch paleo --net alexnet --batch 128 --workers 1,2,4 --parallel hybrid --split classifier.1 --split classifier.4 --json
same "$(json 'steps.#') $(json steps.2.workers)" '3 4'
ok orch paleo --net alexnet --workers 1,4 --parallel model --split features.10
has 'one by one'
fails 2 orch paleo --net alexnet --workers 2 --parallel model
says "needs '--split'"
fails 2 orch paleo --net alexnet --workers 16 --parallel hybrid --split classifier.1
says 'at most 8 workers'
ok orch paleo --net vgg16 --algorithm fft
fails 2 orch paleo --net vgg16 --algorithm winograd
# the roofline
ok orch paleo --roofline --net vgg16 --gpu T4 --batch 1,512
has '36.0 GiB'
has 'largest batch that fits 15.9 GB'
ok orch paleo --roofline --net resnet18 --gpu V100 --layers
has memory
has compute
# nothing that is typed is passed over
for wrong in '--pipeline' '--layers' '--algorithm fft' '--cloud foo' '--price 0' '--per-node 0' '--epochs 99999999999' '--format csv --json'; do
    fails 2 orch predict --gpu V100 --net resnet50 $wrong
done
fails 2 orch paleo --roofline --gpu all --net resnet50
says '--gpu all'
fails 2 orch predict --gpu paleo:K80 --net resnet50
says "use 'orch paleo' for these devices"
ok orch predict --gpu V100 --net resnet50 --dataset 50000 --workers 100000 --json
printf '%s' "$out" | python3 -c 'import json, sys; p = json.load(sys.stdin)["predictions"][0]; assert p["low_s"] < p["total_s"] < p["high_s"]' || _fail interval
ok orch paleo --gpu paleo:K80 --net vgg16
has '$1.8 an hour a worker (two GPUs at'
has 'PALEO on paleo:K80'
ok orch predict --gpu V100 --net ResNet50
fails 2 orch predict --gpu K80 --net vgg16 --precision fp16
# wrong questions
fails 2 orch predict --net resnet50
says "option '--gpu' is missing"
fails 2 orch predict --net nosuch # said before the network is opened
says "option '--gpu' is missing"
fails 2 orch predict --gpu V100
says 'no network is named'
fails 2 orch predict --gpu V10O --net resnet50
says 'did you mean'
fails 2 orch predict --gpu V100 --net resnet5O
says 'did you mean'
for wrong in '--batch 0' '--batch 4,x' '--workers 0' '--ppp-comp 0' '--ppp-comp 1.5' '--ppp-comm nan' '--epochs 0' \
    '--scaling up' '--precision fp8' '--dataset imagnet' '--optimizer sdg' '--scheme star' '--model magic'; do
    fails 2 orch predict --gpu V100 --net resnet50 $wrong
    says "${wrong%% *}"
done
fails 2 orch predict --gpu V100 --net resnet50 --network ether
says "unknown link 'ether'"
fails 2 orch predict --gpu K80 --net resnet50 --precision bf16
says 'no known peak speed at bf16'
fails 2 orch predict --gpu V100 --net inception_v3 --dataset cifar10
says 'is too small'
ok orch predict --gpu V100 --net "$SOURCE/bench/alexnet.csv"
has 'tier '
ok orch net show "$SOURCE/bench/alexnet.csv" --json
same "$(json params)" 50303912
fails 2 orch net show "$SOURCE/bench/alexnet.csv" --classes 3
says 'is not a valid value'
printf 'net,layer,type\nx,a,conv2d\n' >bad.csv
fails 2 orch paleo --net bad.csv
says bad.csv
head=net,layer,type,in_shape,out_shape,filter_hwio,stride_hw,pad_type,params
printf '%s\nx,data,input,1x8x8x3,1x8x8x3,,,,0\n' $head >only.csv
fails 2 orch predict --gpu V100 --net only.csv
says 'has only its input'
# every option that is a number is refused when it is none, or out of range
for option in threads batch workers epochs classes per-node price ppp-comp ppp-comm dataset budget deadline input; do
    for value in nonsense -1 0 '' nan 99999999999999999999; do
        fails 2 orch predict --gpu V100 --net resnet50 "--$option=$value"
        says "--$option"
    done
done
for option in threads batch workers epochs; do
    fails 2 orch predict --gpu V100 --net resnet50 --$option 1e9
    says "--$option"
done
for unused in '--threads 4' '--cloud aws --price 3' '--spot --price 3' '--grid 0.381' '--batch 100000000000'; do
    fails 2 orch predict --gpu V100 --net resnet50 $unused
    says "option '--"
done
says 'from 1 to 16777216'
fails 2 orch predict --gpu V100 --net llama-3.2-1b --precision fp8
says 'use --precision fp16'
ok orch predict --gpu RTX-4090 --net llama-3.2-1b --precision fp8
ok orch predict --gpu all --net resnet50
says 'has no known peak speed at fp32; --precision bf16 ranks it'
fails 2 orch predict --gpu A100-SXM --net resnet50
says "did you mean 'A100-SXM4-40GB'?"
fails 2 orch predict --gpu V100 --net resnet50 --forward-only --optimizer adam
says '--optimizer'
says '--forward-only'
# a deadline is read as 'orch run' reads it: a time of day, a duration, a date and time
for when in 23:59 23:59:59 36h 90min '2999-01-01T18:00' '2999-01-01 18:00'; do
    ok orch predict --gpu V100 --net resnet50 --epochs 1 --dataset 1000 --deadline "$when" --json
    same "$(json predictions.0.keeps_limits)" true
done
fails 2 orch predict --gpu V100 --net resnet50 --deadline 25:00
says '2026-11-21T18:00'
fails 2 orch predict --gpu V100 --net resnet50 --deadline 2020-01-01T00:00
says 'has passed'
# GPUs that cannot be answered for are named with the reason
ok orch predict --gpu all --net resnet50 --precision bf16 --json
says 'not ranked: '
says 'K80, '
says ': has no known peak speed at bf16'
printf '%s' "$out" | python3 -c '
import json, sys
a = json.load(sys.stdin)
why = {u["gpu"]: u["because"] for u in a["not_ranked"]}
assert why["K80"] == "has no known peak speed at bf16" and "two GPUs" in why["K80-board"], why
assert not set(why) & {p["gpu"] for p in a["predictions"]} and len(why) > 10
' || _fail 'a GPU is left out in silence'
# what --explain says is in its JSON, for each answer
ok orch predict --gpu V100 --net resnet50 --batch 8,16 --explain
has 'gpu bandwidth_gbs'
has '900 GB/s'
has 'none: the store'
ok orch predict --gpu V100 --net resnet50 --batch 8,16 --explain --json
printf '%s' "$out" | python3 -c '
import json, sys
for batch, p in zip((8, 16), json.load(sys.stdin)["predictions"]):
    e = p["explanation"]
    white, features = e["analytical_model"], {f["name"]: f for f in e["features"]}
    parts = white["forward_s"] + white["backward_s"] + white["update_s"] + white["exposed_exchange_s"]
    assert abs(parts / p["step_s"] - 1) < 0.01 and white["shift"] != 1, (parts, p["step_s"])
    assert features["batch"]["value"] == batch and features["batch"]["unit"] == "images"
    assert features["gpu bandwidth_gbs"] == {"name": "gpu bandwidth_gbs", "value": 900, "unit": "GB/s"}
    assert features["net"]["value"] == "resnet50" and features["white roofline_ms"]["unit"] == "ms"
    assert e["learned"] is None and e["nearest"] == []
    used = e["measured_steps"][0]
    assert used["gpu"].startswith("V100") and used["licence"] and used["where"] and used["software"] and used["date"], used
' || _fail 'the explanation is wrong'
