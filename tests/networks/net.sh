# 'orch net': the tables of homework 3, output formats, and wrong input.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch net show vgg19 --work --brief
has '(3*3*3)*64 = 1,728'
has '(3*3*256)*512 = 1,179,648'
has '4096*4096 = 16,777,216'
has '143,652,544'
has '19,508,428,800 of 19,632,062,464 multiply-adds, 99.37 %'
ok orch net show alexnet-grouped --work
has '(11*11*3)*96 = 34,848'
has '60,965,224'
ok orch net show resnet50 --json
same "$(json params) $(json multiply_adds)" '25557032 4089184256' 'counts'
ok orch net show resnet50 --batch 32 --mac 1 --json
same "$(json multiply_adds) $(json batch)" '130853896192 32' 'a batch'
ok orch net field 5 5 5
has '3*5 - 3 + 1 = 13'
has '13x13'
ok orch net field 5 5 5 --json
same "$(json field)" 13 'field'
ok orch net compare inception-naive inception-reduced --input 256x32x32
has '1,115,684,864'
has '397,410,304'
has '2.807'
ok orch net show lenet5 --format csv
has 'layer,type,output,activations,memory,params,weights'
ok orch net show lenet5 --format latex
has '\begin{tabular}'
has 'conv2d 5x5 &'
ok orch net show lenet5 --format markdown
has '| conv1 | conv2d 5x5 |'
ok orch net ls
has bert-base
fails 2 orch net show resnet5
says "unknown network 'resnet5'"
says "did you mean"
fails 2 orch net show resnet50 --input 3x0x4
says "'3x0x4' is not CxHxW"
fails 2 orch net show inception_v3 --input 3x32x32
says 'is too small'
says 'its smallest input is'
for wrong in '--batch -1' '--batch 0' '--classes 0' '--format csv --json'; do fails 2 orch net show lenet5 $wrong; done
fails 2 orch net show inception-reduced:1,2
says '2 numbers of filters'
ok orch net compare inception-naive inception-reduced --input 256x32x32 --format csv
has 672x32x32
has 480x32x32
ok orch net show alexnet-grouped --work
has '(227-11+2*0)/4+1 = 55'
has '34,944'
fails 2 orch net show lenet5 --mac 3
says '1 or 2 operations, not 3'
fails 2 orch net show lenet5 --format pdf
says "unknown format 'pdf'"
fails 2 orch net field 5/0
says 'is not a window'

# plugin netstat reads the size of an input as the option does
printf 'format: 1\nrecipe: n\nexperiments:\n  c: { plugin: netstat, sweep: { net: [lenet5], input: ["1x32x32px"] } }\n' >n.recipe
fails 2 orch plan n.recipe
says "input '1x32x32px' is not CxHxW, e.g. 3x224x224"
