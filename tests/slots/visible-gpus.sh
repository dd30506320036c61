# CUDA_VISIBLE_DEVICES selects the GPUs of orch as it does for CUDA: by index, UUID or a prefix, up to the first unknown
# entry. Trials receive names of the same form. MIG instances are separate devices. With a stand-in for NVML.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=4
cat >see.plugin <<'Y'
command: [sh, -c, 'echo "sees ${CUDA_VISIBLE_DEVICES-unset}" ; echo "order $CUDA_DEVICE_ORDER"; echo loss 1']
metrics_from: lines
metrics: { loss: min }
Y
sed -i 's/\${CUDA_VISIBLE_DEVICES-unset}/$${CUDA_VISIBLE_DEVICES-: all}/; s/\$CUDA_DEVICE_ORDER/$$CUDA_DEVICE_ORDER/' see.plugin
printf 'format: 1\nrecipe: g\nexperiments:\n  none: { plugin: ./see.plugin }\n  one: { plugin: ./see.plugin, resources: { gpus: 1 } }\n  two: { plugin: ./see.plugin, resources: { gpus: 2 } }\n' >g.recipe
# sees EXPECTED EXPERIMENT: what one trial of the experiment finds in its environment
sees() {
    ok orch run g.recipe "$2" --force -q
    ok orch log @last
    has "sees $1"
}
sees ': all' none
sees 0 one
sees 0,1 two
has 'order PCI_BUS_ID'
export CUDA_VISIBLE_DEVICES=2,3
sees 2 one
sees 2,3 two
CUDA_VISIBLE_DEVICES='3, 1' sees 3,1 two
# UUIDs stay UUIDs, and a beginning is completed
CUDA_VISIBLE_DEVICES=GPU-fake-3,GPU-fake-0 sees GPU-fake-3,GPU-fake-0 two
# '--gpus' counts among those that are left
ok orch run g.recipe one --force -q --gpus 1
ok orch log @last
has 'sees 3'
fails 2 orch run g.recipe one --force --gpus 2
says '2 GPUs'
# an unknown entry hides what follows; so does one that is named twice, or a beginning of several
for list in 1,9,0 1,GPU-none,0 1,1,0 1,GPU-fake,0; do
    ok env CUDA_VISIBLE_DEVICES=$list orch plan g.recipe --force
    has 'this machine has 1'
    has "CUDA_VISIBLE_DEVICES='$list' hides 3 GPUs"
    has 'names no GPU, or one twice'
done
# none at all; the machine stays the same machine
for none in '' -1 -1,0 9; do
    ok env CUDA_VISIBLE_DEVICES=$none orch plan g.recipe --force
    has 'needs 1 GPU, this machine has 0'
    has 'hides 4 GPUs'
done
ok env CUDA_VISIBLE_DEVICES=0 orch run g.recipe none --force -q
same "$(python3 -c 'import sqlite3; print(sqlite3.connect(".orch/results.db").execute("select count(distinct m.key) from run r join machine m on m.id = r.machine").fetchone()[0])')" 1 'machines in the store'
# MIG: the first GPU has three instances
unset CUDA_VISIBLE_DEVICES
export FAKE_NVML_MIG=3 FAKE_NVML_COUNT=1 FAKE_NVML_MODEL='NVIDIA A100-SXM4-40GB'
sees MIG-fake-0 one
ok orch doctor
has 'A100-SXM4-40GB MIG 1g.5gb, 5.0 GiB'
ok orch plan g.recipe two --force
has 'MIG instances, and a process can use only one of those'
CUDA_VISIBLE_DEVICES=MIG-fake-2 sees MIG-fake-2 one
CUDA_VISIBLE_DEVICES=0 sees MIG-fake-0 one
ok orch run g.recipe one --force -q
ok orch show @last --json
has '1x NVIDIA A100-SXM4-40GB MIG 1g.5gb'
FAKE_NVML_COUNT=2 sees MIG-fake-0 one
FAKE_NVML_COUNT=2 CUDA_VISIBLE_DEVICES=1,MIG-fake-1 sees 1 one
ok env FAKE_NVML_MIG=0 orch plan g.recipe one --force
has 'MIG is on, and no instance was made'
