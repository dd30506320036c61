# A transformer in an ONNX file has the interval of transformers, as the same network by name, and not that of image classifiers.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
factor() { # OPTION...: of the interval of a batch whose launches take no time; the tier's words are left in $out
    ok orch predict --batch 128 --json "$@"
    python3 -c 'import json, sys; p = json.loads(sys.argv[1])["predictions"][0]; print(f"""{p["step_high_s"] / p["step_s"]:.6f}""")' "$out"
}
net=gpt:2,128,2,512
ok orch net export $net --onnx gpt.onnx
ok orch net export resnet20 --onnx resnet20.onnx
for asked in 'V100 fp32 eager' 'V100 fp16 eager' 'V100 fp32 fused' 'P4 fp32 eager'; do
    set -- $asked
    mine=$(factor --net gpt.onnx --gpu "$1" --precision "$2" --attention "$3")
    same "$mine" "$(factor --net $net --gpu "$1" --precision "$2" --attention "$3")" "the factor of $net on $asked"
    image=$(factor --model transferred --net resnet20.onnx --gpu "$1" --precision "$2")
    python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not abs(a - b) > 0.02)' "$mine" "$image" || _fail "$asked: the factor of an image classifier, $image"
done
ok orch predict --net gpt.onnx --gpu V100 --precision fp32
has 'the sum of the network'
has 'the error of the measured transformers'
