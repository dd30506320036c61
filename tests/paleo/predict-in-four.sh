# 'predict', 'curve', 'paleo' and 'predictor score' are four commands: each refuses the options of the others.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
for option in '--pipeline' '--overlap' '--all-layers' '--algorithm fft' '--parallel data' '--split fc6'; do
    ok orch paleo --net vgg16 $option
done
ok orch paleo --roofline --net vgg16 --gpu T4 --layers
has compute
for wrong in '--gpu all' '--layers' '--optimizer adam' '--epochs 3' '--explain' '--model prior' '--target-loss 1' '--parallel up' \
    '--roofline' '--roofline --gpu paleo:K80' '--roofline --gpu T4 --workers 2' '--roofline --gpu T4 --pipeline' '--format nope'; do
    fails 2 orch paleo --net vgg16 $wrong
    says 'hint: '
done
fails 2 orch paleo --net vgg16 --roofline --gpu T4 --workers 2
says "'--workers' excludes '--roofline'"
fails 2 orch paleo --net vgg16 --gpu all
says 'orch predict --gpu all'
fails 2 orch curve @last --batch 4
says "unknown option '--batch'"
fails 2 orch predictor score --net vgg16
says "unknown option '--net'"
fails 2 orch predict --net resnet50 --gpu V100 --scheme OneToAll
says 'one-to-all'
ok orch completion bash
has "'predictor score'"
has ' curve'
has ' paleo'
ok orch help predict
has_not paleo:
has_not '--curve'
