# SPDX-License-Identifier: GPL-3.0-or-later
# Several named GPUs are compared; the features that --explain shows are of the input that was asked for.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu 'V100, A100,v100' --net resnet50 --price 1 --json
same "$(json predictions.0.gpu) $(json predictions.1.gpu)" 'A100-SXM4-40GB V100-SXM2-16GB'
python3 -c "import json; exit(len(json.load(open('$SCRATCH/out'))['predictions']) != 2)" || _fail 'not two forecasts'
ok orch predict --gpu V100,A100 --net resnet50 --price 1 --pareto both.svg
has 'recommended: A100-SXM4-40GB'
[ -s both.svg ] || _fail 'no chart'
fails 2 orch predict --gpu V100,A1000 --net resnet50
says "unknown GPU 'A1000'"
fails 2 orch predict --gpu V100,A100 --net resnet50 --batch 32,64
says "option '--batch' needs a single number if several GPUs are ranked"
fails 2 orch predict --gpu V100 --net resnet50 --pareto both.svg
says "option '--pareto' needs several GPUs"

feature() { python3 -c "
import json
parts = json.load(open('$SCRATCH/out'))['predictions'][0]['explanation']['features']
print(next(p['value'] for p in parts if p['name'] == '$1'))"; }
gmacs() { orch net show "$@" --json | python3 -c "import json, sys; print(sum(l['multiply-adds'] for l in json.load(sys.stdin)['layers']) / 1e9)"; }
for asked in 'resnet18 3x32x32' 'resnet18 3x224x224' 'lenet5 1x28x28' 'resnet-cifar:20 3x32x32' 'gpt2 1x128x1'; do
    read -r net input <<<"$asked"
    ok orch predict --gpu V100 --net "$net" --input "$input" --explain --json
    python3 -c "import sys; sys.exit(abs($(feature 'work gmacs') / $(gmacs "$net" --input "$input") - 1) > 0.02)" ||
        _fail "$asked: $(feature 'work gmacs') GMACs of the question, $(gmacs "$net" --input "$input") of the network"
done
