# The output of forecasts states the unit, the value that limits are compared with, the source of the interval, and the
# measurements used.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# transformers take sequences, and have a wider interval where their attention is of a kind that was not measured
ok orch predict --gpu V100 --net bert-base --dataset 10000 --batch 8
has 'sequences/s'
has_not 'images/s'
has 'a guess, wider than the error of the measured transformers'
has ' in a sequence'
ok orch predict --gpu V100 --net bert-base --dataset 10000 --batch 8 --json
wide=$(json predictions.0.step_high_s)/$(json predictions.0.step_s)
same "$(json predictions.0.sample)" sequence
python3 -c "import sys; sys.exit(abs($(json predictions.0.tokens_per_s) / $(json predictions.0.images_per_s) / 512 - 1) > 1e-9)" || _fail 'tokens a second'
ok orch predict --gpu V100 --net bert-base --batch 8 --attention eager --json
python3 -c "import sys; sys.exit(not $wide > 1.05 * $(json predictions.0.step_high_s) / $(json predictions.0.step_s))" || _fail 'the interval of a transformer'
ok orch predict --gpu V100 --net resnet50 --json
same "$(json predictions.0.sample)" image
ok orch predict --gpu all --net gpt2 --dataset 1000 --batch 1
has 'sequences/s'
# limits are held against the median, and that is said
ok orch predict --gpu V100 --net resnet18 --dataset cifar10 --deadline 36h
has 'are compared with the median; 95 % of such trainings stay within '
ok orch predict --gpu V100 --net resnet18 --dataset cifar10
has_not 'limits:'
# nothing keeps to them: a sentence, no empty table
ok orch predict --gpu all --net resnet50 --budget 0.0001usd
has 'no GPU keeps to the limits'
has_not 'Pareto'
# a row that was imported has the interval of other measurements, and says so
python3 - >rows.csv <<'P'
print("gpu,net,batch,precision,step_ms")
for n, (net, work) in enumerate([("resnet18", 1), ("resnet34", 2.1), ("resnet50", 3.7), ("vgg16", 9)]):
    for k, batch in enumerate([4, 8, 16, 32, 48, 64, 96, 128]):
        print(f"V100,{net},{batch},fp32,{(9 + 0.4 * work * batch ** 0.9) * (1 + 0.02 * (-1) ** (n * k + k)):.4f}")
P
ok orch import rows.csv --target step_ms
ok orch predictor train --no-runs --data rows --untuned
[ "$(printf '%s\n' "$out" | wc -l)" -lt 24 ] || _fail 'more than one screen'
has 'more (--verbose lists them)'
ok orch predictor train --no-runs --data rows --untuned --verbose
has_not '(--verbose'
ok orch predict --gpu V100 --net resnet18 --dataset cifar10 --batch 64
case $out in *'tier measured'*) has 'repeated measurements of other settings vary by' ;; *) _fail 'not measured' ;; esac
# one GPU was measured: there is no error of unseen ones
ok orch predictor ls --json
same "$(json predictors.0.unseen_gpu)" null
ok orch predictor show step_ms
has 'unseen gpu (not tested'
# only one predictor is asked
ok orch predictor train --no-runs --data rows --untuned --name mine
ok orch predictor ls
has "'orch predict' uses only 'step_ms'"
