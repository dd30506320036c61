# A commit that changed no code has no runs of its own, because 'orch run' reuses older ones: compare uses the runs of
# the same code and says so. The command in its hint works.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp data
cat >exp/job.plugin <<'Y'
plugin: job
command: [sh, job.sh, "${seed}", "${data}"]
parameters: { data: { type: path, default: ../data/a.txt } }
metrics: { score: { better: max } }
Y
echo 'echo "score 0.5$(echo $1 | tail -c 3)$(cat $2)"' >exp/job.sh
echo 1 >data/a.txt
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  job: { plugin: exp/job.plugin, with: { data: data/a.txt }, repeat: 4, reuse: any }
R
git add -A
git commit -qm first
ok orch run r.recipe
says '4 ok'
echo text >README
git add -A
git commit -qm words
ok orch run r.recipe
has_not 'ok'
says 'nothing to run'
# the commit of the text counts as done
ok orch compare HEAD~1 HEAD -m score
says "B: HEAD (commit $(git rev-parse --short=8 HEAD), with runs of other commits that have the same code, 4 runs)"
says 'A and B are the same runs'
says '--run RECIPE'
has 'equal in every pair'
# what the hint names makes runs
ok orch compare HEAD~1 HEAD -m score --run r.recipe --repeat 2
says '2 trials of each side'
has '2 pairs'
ok orch compare HEAD~1 HEAD -m score
says_not 'the same code'
# other code, other data, a new file beside the program, another recipe: no runs of the same code
for change in 'echo "#" >>exp/job.sh' 'echo 2 >data/a.txt' 'echo true >exp/more.sh' 'echo "# x" >>r.recipe'; do
    eval "$change"
    git add -A
    git commit -qm "$change"
    fails 2 orch compare HEAD~1 HEAD -m score
    says 'or from the same code'
    says '--run RECIPE'
    git reset -q --hard HEAD~1
done
# data that no run reads is none of them
echo 3 >data/b.txt
git add -A
git commit -qm 'other data'
ok orch compare HEAD~2 HEAD -m score
says 'the same code'
# the earlier commit, when only the later one has runs
echo '#' >>exp/job.sh
git add -A
git commit -qm code
git tag code
echo more >>README
git add -A
git commit -qm more
ok orch run r.recipe
says '4 ok'
ok orch compare HEAD~2 code -m score
says 'B: code (commit'
has '4 pairs'
