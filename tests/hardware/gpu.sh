# Tables of GPUs, links and prices: names in any spelling, and the user's own hardware file.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch gpu ls --json
same "$(json gpus.0.gpu)" K20
ok orch gpu ls --arch volta
has V100-SXM2-16GB
has_not K80
ok orch gpu show MI300X
has 'GPU links '
has_not NVLink
ok orch gpu show K80
has 'one GPU of its board'
has '4.368 TFLOP/s'
has '8.736'
has 'paleo:K80'
has '$0.9 an hour a GPU (aws p2.xlarge, '
has 'as of 2022-12'
ok orch gpu show 'Tesla V100-SXM2-16GB'
has 'V100-SXM2-16GB'
has '125 TFLOP/s'
for name in MI100 'A100 80GB SXM4' V100S_PCIe; do ok orch gpu show "$name"; done
fails 2 orch gpu show V10000
says V100
ok orch gpu show v100-32gb
has '32 GB'
ok orch gpu show 'NVIDIA H100 80GB HBM3' --json
same "$(json facts.0.value)" H100-SXM5
same "$(json gpu.fp32_tflops) $(json gpu.bandwidth_gbs) $(json gpu.price.cloud)" '66.908 3352.0 verda'
ok orch gpu links
has nvlink4
has ethernet10
# data-centre chips of 2023 and later that a cloud rents out by the hour
for name in B200 B300 GB200 GB300 H20 L20 L40S MI300X MI325X MI355X RTX-5090 RTX-PRO-6000 TPU-v5e TPU-v5p TPU-v6e; do
  ok orch gpu prices $name --json
  test "$(json prices.0.source)" || _fail "$name has no price"
  ok orch gpu show $name
  has 'an hour a GPU ('
done
ok orch gpu prices K80
has 'Standard_NC6'
has_not V100
fails 2 orch gpu show V10
says "unknown GPU 'V10'"
says 'did you mean'
fails 2 orch gpu show here
says 'orch doctor --bench'
fails 2 orch gpu ls --format pdf
says "unknown format 'pdf'"
# a user's own
cat >own.yaml <<Y
gpus:
  - { name: lab-card, like: V100, fp32_tflops: 12, aliases: [ours] }
links:
  - { name: lab-switch, gbit_s: 40 }
  - { name: lab-fabric, gbit_s: 3200, latency_us: 2 } # what eight GPUs with 400 Gbit/s each have
prices:
  - { gpu: lab-card, usd_per_hour: 0.25, as_of: 2026-11 }
  - { gpu: V100, usd_per_hour: 1 }
Y
export ORCH_HARDWARE=$PWD/own.yaml
ok orch gpu show ours
has '12 TFLOP/s'
has '900 GB/s'
has '$0.25 an hour a GPU (yours'
has 'as of 2026-11'
ok orch gpu links
has lab-switch
ok orch predict --gpu ours --net lenet5 --network lab-switch --workers 2 --json
same "$(json predictions.0.usd_per_hour)" 0.25
for ways in '--workers 16' '--parallel dp=16' '--parallel fsdp=16' '--parallel dp=4,tp=4' '--parallel dp=8,pp=2'; do
    for network in infiniband-ndr lab-fabric; do
        ok orch predict --gpu H100 --net gpt2 --precision bf16 --batch 8 $ways --per-node 8 --network $network --json
        json predictions.0.step_s >$network
    done
    python3 -c "a, b = (float(open(f).read()) for f in ('infiniband-ndr', 'lab-fabric')); assert abs(a / b - 1) < 1e-6, (a, b)" || _fail "$ways"
done
ok orch predict --gpu V100 --net lenet5 --json
same "$(json predictions.0.usd_per_hour)" 1.0
printf 'gpus:\n  - name: x\n    fp32_tflops: fast\n    bogus: 1\nlinks:\n  - { name: l, gbit_s: 1, per: rack }\nprices: 3\n' >own.yaml
fails 2 orch gpu ls
says "own.yaml:3:18"
says 'must be a number'
says "unknown key 'bogus'"
says "a link 'per' 'rack'"
says "'prices' must be a list"
says "'bandwidth_gbs' is missing"
printf 'gpus: [\n' >own.yaml
fails 2 orch gpu ls
says own.yaml
ORCH_HARDWARE=$PWD/none.yaml
fails 2 orch gpu ls
says none.yaml
