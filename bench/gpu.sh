#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Measures orch on this machine's GPU: builds it, runs the tests that need a GPU, and compares training throughput with PyTorch's.
# Prints one table and writes it into bench/results/gpu.md, in place of an earlier one of the same GPU. Takes under 30 minutes:
# each stage has a time limit, and a stage that fails is named at the end while the others go on.
#
# usage: bench/gpu.sh [--carry FOLDER] [--build DIR] [--stages 1,2,...] [--nets A,B] [--dry-run] [--docs FILE]
#
#   --carry FOLDER  libraries that bench/gpu-carry.sh gathered (default build-gpu-carry, where it exists)
#   --build DIR     use this build instead of building one in build-gpu
#   --stages LIST   only these stages; the table also has what earlier calls with the same build measured
#   --nets LIST     networks of stage 3
#   --dry-run       try the script itself: tiny sizes, on the processor; without --docs no file is changed
#   --docs FILE     write the table into FILE instead of bench/results/gpu.md
#
# stages: 1 build, 2 tests, 3 images a second, 4 data path, 5 forecasts, 6 utilisation, 7 ceilings, 8 vecadd,
#         9 all-reduces of NCCL (with two GPUs or more).
# Exit status: 0, 1 when a stage failed, 77 when there is no GPU. $OUT, when set, gets copies of the table and of the logs.
# shellcheck disable=SC1091
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
command_line="bench/gpu.sh${*:+ $*}"
carry=$root/build-gpu-carry build='' stages=1,2,3,4,5,6,7,8,9 nets='' dry_run='' docs=''

say() { printf '%s\n' "$*" >&2; }
die() { say "gpu.sh: $*"; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    --carry) carry=${2:?}; shift 2 ;;
    --build) build=${2:?}; shift 2 ;;
    --stages) stages=${2:?}; shift 2 ;;
    --nets) nets=${2:?}; shift 2 ;;
    --docs) docs=${2:?}; shift 2 ;;
    --dry-run) dry_run=1; shift ;;
    *) die "unknown option '$1': see the first lines of bench/gpu.sh" ;;
    esac
done

gpu_name() { nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1; }
if [ -n "$dry_run" ]; then
    gpu='dry run' device=cpu
else
    gpu=$(gpu_name)
    device=cuda
    if [ -z "$gpu" ]; then
        say "gpu.sh: there is no GPU on this machine (nvidia-smi names none): nothing was built or measured"
        exit 77
    fi
    docs=${docs:-$root/bench/results/gpu.md}
fi
own_build=${build:+no}
build=${build:-$root/build-gpu}
mkdir -p "$build"
build=$(cd "$build" && pwd)
results=$build/gpu-results
[ -z "$dry_run" ] || results=$(mktemp -d)
mkdir -p "$results"
jobs=$(nproc)
failed=''
begin=$SECONDS

# stage NUMBER NAME LIMIT_S FUNCTION: runs it in a shell of its own, its output in a log of $results
stage() {
    local number=$1 name=$2 limit=$3 function=$4 start=$SECONDS status
    case ,$stages, in *,"$number",*) ;; *) return 0 ;; esac
    say "stage $number: $name (at most $limit s)"
    export -f "${function?}" say
    timeout --kill-after=10 "$limit" bash -uo pipefail -c "$function" 2>&1 | tee "$results/stage$number.log" >&2
    status=${PIPESTATUS[0]}
    case $status in
    0) say "stage $number: done in $((SECONDS - start)) s" ;;
    124 | 137) failed="$failed $number($name: over $limit s)" ;;
    *) failed="$failed $number($name: status $status)" ;;
    esac
    [ "$status" = 0 ] || say "stage $number: FAILED (status $status)"
}

build_orch() {
    cd "$root" || exit 1
    local args=()
    if [ -f "$carry/env.sh" ]; then
        . "$carry/env.sh"
        args=("${ORCH_CARRY_ARGS[@]}")
    fi
    if command -v ninja >/dev/null; then args+=(-G Ninja); fi
    if command -v ccache >/dev/null; then args+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    local torch
    torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)') || { say "python3 has no torch"; exit 1; }
    cmake -S . -B "$build" "${args[@]}" -DTorch_DIR="$torch/Torch" -DORCH_TORCH=on -DORCH_TESTS=on &&
        cmake --build "$build" -j "$jobs" 2>&1 | tail -30
}

# Tests that use a GPU where there is one; '-N' lists what the build has.
run_tests() {
    cd "$build" || exit 1
    local list='^(unit\.torch|unit\.training|torch\.|gpu\.|unit\..*(gpu|cuda|nvml)|net\.torchvision|weights\.)'
    [ -z "$dry_run" ] || list='^unit\.(torch|training)$'
    unset OMP_NUM_THREADS
    ctest -N -R "$list" | grep -q 'Total Tests: 0' && { say "this build has no such tests"; exit 1; }
    # not the tests of many minutes of a processor
    ctest -R "$list" -LE slow --output-on-failure --timeout 120 | tee "$results/tests.txt"
    { ctest -L gpu -E "$list" -N; } | grep -q 'Total Tests: 0' || ctest -L gpu -E "$list" --output-on-failure --timeout 120 | tee -a "$results/tests.txt"
}

compare_rates() {
    cd "$root" || exit 1
    local args=(--device "$device" --limit "$rates_limit")
    [ -z "$nets" ] || args+=(--nets "$nets")
    [ -z "$dry_run" ] || args+=(--tiny --rounds 1)
    PYTHONUNBUFFERED=1 python3 bench/gpu_peer.py "$build" "$results/rates.jsonl" "${args[@]}"
}

measure_data_path() {
    local rounds=3 seconds=1 loader_seconds=0.5 # 24 parts of the loader: 36 s; 7 of the path: 21 s
    [ -z "$dry_run" ] || { rounds=1; seconds=0.1; loader_seconds=0.05; }
    "$build/bench_data_path_speed" "$device" "$seconds" "$rounds" | tee "$results/data_path.txt"
    local status=${PIPESTATUS[0]}
    "$build/bench_loader_speed" "$loader_seconds" "$rounds" | tee "$results/loader.txt"
    [ "$status" = 0 ]
}

# What a user without measurements on this GPU would be told: an empty store in a folder of its own.
forecast() {
    local net side batch precision short=${gpu#NVIDIA }
    [ -z "$dry_run" ] || short=V100
    cd "$(mktemp -d)" || exit 1
    unset ORCH_DB
    export XDG_DATA_HOME=$PWD
    : >"$results/predict.jsonl"
    for net in resnet18-cifar:32:128 resnet50:224:64 vgg11_bn:64:128; do
        IFS=: read -r net side batch <<<"$net"
        for precision in fp32 tf32 bf16; do
            if "$build/orch" predict --gpu "$short" --net "$net" --input "3x${side}x$side" --classes 10 --dataset 50000 --epochs 1 \
                --batch "$batch" --precision "$precision" --optimizer momentum --json >answer.json 2>error.txt; then
                python3 -c 'import json, sys
a = json.load(open("answer.json"))["predictions"][0]
print(json.dumps({"net": sys.argv[1], "side": int(sys.argv[2]), "precision": sys.argv[3], "images_per_s": a["images_per_s"],
                  "tier": a["tier"], "runs_as": a["precision"]}))' \
                    "$net" "$side" "$precision" | tee -a "$results/predict.jsonl"
            else
                say "$net $precision: $(head -1 error.txt)"
            fi
        done
    done
    [ -s "$results/predict.jsonl" ]
}

watch_utilisation() {
    cd "$(mktemp -d)" || exit 1
    local sampler epochs=40 data='dataset: cifar10' resources='    resources: { gpus: 1 }' status
    [ -z "$dry_run" ] || { epochs=1; resources=''; }
    # 50,000 images in CIFAR-10's format, of random bytes
    mkdir -p data/cifar10
    DRY_RUN=$dry_run python3 -c 'import os, random
count = 10 if os.environ["DRY_RUN"] else 10000
for i in range(1, 7):
    with open("data/cifar10/" + (f"data_batch_{i}.bin" if i < 6 else "test_batch.bin"), "wb") as f:
        f.writelines(bytes([j % 10]) + random.randbytes(3072) for j in range(count))'
    printf '%s\n' 'format: 1' 'recipe: busy' 'experiments:' '  busy:' '    plugin: train' ${resources:+"$resources"} \
        "    with: { $data, data_root: $PWD/data, net: resnet18-cifar, batch: 128, epochs: $epochs, device: $device, precision: bf16," \
        '            crop_pad: 4, flip: true, layout: channels_last, val_images: 10, checkpoint_every: 1h, loader_threads: 4 }' >busy.recipe
    if [ -z "$dry_run" ]; then
        nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits -l 1 >"$results/utilisation.txt" &
    else
        while sleep 1; do echo 0; done >"$results/utilisation.txt" &
    fi
    sampler=$!
    timeout 80 "$build/orch" run busy.recipe -q --db "$PWD/busy.db"
    status=$?
    kill "$sampler"
    # a run that the time limit ended was busy all the same
    [ "$status" = 0 ] || [ "$status" = 124 ]
}

# What the GPU reaches at best, by 'orch doctor --bench', beside the nominal figures of orch's table: a rate above the nominal one,
# or far below it, says that one of the two is wrong.
measure_ceilings() {
    cd "$(mktemp -d)" || exit 1
    export XDG_DATA_HOME=$PWD LD_LIBRARY_PATH
    # cuBLAS may lie in a wheel beside PyTorch
    LD_LIBRARY_PATH=$(python3 -c 'import glob, site; print(":".join(d for s in site.getsitepackages() for d in glob.glob(s + "/nvidia/*/lib")))' 2>/dev/null):${LD_LIBRARY_PATH:-}
    "$build/orch" doctor --bench --json >doctor.json # its status is about what else is missing
    cp doctor.json "$results/ceilings.json"
    local short=${gpu#NVIDIA }
    [ -z "$dry_run" ] || short=V100
    "$build/orch" gpu show "$short" --json >nominal.json 2>/dev/null || echo '{}' >nominal.json
    python3 "$root/bench/ceilings.py" doctor.json nominal.json ${dry_run:+--dry-run} | tee "$results/ceilings.txt"
    return "${PIPESTATUS[0]}"
}

# Vectors added by kernels of one thread to 16-byte loads, explicit and managed memory: share of the card's copy bandwidth.
measure_vecadd() {
    cd "$(mktemp -d)" || exit 1
    unset ORCH_DB
    {
        printf '%s\n' 'format: 1' 'recipe: vectors' 'experiments:'
        if [ -n "$dry_run" ]; then
            printf '%s\n' '  add: { plugin: vecadd, with: { elements: 10007, min_time: 0s, time_limit: 1s, settled: 1 }, sweep: { scenario: [cpu_1, cpu_all] } }'
        else
            printf '%s\n' '  add: { plugin: vecadd, resources: { gpus: 1 }, with: { min_time: 300ms, time_limit: 1500ms },' \
                '         sweep: { scenario: [gpu_grid, gpu_stride], memory: [pinned, managed_prefetch], millions: [50, 100] } }' \
                '  small: { plugin: vecadd, resources: { gpus: 1 }, with: { min_time: 300ms, time_limit: 1500ms, memory: pinned },' \
                '           sweep: { scenario: [gpu_1x1, gpu_1x256, gpu_grid, gpu_stride], millions: [1] } }'
        fi
    } >vectors.recipe
    "$build/orch" run vectors.recipe -q --require ok --db "$PWD/vectors.db"
    local status=$?
    "$build/orch" export --format json --db "$PWD/vectors.db" >"$results/vecadd.json"
    python3 "$root/bench/gpu_table.py" "$results" --gpu "$gpu" | grep '| vecadd'
    return "$status"
}

# NCCL's all-reduces over all GPUs by size, as nccl-tests measures them: time and bus bandwidth, and the fitted latency and bandwidth.
measure_all_reduces() {
    cd "$(mktemp -d)" || exit 1
    unset ORCH_DB
    local count=2 place='device: cpu' resources=''
    if [ -z "$dry_run" ]; then
        count=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
        place='device: cuda' resources="resources: { gpus: $count }, "
        [ "$count" -gt 1 ] || { say "one GPU has nothing to reduce with: left out"; return 0; }
    fi
    command -v mpirun >/dev/null || { say "no mpirun on the PATH (openmpi-bin): left out"; return 0; }
    local sizes='1KiB, 16KiB, 256KiB, 4MiB, 64MiB, 256MiB'
    [ -z "$dry_run" ] || sizes='1KiB, 16KiB'
    printf '%s\n' 'format: 1' 'recipe: reduce' 'experiments:' \
        "  reduce: { plugin: allreduce, $resources with: { $place, workers: $count, bytes: [$sizes], repeats: 20, warmup: 5, time_limit: 1s }," \
        '            sweep: { algorithm: [auto, ring, reduce_broadcast, hierarchical] } }' >reduce.recipe
    "$build/orch" run reduce.recipe -q --require ok --db "$PWD/reduce.db"
    local status=$?
    "$build/orch" export --what points -m bus_bandwidth -c algorithm,workers --format json --db "$PWD/reduce.db" >"$results/allreduce.json"
    python3 "$root/bench/gpu_table.py" "$results" --gpu "$gpu" | grep '| all-reduce'
    return "$status"
}

export root carry build results dry_run device gpu nets jobs
rates_limit=740
export rates_limit
if [ -z "$own_build" ]; then stage 1 build 360 build_orch; fi
if [ ! -x "$build/orch" ]; then
    say "gpu.sh: '$build' has no orch: nothing can be measured"
    [ -z "${OUT:-}" ] || cp "$results"/*.log "$OUT"/
    exit 1
fi
stage 2 tests 150 run_tests
stage 3 'images a second' 760 compare_rates
stage 4 'data path' 90 measure_data_path
stage 5 forecasts 30 forecast
stage 6 utilisation 100 watch_utilisation
stage 7 ceilings 120 measure_ceilings
stage 8 vecadd 150 measure_vecadd
stage 9 all-reduces 120 measure_all_reduces

failed=${failed# }
python3 "$root/bench/gpu_table.py" "$results" --gpu "${gpu#NVIDIA }" --command "$command_line" --failed "$failed" ${docs:+--docs "$docs"} |
    tee "$results/table.md"
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT"
    cp "$results/table.md" "$OUT"/
    cat "$results"/stage*.log >"$OUT/gpu.log"
    [ ! -f "$results/rates.jsonl" ] || cp "$results/rates.jsonl" "$OUT"/
fi
if [ -n "$failed" ]; then say "took $((SECONDS - begin)) s; failed stages: $failed"; else say "took $((SECONDS - begin)) s; no stage failed"; fi
[ -z "$dry_run" ] || rm -rf "$results"
[ -z "$failed" ]
