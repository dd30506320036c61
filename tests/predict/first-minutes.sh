# The first minutes of a new user: the shipped recipe, help, tables in files.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"

# the recipe that README begins with comes with orch, and is the one that 'orch init' writes
ok orch init
cmp -s recipes/first.recipe "$SOURCE/recipes/first.recipe" || _fail "'orch init' writes another first.recipe"
# build.sh ends with a command that can be typed
grep -q 'next recipes/first.recipe' "$SOURCE/build.sh" || _fail 'build.sh names no next command'
for recipe in $(sed -n 's/.*; next \(recipes[^ ]*\).*/\1/p' "$SOURCE/build.sh"); do
    [ -f "$SOURCE/$recipe" ] || _fail "build.sh names '$recipe'"
done

# --help shows the command's own options, and one line for those of every command
ok orch ls --help
has '--where'
has_not '--plugin-path'
has "'orch help options'"
ok orch help options
has '--plugin-path DIR'
has '--db FILE'
has '--format NAME'
ok orch ls --help
has "'orch help options'"
ok orch help --man man
grep -q 'plugin\\-path' man/orch.1 || _fail 'orch(1) lacks the options of every command'

# a table in a file is aligned; tabs come when they are asked for
ok orch try -q -x lr=0.1,0.01 -- echo loss={lr}
ok orch ls
has_not "$(printf '\t')"
has 'run '
ok orch ls --format tsv
has "$(printf '\tok\t')"
ok orch best loss --min --format csv
has ','
ok orch plugin ls --format markdown
has '| ---'
ok orch gpu ls -f tsv
has "$(printf 'K20\t')"
fails 2 orch ls --format tabs
says 'use text, tsv, csv, markdown or latex'

# an ImageNet network on small images: the answer says that there is another stem, and what it costs
ok orch predict --net resnet50 --dataset cifar10 --gpu V100
has 'resnet50-cifar, made for small images'
has 'small images, has 16 times the multiply-adds, '
has ' times the time'
ok orch predict --net resnet50-cifar --dataset cifar10 --gpu V100
has_not ' stem '
ok orch predict --net resnet50 --gpu V100
has_not ' stem '
ok orch paleo --net resnet50 --input 3x32x32 --gpu V100
has 'small images, has 15 times the multiply-adds'
ok orch predict --net resnet50 --dataset cifar10 --gpu all --json
case $out in *'"what": "stem"'*) ;; *) _fail 'no stem in JSON' ;; esac

# names as people spell them, on the command line and in recipes
ok orch predict --net resnet50 --dataset cifar10 --gpu RTX-5090 --precision fp16 --optimizer adam
plain=$out
ok orch predict --net ResNet-50 --dataset CIFAR-10 --gpu RTX5090 --precision FP16 --optimizer Adam
same "$(grep -v '^  GPU ' <<<"$out")" "$plain" answers
ok orch predict --net ResNet-50 --dataset ImageNet-1k --gpu 'Tesla V100' --cloud AWS
has 'aws p3.2xlarge'
ok orch net show ResNet-18 --brief
ok orch gpu show rtx4090
has RTX-4090
printf 'format: 1\nrecipe: r\nexperiments: { count: { plugin: netstat, with: { net: ResNet-50 } } }\n' >r.recipe
ok orch run -q r.recipe
