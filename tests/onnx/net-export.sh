#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# 'orch net export' writes networks with fresh weights, with those of a file and with those that a run kept; what it writes
# is read back with the same counts. Wrong options, runs and weights are named, and leave nothing behind.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
show() { ok orch net show "$1" --json; echo "$(json params) $(json multiply_adds) $(json ops)"; }

# fresh weights: equal counts, the same bytes each time, other ones with another seed
for net in lenet5 resnet20 airbench-small nature-dqn minatar-dqn; do
    ok orch net export $net --onnx $net.onnx
    says "wrote '$net.onnx': $net, initial values, seed 1, opset 17"
    same "$(show $net)" "$(show $net.onnx)" "counts of $net"
done
ok orch net export resnet20 --onnx again.onnx -q
cmp resnet20.onnx again.onnx || _fail 'the same weights are another file'
ok orch net export resnet20 --onnx again.onnx -q --seed 2
! cmp -s resnet20.onnx again.onnx || _fail 'another seed has the same weights'

# the form: input and outputs, size and classes, a fixed batch, folded norms
ok orch net export resnet20 --onnx r.onnx --json --input 1x24x24 --classes 7
same "$(json network) $(json opset) $(json inputs.0) $(json outputs.0)" 'resnet20 17 input output'
same "$(json bytes)" "$(stat -c %s r.onnx)" size
ok orch net show r.onnx --json
same "$(json input.0) $(json input.1) $(json classes)" '1 24 7'
ok orch net export ssd_mobilenet_v1 --onnx s.onnx --json --classes 3
[ "$(json outputs.11)" ] || _fail 'no twelve outputs'
ok orch net export resnet20 --onnx folded.onnx -q --fold-norms
ok orch net show folded.onnx --json
same "$(json multiply_adds)" 40551040
ok orch net export lenet5 --onnx batch.onnx -q --batch 4
ok orch net show batch.onnx --json
same "$(json params)" 61706

# weights beside the file
ok orch net export resnet20 --onnx beside.onnx --external-data
says "the weights of the model are in 'beside.onnx.data'"
[ "$(stat -c %s beside.onnx.data)" -gt 900000 ] || _fail 'the data are not in their file'
[ "$(stat -c %s beside.onnx)" -lt 200000 ] || _fail 'the data are in the model'
same "$(show resnet20)" "$(show beside.onnx)" 'counts with data in another file'

# a file's weights, and a run's
cat >weights.py <<'P'
import json, struct, sys
def write(path, shapes):
    header, data = {}, b''
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        values = b''.join(struct.pack('<f', 0.01 * (i % 7)) for i in range(count))
        header[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)
write(sys.argv[1], {'fc.0.weight': [6, 48], 'fc.0.bias': [6], 'fc.1.weight': [int(sys.argv[2]), 6], 'fc.1.bias': [int(sys.argv[2])]})
P
python3 weights.py w.safetensors 3
ok orch net show mlp:6 --json --input 3x4x4 --classes 3
mapfile -t layers < <(python3 -c 'import json, sys
for layer in json.load(sys.stdin)["layers"]: print(layer.get("layer", layer.get("name", "")))' <<<"$out" | grep -v -i 'input\|flatten\|relu')
sed -i "s/fc\.0/${layers[0]}/g; s/fc\.1/${layers[1]}/g" weights.py
python3 weights.py w.safetensors 3
ok orch net export mlp:6 --input 3x4x4 --classes 3 --weights w.safetensors --onnx w.onnx
says 'mlp:6, w.safetensors'
fails 7 orch net export mlp:6 --input 3x4x4 --classes 5 --weights w.safetensors --onnx no.onnx
says "the weights of 'w.safetensors' are not those of 'mlp:6' with 5 classes: ${layers[1]}.weight: [3, 6] for [5, 6]"
fails 7 orch net export lenet5 --weights w.safetensors --onnx no.onnx
says 'missing '
fails 3 orch net export lenet5 --weights none.pth --onnx no.onnx
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [python3, job.py]
metrics_from: lines
parameters:
  net: {type: string, default: "mlp:6"}
metrics:
  class_count: {}
  image_channels: {}
  image_height: {}
  image_width: {}
artifacts:
  weights: w.safetensors
  classes: classes.csv
Y
cat >job.py <<'P'
import runpy, sys
sys.argv = ['weights.py', 'w.safetensors', '3']
runpy.run_path('weights.py')
open('classes.csv', 'w').write('class,images\ncat,1\n"dog, small",2\nemu,3\n')
print('class_count=3\nimage_channels=3\nimage_height=4\nimage_width=4')
P
sed '/artifacts/,$d; s/plugin: job/plugin: bare/' job.plugin >bare.plugin
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  kept: { plugin: ./job.plugin, inputs: [job.py, weights.py] }
  other: { plugin: ./job.plugin, inputs: [job.py, weights.py], with: { net: "mlp:7" } }
  bare: { plugin: ./bare.plugin, inputs: [job.py, weights.py] }
  nap: { plugin: sleep, with: { seconds: 0 } }
R
git add r.recipe weights.py job.py job.plugin bare.plugin
git commit -qm one
ok orch run r.recipe -q
run_of() { orch export --where "experiment = $1" -c key | tail -1 | tr -d '\r'; }
ok orch net export "$(run_of kept)" --onnx run.onnx
says "mlp:6, run $(run_of kept | tail -c 9)"
ok orch net show run.onnx --json
same "$(json input.0) $(json input.1) $(json classes)" '3 4 3'
for text in "$(run_of kept)" "$(orch export "$(run_of kept)" -c tree | tail -1 | tr -d '\r')" 'dog, small' '"net":"mlp:6"'; do
    grep -qaF "$text" run.onnx || _fail "the metadata lack $text"
done
cp run.onnx whole.onnx

# what cannot be exported is named, and leaves no file
ls *.onnx | sort >before
fails 7 orch net export "$(run_of other)" --onnx no.onnx
says "are not those of 'mlp:7' with 3 classes: "
fails 2 orch net export "$(run_of bare)" --onnx no.onnx
says "has no weights"
fails 2 orch net export "$(run_of nap)" --onnx no.onnx
says "has no parameter 'net'"
fails 2 orch net export nonesuch --onnx no.onnx
says "'nonesuch' is neither a network nor a run"
# the word of a run is explained by the store, and not as a network's name
fails 2 orch net export '@{99}' --onnx no.onnx
says '@{99}'
! grep -q 'neither a network' <<<"$err" || _fail "'@{99}' is called a network"
shared=$(orch export -c key | tail -n +2 | tr -d '\r' | cut -c 1-4 | sort | uniq -d | head -1)
[ "$shared" ] || _fail 'no two runs have keys that begin alike'
fails 2 orch net export "$shared" --onnx no.onnx
says "'$shared' is ambiguous, several keys begin with it"
fails 2 orch net export resnet5 --onnx no.onnx
says 'did you mean'
fails 2 orch net export @last --onnx no.onnx --seed 3
says "option '--seed' is for networks: a run already has weights"
fails 2 orch net export lenet5
says "option '--onnx' is missing"
for opset in 12 22 x -1; do
    fails 2 orch net export lenet5 --onnx no.onnx --opset=$opset
    says "'--opset': '$opset' is not a version from 13 to 21"
done
fails 2 orch net export lenet5 --onnx no.onnx --input 3
fails 2 orch net export lenet5 --onnx no.onnx --seed x
fails 2 orch net export lenet5 --onnx no.onnx --seed 1 --weights w.safetensors
fails 2 orch net export 'mlp:x' --onnx no.onnx
fails 3 orch net export lenet5 --onnx none/no.onnx
says "cannot write 'none/no.onnx'"
mkdir folder.onnx
for how in '' --external-data; do
    fails 3 orch net export lenet5 --onnx folder.onnx $how
done
rmdir folder.onnx
ls *.onnx | sort | cmp before - || _fail 'a failed export left a file'
! compgen -G '*orch-tmp*' >/dev/null || _fail 'a temporary file stayed'
[ ! -e folder.onnx.data ] || _fail 'the data of a failed export stayed'
rm -r .orch/*.d/objects
fails 2 orch net export "$(run_of kept)" --onnx run.onnx
says 'are not on this machine'
cmp run.onnx whole.onnx || _fail 'a failed export changed the older file'
