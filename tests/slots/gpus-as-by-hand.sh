# A user's program without declared GPUs sees all GPUs, as by hand, and reserves none; the run records them and their
# price. Declared GPUs are reserved, and 'gpus: 0' hides all. With a stand-in for NVML.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ] || skip 'the build has no made-up GPUs'
export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=2 FAKE_NVML_MODEL='Tesla V100-SXM2-16GB'
unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER
show='echo "sees ${CUDA_VISIBLE_DEVICES-all} order ${CUDA_DEVICE_ORDER-as by hand}"; echo loss 1'
# sees EXPECTED OPTION...
sees() {
    local expected=$1
    shift
    ok orch try -q --force "$@" -- sh -c "$show"
    ok orch log @last
    has "sees $expected"
}
sees 'all order as by hand'
ok orch show @last
has '2x Tesla V100-SXM2-16GB'
has 'visible but not reserved'
ok orch cost --json
has V100
sees '0 order PCI_BUS_ID' --resources gpus=1
ok orch show @last
has '1x Tesla V100-SXM2-16GB'
has_not 'visible but not reserved'
sees '0 order PCI_BUS_ID' --resources gpus=0.5
sees ' order' --resources gpus=0
ok orch show @last
has_not 'V100'
CUDA_VISIBLE_DEVICES=1 sees '1 order as by hand'
ok orch show @last
has '1x Tesla V100'
# '--gpus' hides the others
printf 'command: [./see.sh]\nmetrics_from: lines\nmetrics: { loss: min }\n' >see.plugin
printf 'format: 1\nrecipe: g\nexperiments:\n  a: { plugin: ./see.plugin }\n' >g.recipe
printf '#!/bin/sh\n%s\n' "$show" >see.sh
chmod +x see.sh
ok orch run g.recipe -q
ok orch log @last
has 'sees all'
ok orch run g.recipe --force -q --gpus 1
ok orch log @last
has 'sees 1'
# trials at once see the same ones, which is said once; with a GPU each they do not
# the first two wait for each other
ok orch try -j 2 -x n=1,2,3 -- sh -c ">>at{n}; while [ ! -e at1 ] || [ ! -e at2 ]; do sleep 0.05; done; $show # {n}"
same "$(grep -c 'see all GPUs, even if' <<<"$err")" 1 notices
says '--resources gpus=1'
ok orch try -j 2 --resources gpus=1 -x n=1,2,3 -- sh -c "sleep 0.2; $show # {n}"
says_not 'see all GPUs'
# a trial that sees GPUs waits for nobody, says whose they are, and nobody waits for it
export ORCH_SLOTS=$SCRATCH/slots
touch hold
orch try --name holder --resources gpus=2 -- sh -c 'touch begun; while [ -e hold ]; do sleep 0.05; done; echo loss 1' >/dev/null 2>&1 &
holder=$!
await -e begun
ok orch try --name seer -- sh -c "$show"
says 'sees all GPUs, also those that another trial uses, because it declares none'
rm hold
wait $holder || _fail 'the holder failed'
