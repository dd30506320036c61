# A table in which several columns have names that may be new: the questions that are learned have a bound, and it is kept.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
python3 - >table.csv <<'P'
import random
r = random.Random(1)
nets = ['resnet18', 'resnet50', 'vgg11', 'vgg16', 'alexnet', 'squeezenet1_0', 'mobilenet_v2', 'densenet121', 'densenet169']
print('gpu,net,model,network,batch,ms')
for i in range(180):
    net = nets[i % len(nets)]
    batch = 2 ** r.randrange(3, 8)
    print(','.join(map(str, [['V100', 'T4', 'P100'][i % 3], ['a', 'b', 'c'][i // 3 % 3], ['p', 'q', 'r'][i // 9 % 3], net, batch, f'{(i % 9 + 1) * batch * (1 + 0.1 * r.random()):.4f}'])))
P
head -121 table.csv >train.csv
(head -1 table.csv; tail -60 table.csv) >test.csv
ok orch predictor eval --train train.csv --test test.csv --target ms --untuned
has 'gpu'
