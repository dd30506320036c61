# The cost of a scaling trial without the parameter price: machines times the processor price of hardware.yaml, GPUs
# times the dated price, or --price; a note of the run names the source. Without a price there is no cost, which a note
# says.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so ORCH_SYSTEM_METRICS=off
small='dataset: synthetic, image_size: 8, net: "mlp:4", epochs: 1, per_class: 4, val_images: 10, layout: plain, threads: 1, loader_threads: 0, batch: 8'
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  cpu: { plugin: scaling, with: { $small } }
  gpu: { plugin: scaling, resources: { gpus: 2 }, with: { $small, device: cuda } }
R
# priced USD_PER_HOUR NOTE ORCH_RUN_ARGUMENT...: what the last run says; null: without a cost
priced() {
    local usd=$1 note=$2
    shift 2
    ok orch run t.recipe -q --force "$@"
    ok orch show @last
    has "$note"
    ok orch show @last --json
    python3 - "$usd" "$SCRATCH/out" <<'P' || _fail "the cost ($*)"
import json, sys
r = json.load(open(sys.argv[2]))["results"]
if sys.argv[1] == "null":
    assert "cost" not in r and "usd_per_hour" not in r, r
else:
    assert abs(r["usd_per_hour"] - float(sys.argv[1])) < 1e-9 and r["total_time"] > 0, r
    assert abs(r["cost"] / (r["total_time"] / 3600 * r["usd_per_hour"]) - 1) < 1e-6, r
P
}
priced null "no cost: no price of this machine is known; set 'price'" cpu
priced 7.2 'weights of all workers' cpu -s price=3.6
ok orch show @last
has_not 'no cost'
priced 0.5 'cost: 1 machine at $0.5 an hour each (--price)' cpu --price 0.5
mkdir -p "$XDG_CONFIG_HOME/orch"
ok orch show @last --json
cpu=$(json cpu)
printf 'prices:\n  - { gpu: "%s", usd_per_hour: 0.25, as_of: 2026-11 }\n' "$cpu" >"$XDG_CONFIG_HOME/orch/hardware.yaml"
priced 0.25 'cost: 1 machine at $0.25 an hour each (yours' cpu
ok orch show @last
has 'as of 2026-11'
# a hardware file with an error: the training runs, and the file is named
printf 'prices:\n  - { gpu: x, usd_per_hour: many }\n' >"$XDG_CONFIG_HOME/orch/hardware.yaml"
priced null 'no cost' cpu
ok orch run t.recipe cpu --force
says 'the price of this machine is not known'
says hardware.yaml
rm "$XDG_CONFIG_HOME/orch/hardware.yaml"
# two GPUs, of the dated table
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'on GPUs: the build has no made-up ones'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=2 TINY_TORCH_CUDA=2
export ORCH_CUDART=$BUILD/tests/mpi/fake_nccl.so ORCH_NCCL=$BUILD/tests/mpi/fake_nccl.so
ok orch predict --gpu V100 --net resnet18 --json
usd=$(json predictions.0.usd_per_hour)
from=$(json predictions.0.price_from)
priced "$(python3 -c "print(2 * $usd)")" "cost: 2 GPUs at \$$usd an hour each ($from)" gpu
priced 3 'cost: 2 GPUs at $1.5 an hour each (--price)' gpu --price 1.5
FAKE_NVML_MODEL='A card of tomorrow' priced null 'no cost: no price of this GPU is known' gpu
# a processor's trial beside GPUs is not charged at the price of a GPU
priced null 'no cost: no price of this machine is known' cpu
