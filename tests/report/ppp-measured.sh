# 'orch predict --ppp-comp measured' uses the platform percent of peak of the store's own runs: the mean of observed
# over estimated throughput.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >fake.plugin <<'Y'
plugin: fake
version: 1.0.0
about: a training whose time follows a law
command: [sh, "-c", "for i in 1 2 3; do awk -v b=${batch} -v n=${net} 'BEGIN {printf \"step_time %.9f\\n\", 0.04 + b * (n == \"resnet20\" ? 0.005 : 0.009)}'; done"]
metrics_from: lines
parameters:
  net: {type: string, default: resnet20, help: network}
  batch: {type: int, default: 16, help: images}
metrics:
  step_time: {unit: s, better: min, step: step, help: time}
cost: {network: "${net}", precision: fp32, framework: "none 1", input: 3x32x32, classes: "10", images: "1000", batch: "${batch}", workers: "1", epochs: "1", training: "true"}
Y
cat >f.recipe <<'Y'
format: 1
recipe: f
experiments:
  f: { plugin: ./fake.plugin, sweep: { net: [resnet20, resnet32], batch: [8, 64] } }
Y
ask() { orch predict --dataset cifar10 --epochs 1 --precision fp32 --model prior "$@"; }
fails 2 ask --gpu V100 --net resnet20 --ppp-comp measured
says 'PPP (share of the peak speed) cannot be measured: there is no run with a step time on V100'
says 'give a share: --ppp-comp 0.62'
fails 2 ask --gpu V100 --net resnet20 --ppp-comp nearly
says "'nearly' is out of range"
fails 2 orch paleo --gpu V100 --net resnet50 --ppp-comp measured
says "'measured' is out of range"

ok orch run f.recipe --no-progress
ok orch predictor rows --json
gpu=$(json rows.0.gpu)
printf 'gpus:\n  - { name: "%s", like: T4 }\n' "$gpu" >hardware.yaml
export ORCH_HARDWARE=$PWD/hardware.yaml
ok ask --gpu "$gpu" --net resnet20 --batch 8 --ppp-comp measured
has 'mean of 4 settings run on this GPU'

# A prediction is estimate / PPP and PPP the mean of estimate / measured, so prediction / measured has the mean 1 over
# the workloads. The estimate itself is the whole peak: a PPP of 1 predicts at most that.
: >ratios
for net in resnet20 resnet32; do
    for batch in 8 64; do
        ok ask --gpu "$gpu" --net $net --batch $batch --ppp-comp measured --json
        same "$(json tier)" prior
        python3 -c 'import sys; net, b, p = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]); print(p / (0.04 + b * (0.005 if net == "resnet20" else 0.009)))' \
            $net $batch "$(json predictions.0.step_s)" >>ratios
    done
done
python3 - <<'P' || _fail "the mean of $(cat ratios | tr '\n' ' ') is not 1"
r = [float(x) for x in open("ratios")]
assert len(r) == 4 and abs(sum(r) / 4 - 1) < 0.001 and max(r) - min(r) > 0.01, r
P

# faster than the peak allows: the peak is wrong, which is said
printf 'gpus:\n  - { name: "%s", fp32_tflops: 0.001, bandwidth_gbs: 0.1, memory_gb: 8 }\n' "$gpu" >hardware.yaml
fails 2 ask --gpu "$gpu" --net resnet20 --ppp-comp measured
says 'the runs are faster than the known peak'
exit 0
