# 'orch predict' is four commands: predict, curve, paleo and predictor score. What was an option of predict alone is
# an error that prints the new command line, and that line is understood.
. "$(dirname "$0")/../cli/lib.sh"
moved() { # the old words after 'orch predict', the old option, the new command, the new command line
    fails 2 orch predict $1; says "'orch predict $2' is now called 'orch $3'"; says "hint: type '$4'"
}
moved '--curve @last --target-accuracy 92%' --curve curve 'orch curve @last --target-accuracy 92%'
moved '--score' --score 'predictor score' 'orch predictor score'
moved '--model paleo --net vgg16' '--model paleo' paleo 'orch paleo --net vgg16'
moved '--net vgg16 --model=paleo' '--model paleo' paleo 'orch paleo --net vgg16'
moved '-m paleo --net vgg16' '--model paleo' paleo 'orch paleo --net vgg16'
moved '-mroofline --net vgg16 --gpu T4' '--model roofline' 'paleo --roofline' 'orch paleo --roofline --net vgg16 --gpu T4'
moved '--model paleo --pipeline --net vgg16' '--model paleo' paleo 'orch paleo --pipeline --net vgg16'
for option in pipeline overlap all-layers; do
    moved "--net vgg16 --$option" "--$option" "paleo --$option" "orch paleo --net vgg16 --$option"
    ok orch paleo --net vgg16 --$option
done
for option in 'algorithm fft' 'parallel data' 'split fc6'; do
    moved "--net vgg16 --$option" "--${option% *}" "paleo --${option% *}" "orch paleo --net vgg16 --$option"
    ok orch paleo --net vgg16 --$option
done
moved '--net vgg16 --gpu T4 --layers' --layers 'paleo --roofline --layers' 'orch paleo --roofline --net vgg16 --gpu T4 --layers'
ok orch paleo --roofline --net vgg16 --gpu T4 --layers; has compute
for option in 'where lr=1' 'metric loss' 'accuracy-metric acc' 'target-loss 1' 'target-accuracy 50%' 'form power' 'weights equal' \
    'outliers 2' normalised; do
    moved "--$option" "--${option% *}" "curve --${option% *}" "orch curve --$option"
done
fails 2 orch predict --curve --where 'lr = 1 and net~res'; says "type 'orch curve --where 'lr = 1 and net~res''"
# each of the new commands refuses what only the others use
for wrong in '--gpu all' '--layers' '--optimizer adam' '--epochs 3' '--explain' '--model prior' '--target-loss 1' '--parallel up' \
    '--roofline' '--roofline --gpu paleo:K80' '--roofline --gpu T4 --workers 2' '--roofline --gpu T4 --pipeline' '--format nope'; do
    fails 2 orch paleo --net vgg16 $wrong; says 'hint: '
done
fails 2 orch paleo --net vgg16 --roofline --gpu T4 --workers 2; says "'--workers' does nothing with --roofline"
fails 2 orch paleo --net vgg16 --gpu all; says 'orch predict --gpu all'
fails 2 orch curve @last --batch 4; says "unknown option '--batch'"
fails 2 orch predictor score --net vgg16; says "unknown option '--net'"
fails 2 orch predict --net resnet50 --gpu V100 --scheme OneToAll; says "'orch paleo'"
# the option of plan and run that chooses what to measure first
for verb in plan run; do fails 2 orch $verb r.recipe --learn 5; says "it is called '--most-informative' now"; done
ok orch completion bash; has "'predictor score'"; has ' curve'; has ' paleo'
ok orch help predict; has_not paleo: ; has_not '--curve'; has "'orch curve'"
