# 'orch compare --run' of commits from before the recipe was written: they receive the recipe and the missing plugins
# beside it from the work tree, and nothing else. The history is not changed.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
echo 'echo "loss: 1"' >p.sh
git add -A
git commit -qm one
echo 'echo "loss: 2"' >p.sh
git commit -qam two
echo 'echo "loss: 3"' >p.sh # what runs is the commits'
printf 'command: [sh, p.sh]\nmetrics_from: lines\nmetrics: any\n' >p.plugin
mkdir bench
printf 'format: 1\nrecipe: c\nexperiments:\n  e: { plugin: ../p.plugin, program: sh ../p.sh }\n' >bench/c.recipe
before=$(
    git status --porcelain
    git rev-parse HEAD
)
ok orch compare HEAD~1..HEAD --run bench/c.recipe --repeat 2
says "A: HEAD~1 has no 'bench/c.recipe', so the one of the work tree is used"
says 'B: HEAD has no'
ok orch compare HEAD~1 HEAD --json -m loss
same "$(json metrics.0.a.mean) $(json metrics.0.b.mean)" '1.0 2.0' 'the losses of both commits'
same "$(
    git status --porcelain
    git rev-parse HEAD
)" "$before" 'the repository'
# what ran is recorded: the commit's tree with the two files
ok orch show @last
has 'with uncommitted changes'
ok orch checkout @last there
[ -e there/p.plugin ] && [ -e there/bench/c.recipe ] || _fail 'the recipe is not in the recorded tree'
# committed on one side only
git add -A
git commit -qm recipe
ok orch compare HEAD~2 HEAD --run bench/c.recipe --repeat 2
says 'A: HEAD~2 has no'
says_not 'B: HEAD has no'
