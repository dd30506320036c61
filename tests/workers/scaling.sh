# The plugin scaling: several workers with shards of a batch learn the same as one worker with the whole batch, with
# every all-reduce, with and without overlap; also weak scaling, compression, cost, oversubscription and bad input.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/tests/mpi/mpi_sum.so" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
small='dataset: synthetic, image_size: 16, net: "mlp:8", epochs: 2, per_class: 20, val_images: 30, layout: plain, threads: 1, loader_threads: 0, crop_pad: 2, flip: true, warmup_steps: 3'
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  workers: { plugin: scaling, with: { $small, batch: 24, price: 3.6 }, sweep: { workers: [1, 2, 3] } }
  algorithms:
    plugin: scaling
    with: { $small, batch: 24, workers: 3 }
    sweep: { algorithm: [linear, reduce_broadcast, recursive_doubling, ring, segmented_ring, rabenseifner, hierarchical] }
  late: { plugin: scaling, with: { $small, batch: 24, overlap: false, first_bucket_bytes: 1 } }
  rounded: { plugin: scaling, with: { $small, batch: 24 }, sweep: { compression: [fp16, bf16] } }
  weak: { plugin: scaling, with: { $small, batch: 12, scaling: weak, untimed_epochs: 1 } }
R
ok orch run t.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
out=
python3 - runs.json <<'P' || _fail 'what the trainings give'
import json, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    key = run.get("param.workers"), run.get("param.algorithm"), run.get("param.compression")
    runs.setdefault(run["experiment"], {})[key] = run
def numbers(run):
    names = ["final_loss", "full_loss", "best_accuracy"]
    return [run["result." + n] for n in names] + [run["metric." + n] for n in ("train_loss", "train_accuracy", "step_loss", "val_error")]
def near(a, b, most):
    return all(abs(x - y) <= most for x, y in zip(numbers(a), numbers(b)))
one = next(r for r in runs["workers"].values() if r["result.worker_count"] == 1)
assert one["result.communication_time"] == 0 and one["result.overlap"] is None, one
count = 0
for name in "workers", "algorithms", "late", "weak":
    for run in runs[name].values():
        count += 1
        assert near(run, one, 1e-5), (name, numbers(run), numbers(one))
        workers = run["result.worker_count"]
        assert run["result.effective_batch"] == 24 and run["result.worker_batch"] == 24 / workers, run
        assert run["result.timed_steps"] == (8 if name == "weak" else 13), run
        parts = sum(run["result." + p] for p in ("data_time", "compute_time", "exposed_communication_time"))
        assert abs(parts / run["result.step_time"] - 1) < 1e-9 and abs(24 / run["result.step_time"] / run["result.throughput"] - 1) < 1e-9, run
        assert run["result.timed_epoch_time"] > run["result.timed_epoch_time_without_data"] > 0, run
        if workers > 1:
            assert 0 < run["result.communication_time"] and 0 <= run["result.overlap"] <= 1 and run["result.reduced_bytes"] > 0, run
            assert 0 <= run["result.peer_wait_time"] <= run["result.exposed_communication_time"] + 1e-12, run
        if name == "workers":  # 3.6 dollars an hour: 0.001 a second and worker
            assert abs(run["result.cost"] / (run["result.total_time"] * workers * 0.001) - 1) < 1e-9, run
assert count == 3 + 7 + 1 + 1
late, = runs["late"].values()
assert late["result.overlap"] == 0, late
sixteen = {run["param.compression"]: run for run in runs["rounded"].values()}
for name, least, most in ("fp16", 1e-6, 2e-3), ("bf16", 1e-4, 2e-2):
    run = sixteen[name]
    assert least < run["result.compression_error"] < most and near(run, one, 10 * most) and not near(run, one, 0), run
    assert run["result.reduced_bytes"] * 2 == late["result.reduced_bytes"], run
P
ok orch show @last
has 'weights of all workers: SHA-256'
# more workers than processors: it runs, and says so
ok orch run t.recipe workers -q -s workers=4 -s threads=64
ok orch show @last
has 'too few CPUs: 4 workers with 64 threads each share'
ok orch show @last --json
python3 -c 'import json, sys; assert json.load(sys.stdin)["results"]["oversubscribed"] == 1' <<<"$out" || _fail 'oversubscribed'
# what cannot be
fails 2 orch run t.recipe weak -q -s scaling=strong -s workers=5 -s batch=12
says 'a batch of 12 images cannot be divided equally among 5 workers'
fails 2 orch run t.recipe weak -q -s untimed_epochs=2
says 'untimed_epochs: 2 leaves none of the 2 epochs'
_run orch run t.recipe weak -q --force -s batch=200
[ $status = 1 ] || _fail 'a batch larger than the data'
ok orch show @last --json
case $(json reason) in *'a step of all workers takes 400 images, but there are only 200'*) ;; *) _fail "$(json reason)" ;; esac
# on GPUs: NCCL sums the buckets, on a stream of its own (tests/plugins/fake_nccl.c stands in for it)
export TINY_TORCH_CUDA=2 ORCH_CUDART=$BUILD/tests/mpi/fake_nccl.so ORCH_NCCL=$BUILD/tests/mpi/fake_nccl.so
cat >gpu.recipe <<R
format: 1
recipe: gpu
experiments:
  one: { plugin: scaling, with: { $small, batch: 24, workers: 1, device: cuda } }
  two: { plugin: scaling, with: { $small, batch: 24, device: cuda, first_bucket_bytes: 1 }, sweep: { algorithm: [auto, ring], overlap: [true, false] } }
R
ok orch run gpu.recipe -q
ok orch export --format json
cp "$SCRATCH/out" gpus.json
out=
python3 - gpus.json runs.json <<'P' || _fail 'what the trainings on GPUs give'
import json, sys
gpu, cpu = (json.load(open(path)) for path in sys.argv[1:])
gpu = [run for run in gpu if run["experiment"] in ("one", "two")]
assert len(gpu) == 5, len(gpu)
first = next(run for run in cpu if run["experiment"] == "workers" and run["result.worker_count"] == 1)
for run in gpu:
    for name in "result.final_loss", "metric.train_loss", "metric.train_accuracy":
        assert abs(run[name] - first[name]) < 1e-5, (name, run[name], first[name])
    assert run["result.timed_steps"] == 13, run
    if run["experiment"] == "two":
        assert run["result.buckets"] == 1 and run["result.communication_time"] > 0, run  # the stand-in trains the head alone
        assert (run["result.overlap"] == 0) == (not run["param.overlap"]), run
P
ok orch show @last
has 'weights of all workers: SHA-256'
reason() {
    _run orch run gpu.recipe two -q --force -x two.overlap=true "$@"
    [ $status = 1 ] || _fail "status $status: $*"
    ok orch show @last --json
    out=$(json reason)
}
reason -x two.algorithm=rabenseifner
has "NCCL does not have algorithm 'rabenseifner'"
reason -x two.algorithm=auto -s two.device=cuda:1
has "device: 'cuda:1' is one GPU"
reason -x two.algorithm=auto -s two.compression=fp16
has "compression: 'fp16' works only with workers on CPUs"
for failing in ncclGetUniqueId ncclCommInitRank cudaStreamSynchronize; do
    FAKE_NCCL_FAIL=$failing reason -x two.algorithm=auto
    has 'on purpose'
done
ORCH_NCCL=/nowhere/libnccl.so reason -x two.algorithm=auto
has 'there is no libnccl'
exit 0
