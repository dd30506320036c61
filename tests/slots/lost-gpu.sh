# A GPU that is lost during a trial ends it with that reason and is not used again in the run. Other trials use other
# GPUs, or end with a reason when too few are left. With a stand-in for NVML.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=2 ORCH_SYSTEM_METRICS=off
cat >use.plugin <<'Y'
command: [sh, -c, 'echo "gpu $$CUDA_VISIBLE_DEVICES"; sleep ${seconds}; echo loss 1; exit ${status}']
metrics_from: lines
parameters: { seconds: { type: real, default: 1.5 }, status: { type: int, default: 0 }, part: { type: int, default: 0 } }
metrics: { loss: min }
Y
recipe() { # NAME EXPERIMENT
    printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./use.plugin, %s }\n' "$1" "$2" >"$1.recipe"
}
query() { python3 -c 'import sqlite3, sys; print(*(r[0] for r in sqlite3.connect(".orch/results.db").execute(sys.argv[1])))' "$1"; }
# GPU 1 vanishes after 1 s: its trial moves to GPU 0, and so does the third
recipe two 'resources: { gpus: 1 }, sweep: { part: [1, 2, 3] }'
ok env FAKE_NVML=gone orch run two.recipe
says 'this run no longer uses GPU 1 (Tesla V100-SXM2-16GB): a GPU was lost: GPU 1: NVML: GPU is lost'
same "$(query "select state, count(*) from run group by state" | tr '\n' ' ')" 'lost ok ' 'the states'
same "$(query "select count(*) from run where state = 'ok'")" 3 'trials that ended well'
same "$(query "select reason from run where state = 'lost'")" 'a GPU was lost: GPU 1: NVML: GPU is lost' 'the reason'
same "$(query "select json_extract(facts, '\$.lost_gpu') from run where state = 'lost'")" 1 'the fact'
# each way of losing it, in the words of the driver; the trial needs both GPUs, so it is not tried again
recipe both 'resources: { gpus: 2 }, with: { seconds: 20 }'
loses() { # REASON
    rm -rf .orch
    SECONDS=0
    fails 1 orch run both.recipe
    says "it needs 2 GPUs, but only 1 of 2 is usable: a GPU was lost: $1"
    same "$(query 'select state from run')" lost 'its state'
    has_not 'killed'
    [ $SECONDS -lt 15 ] || _fail 'it waited for the trial'
}
FAKE_NVML=gone loses 'GPU 1: NVML: GPU is lost'
FAKE_NVML=reset loses 'GPU 1: NVML: GPU requires reset'
FAKE_NVML=xid loses 'GPU 1: Xid 79 (the GPU has fallen off the bus)'
FAKE_NVML=xid FAKE_NVML_XID=48 loses 'GPU 1: Xid 48 (a double-bit memory error)'
FAKE_NVML=xid FAKE_NVML_XID=999 CUDA_VISIBLE_DEVICES=GPU-fake-0,GPU-fake-1 loses 'GPU-fake-1: Xid 999'
# a program that ends badly by the loss, before the driver's event was seen
recipe early 'resources: { gpus: 2 }, retries: 0, with: { seconds: 0.02, status: 3 }'
rm -rf .orch
fails 1 env FAKE_NVML=xid FAKE_NVML_AFTER=0 orch run early.recipe
same "$(query 'select state, reason from run')" lost 'the state of a trial that its GPU ended'
# an Xid that the program itself can cause is a remark, and the GPU is used on
recipe fine 'resources: { gpus: 2 }, with: { seconds: 1.5 }'
rm -rf .orch
ok env FAKE_NVML=xid FAKE_NVML_XID=31 orch run fine.recipe
ok orch show @last --json
same "$(json state)" ok 'its state'
has 'the driver reported on GPU 1: Xid 31 (GPU memory page fault)'
# a GPU that the trial does not use is not its loss
recipe other 'resources: { gpus: 1 }, with: { seconds: 1.5 }'
rm -rf .orch
ok env FAKE_NVML=gone orch run other.recipe --gpus 0
same "$(query 'select state from run')" ok 'the trial on the other GPU'
# too few GPUs by the user's choice end with a reason, too
fails 1 orch run both.recipe --gpus 0
says "it needs 2 GPUs, but only 1 of 1 is usable: '--gpus' allows no more"
