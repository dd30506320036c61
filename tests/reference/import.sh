# Imports of published measurements: the rows, a source, a licence or "none stated", no warning that a column gives
# the target away, and nothing when it is done again. The files are not part of this repository:
# $ORCH_REFERENCE_DATA (or ../shared/data) holds them.
. "$(dirname "$0")/../cli/lib.sh"
data=${ORCH_REFERENCE_DATA:-$SOURCE/../shared/data}
[ -f "$data/justus_conv.csv" ] || skip 'no measurements: set ORCH_REFERENCE_DATA to their folder'
cp "$data"/*.csv "$data"/*.md .
count=0
while read -r rows command; do
    ok $command --json
    says_not 'reveal the target'
    says_not 'the table has no'
    printf '%s' "$out" | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["did"] == "added" and s["rows"] == int(sys.argv[1]) and s["source"] and s["licence"], s
' "$rows" || _fail "$command"
    ok $command
    has 'nothing added'
    count=$((count + 1))
done <<'IMPORTS'
42405 orch import justus_conv.csv --target layer_ms --map ms=layer_ms --drop ms_min,ms_max,ms_std,split
25618 orch import justus_dense.csv --target layer_ms --map ms=layer_ms --drop ms_min,ms_max,ms_std,split
14 orch import justus_vgg16.csv --target step_ms --map ms_per_batch=step_ms,bits=precision --drop img_per_s,mem_mb,split
32317 orch import neusight_gemm.csv --target layer_ms --map ms=layer_ms --drop split
16812 orch import neusight_conv.csv --target layer_ms --map ms=layer_ms --drop split
12573 orch import neusight_vec.csv --target layer_ms --map ms=layer_ms --drop split
2111 orch import neusight_model_ops.csv --target layer_ms --map fw_ms=layer_ms --drop bw_ms,acc_ms,split
63 orch import neusight_e2e.csv --target step_ms --map e2e_ms=step_ms --drop fw_ms,bw_ms,layers_run,split
3415 orch import timm_train.csv --target step_ms --map prec=precision --drop img_per_s,split
12976 orch import timm_infer.csv --target step_ms --map prec=precision --drop img_per_s,split
144 orch import tf_benchmarks.csv --target step_ms --map batch_per_gpu=batch --drop img_per_s,split
69 orch import jcjohnson_cnn.csv --target step_ms --map total_ms=step_ms --drop fw_ms,bw_ms,total_std_ms,split
304 orch import lambda_train.csv --target throughput --map batch_per_gpu=batch --drop name,split
2295 orch import ryujaehun_pytorch.csv --target step_ms --map ms_median=step_ms --drop ms_mean,ms_std,n,folder,split
29 orch import u39kun_frameworks.csv --target step_ms --map ms=step_ms,bits=precision --drop split
35 orch import soumith_convnet.csv --target step_ms --map total_ms=step_ms,bits=precision,library=framework --drop fw_ms,bw_ms,split
44 orch import dawnbench_entries.csv --target epoch_s --map sec_per_epoch=epoch_s,model=net --drop hours,entry,best_metric,date,split --skip-bad
4675 orch import dawnbench_epochs.csv --target hours --drop top5,split --skip-bad
780 orch import mlperf_runs.csv --target wall_s --map time_s=wall_s,accel=gpu,accels=gpus,benchmark=task,system=platform,global_batch=batch_total --drop sec_per_epoch_median,last_metric,status,run,split
1537 orch import mlperf_evals.csv --target t_s --map accel=gpu,accels=gpus,benchmark=task,system=platform --drop split
IMPORTS
same $count 20 'number of imports'
ok orch db check
has '20 tables of measurements'
ok orch measurements export justus_conv -o x.set
ok orch import x.set --db other.db
has '42405 rows'
printf '%s imports, %s\n' "$count" "$(du -h .orch/results.db | cut -f1)"
