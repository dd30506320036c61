# bench/gpu.sh exits with 77 and a reason on a machine without a GPU, before it builds or writes anything. Its table
# replaces the previous section of the same GPU and leaves the rest of the page unchanged.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf '#!/bin/sh\nexit 9\n' >"$SCRATCH/bin/nvidia-smi"
chmod +x "$SCRATCH/bin/nvidia-smi"
before=$(cksum <"$SOURCE/bench/results/gpu.md")
fails 77 bash "$SOURCE/bench/gpu.sh" --build "$SCRATCH/w/built"
says 'there is no GPU on this machine (nvidia-smi names none): nothing was built or measured'
[ ! -e built ] || _fail 'a folder was made'
same "$(cksum <"$SOURCE/bench/results/gpu.md")" "$before" 'bench/results/gpu.md'
fails 2 bash "$SOURCE/bench/gpu.sh" --stage 1
says "unknown option '--stage'"

mkdir r
row() { # WHO RATE FAILED
    printf '{"net": "resnet50", "side": 224, "batch": 64, "precision": "bf16", "augment": false, "who": "%s", "images_per_s": %s, "rounds": [], "failed": %s}\n' "$1" "$2" "$3"
}
{
    row orch 1800 null
    row 'PyTorch eager' 1500 null
    row torch.compile null '"no compiler"'
} >r/rates.jsonl
printf '{"net": "resnet50", "precision": "bf16", "images_per_s": 900.0}\n' >r/predict.jsonl
printf '0\n0\n90\n97\n99\n98\n' >r/utilisation.txt
printf '   812345 images/s, made by 1 worker thread\n 40123456 images/s, made by the GPU, plans of 1 worker thread\nratio 9.5: of this to that\n' >r/data_path.txt
cat >r/vecadd.json <<'V'
[{"state": "ok", "param.scenario": "gpu_stride", "param.memory": "pinned", "result.element_count": 5e7, "result.kernel_time": 0.15, "result.bandwidth": 4000.0,
  "result.bandwidth_share": 0.98, "result.measured_bandwidth": 4081.6, "result.nominal_share": 0.83, "result.ecc": 1, "result.sm_clock": 1980, "result.memory_clock": 3201},
 {"state": "ok", "param.scenario": "gpu_stride", "param.memory": "managed_prefetch", "result.element_count": 5e7, "result.kernel_time": 0.153, "result.bandwidth": 3921.0,
  "result.bandwidth_share": 0.96, "result.measured_bandwidth": 4081.6, "result.ecc": null, "result.nominal_share": null},
 {"state": "skipped", "param.scenario": "gpu_grid"}]
V
printf '[{"algorithm": "ring", "workers": 2, "step": 4194304, "value": "31.25"}, {"algorithm": "ring", "workers": 2, "step": 1024, "value": "0.05"}]' >r/allreduce.json
printf '# Page\n\ntext\n\n## GPU: X1\n\nold\n\n## Other\n\nkept\n' >page.md
ok python3 "$SOURCE/bench/gpu_table.py" r --gpu X1 --command 'bench/gpu.sh' --failed '2(tests: status 8)' --docs page.md
has '| resnet50, 3x224x224, 64 | none | bf16 | 1800 | 1500 | - | 1.20 | - | 900 | 0.50 |'
has 'torch.compile, bf16: no compiler'
has 'no column of orch with CUDA graphs'
has 'median 98 %, 75 % of 4 samples above 95 %'
has '| data path, 3x32x32, crop 4, flip, cutout 16, batch 128: made by 1 worker thread | 812345 images/s |'
has ' made by the GPU, plans of 1 worker thread | 40123456 images/s |'
has ' of this to that | ratio 9.5 |'
has '| vecadd, 50 million, gpu_stride, pinned | 0.15 ms, 4000 GB/s, 0.980 of the copy bandwidth of 4082 GB/s, 0.83 of the nominal (ECC on, 1980/3201 MHz); the aim is 0.97 |'
has 'managed memory and prefetch over explicit copies | 1.020; the aim is at most 1.10 |'
has '| all-reduce, ring, 2 workers: bus bandwidth, 2 (n-1)/n x bytes / time | 1 KiB 0.05 GB/s, 4096 KiB 31.25 GB/s |'
has 'Stages that failed: 2(tests: status 8).'
page=$(cat page.md)
case $page in '# Page'*text*'## GPU: X1'*1800*'## Other'*kept) ;; *) _fail "page: $page" ;; esac
case $page in *old*) _fail 'the old section is still there' ;; esac
ok python3 "$SOURCE/bench/gpu_table.py" r --gpu X1 --command 'bench/gpu.sh' --failed '2(tests: status 8)' --docs page.md
same "$(cat page.md)" "$page" 'the page written twice'
ok python3 "$SOURCE/bench/gpu_table.py" r --gpu X2 --docs page.md
case $(cat page.md) in *'## GPU: X1'*'## Other'*'## GPU: X2'*) ;; *) _fail 'a second GPU has no section of its own' ;; esac
