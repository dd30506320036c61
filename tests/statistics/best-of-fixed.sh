# Runs that differ in a value which was set for a whole sweep, or in the words of their command, are no repeats of each
# other: 'orch best' ranks them apart, and the newest does not replace the others. What follows the repeat, as the
# weights of the same repeat, tells no settings apart.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.py <<'P'
import sys
lr, epochs, seed = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("acc", 0.5 + lr + 0.01 * epochs + seed % 7 / 1000)
P
echo .orch >.gitignore
git add -A
git commit -qm one
for epochs in 3 9; do
    ok orch try -x lr=0.1,0.2 -s epochs=$epochs --repeat 3 -- python3 t.py '{lr}' '{epochs}' '{seed}'
done
ok orch best acc --max --json
same "$(json rankings.0.settings.#)" 4 'settings'
same "$(of_json '[s["n"] for s in it["rankings"][0]["settings"]]')" '[3,3,3,3]' 'runs of each'
ok orch best acc --max
has 'best: lr=0.2 epochs=9, acc'
has_not 'one value per seed'
# the mean over both is there when it is asked for
ok orch best acc --max --by lr
has '6 runs averaged to one value per seed'
# a curve of each setting
ok orch plot --x lr --y acc --out c.csv
same "$(cut -d , -f 2,9 c.csv | grep ',3$' | sort -u | paste -sd ' ')" 'epochs=3,3 epochs=9,3' 'the means of three runs'
# no parameters: the words of the command distinguish the runs, and the best is not the newest
for lr in 0.3 0.4 0.1; do
    ok orch try --name typed -- python3 t.py $lr 1 0
done
ok orch best acc --max -e typed
has 'best: command=python3 t.py 0.4 1 0, acc 0.9100'
has 'python3 t.py 0.1 1 0'
ok orch best acc --max -e typed --by experiment --json
same "$(of_json '[len(s["runs"]) for s in it["rankings"][0]["settings"]]')" '[3]' 'all three runs count'
# an edit of the program makes newer runs of the same trials
echo '# edited' >>t.py
sed -i 's/0.5 +/0.2 +/' t.py
ok orch try --name typed -- python3 t.py 0.4 1 0
ok orch best acc --max -e typed
has 'best: command=python3 t.py 0.3 1 0, acc 0.8100'
# weights of the same repeat are no setting
cat >base.plugin <<'Y'
plugin: base
command: [sh, -c, 'echo $$1 >$$2/w; echo x 1', sh, "${seed}", "${trial_dir}"]
metrics: { x: {} }
artifacts: { w: { path: "${trial_dir}/w" } }
Y
cat >next.plugin <<'Y'
plugin: next
command: [sh, -c, 'test -s $$1 && echo score $$2', sh, "${weights}", "${k}"]
parameters: { weights: { type: path }, k: { type: int, default: 1 } }
metrics: { score: { better: max } }
Y
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  base: { plugin: ./base.plugin, repeat: 3 }
  next: { plugin: ./next.plugin, with: { weights: "${base.w}" }, sweep: { k: [1, 2] }, repeat: 3 }
R
ok orch run r.recipe
ok orch best score --json
same "$(of_json '[s["n"] for s in it["rankings"][0]["settings"]]')" '[3,3]' 'repeats'
