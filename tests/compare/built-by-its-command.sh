# A command that builds its program reads files that it does not name. Two commits that differ in these alone are not
# the same code: compare runs both, each side has runs of its own, and --until-sure decides.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
command -v make >/dev/null || skip 'no make'
printf 'prog: part.txt\n\tcp part.txt prog\n' >Makefile
printf 'make -s prog\nsh ./prog\n' >run.sh
echo 'echo score 0.5$(date +%%N | cut -c 1-3)' >part.txt
sed -i 's/%%/%/' part.txt
echo prog >.gitignore
cat >job.plugin <<'Y'
plugin: job
command: [sh, run.sh, "${seed}"]
metrics: { score: { better: max } }
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  job: { plugin: ./job.plugin, reuse: any }
R
git add -A
git commit -qm first
sed -i 's/0[.]5/0.7/' part.txt
git commit -qam second
# nothing has run: what the command reads is not known
ok orch compare HEAD~1..HEAD -m score --run r.recipe --repeat 3
says_not 'the same program'
says 'differ only if a command reads or builds other files'
has '3 pairs'
has 'more than noise'
ok orch show @last --json
same "$(of_json '" ".join(i["name"] for i in it["inputs"])')" 'Makefile part.txt run.sh' 'what a run of a commit read'
# now it is
ok orch compare HEAD~1..HEAD -m score --run r.recipe --repeat 2
says_not 'the same program'
says_not 'differ only if'
# each side keeps its own runs until it is sure
ok orch compare HEAD~1..HEAD -m score --run r.recipe --until-sure
says_not 'the same code with the same settings'
has 'higher and better'
has ', sure'
# a commit that changes nothing that is read is the same code
echo words >README
git add -A
git commit -qm words
ok orch compare HEAD~1..HEAD -m score --run r.recipe --repeat 2
says 'nothing that a trial reads differs'
fails 2 orch compare HEAD~1..HEAD -m score --run r.recipe --until-sure
says 'the same code with the same settings'
# the runs of other commits are not those of one that changes what they read
sed -i 's/0[.]7/0.8/' part.txt
git commit -qam third
fails 2 orch compare HEAD~1 HEAD -m score
says 'or from the same code'
