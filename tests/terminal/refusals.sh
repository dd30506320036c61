# Commands in the hints of error messages can be typed, and work.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"

ok orch predict --net nature-dqn --gpu all
has 'add --dataset NAME'
ok orch predict --net nature-dqn --gpu all --dataset 50000
has 'recommended: '
ok orch predict --net resnet50 --gpu all --batch 100000
has 'smaller --batch'
ok orch predict --net resnet50 --gpu all --budget 1usd --json
has '"nothing_because": "no GPU keeps to the limits: raise --budget (the cheapest, '
sleeps nap 0.01
fails 2 orch run nap.recipe -s seconds=-1
says "'-1' is negative; expected a duration"
fails 2 orch run nap.recipe --deadline -2h
says "'-2h' is negative"
# after Ctrl-C of a forced run: neither the same command nor the one without --force runs what is left
sleeps long '0.01, 600'
orch run long.recipe --force >/dev/null 2>"$SCRATCH/err1" &
pid=$!
until_true grep -q '^\[1/2\]' "$SCRATCH/err1"
until_true begun
interrupt $pid
wait $pid
same $? 130 'the exit status'
err=$(cat "$SCRATCH/err1")
says "To run unfinished experiments: 'orch run long.recipe nap --force'"
mkdir -p recipes
sleeps recipes/deep 0.01
sed -i 's/^recipe: .*/recipe: deep/' recipes/deep.recipe
fails 2 orch run deep
says "did you mean 'recipes/deep.recipe'?"
ok orch run -q recipes/deep.recipe
fails 2 orch run recipes/deep
says "did you mean 'recipes/deep.recipe'?"
fails 2 orch run none.recipe
says "'ls recipes'"
# a metric that no run has: the nearest one, or those that there are
fails 2 orch best slept --min
says "did you mean 'slept_s'?"
fails 2 orch best accuracy --max
says "runs have '"
fails 2 orch compare nap nap -m accuracy
says "runs have '"
fails 2 orch plot --x step --y accuracy
says "runs have '"
ok orch ls -m accuracy
says "no run in the list has a metric or result 'accuracy'"
ok orch ls -m slept_s -q
says_not warning
fails 2 orch cost --by owner
says 'who, recipe'
fails 2 orch help runn
says "did you mean 'orch run'?"
# a slip of the hand overwrites no recipe
cp nap.recipe kept
fails 2 orch pack nap.recipe nap.recipe
says 'is neither a bundle nor a pack'
fails 2 orch export --bundle nap.recipe
cmp -s nap.recipe kept || _fail 'the recipe was overwritten'
ok orch pack recipes/deep.recipe deep.orch
ok orch pack recipes/deep.recipe deep.orch

# 'plugin new' says what to type next, and that works
for language in c shell python; do
    ok orch plugin new new$language -l $language --json
    while read -r line; do eval "ok $line"; done <<<"$(json next)"
done
# a plugin made at the top of the project, a recipe in recipes/
mkdir -p recipes
ok orch plugin new aside --language python
printf 'format: 1\nrecipe: aside\nexperiments:\n  a: { plugin: aside }\n' >recipes/aside.recipe
fails 4 orch check recipes/aside.recipe
says "write 'plugin: ../plugins/aside'"
sed -i 's#plugin: aside#plugin: ../plugins/aside#' recipes/aside.recipe
ok orch check recipes/aside.recipe
