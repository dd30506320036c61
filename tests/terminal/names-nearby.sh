# A name that no run has is an error that names the nearest one, or what there is, for values and for axes alike.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >t.py <<'P'
import sys
for e in range(3):
    print("epoch", e, "val_acc", 0.5 + e * float(sys.argv[1]))
print("bad_loss nan")
P
echo .orch >.gitignore
git add -A
git commit -qm one
ok orch try -x rate=0.1,0.2 --name t -- python3 t.py '{rate}'
# values
while read -r command; do
    fails 2 orch $command
    says "'val_ac'"
    says "did you mean 'val_acc'?"
done <<'C'
table --rows rate --value val_ac
plot -y val_ac
plot -x rate -y val_ac
plot -x val_ac -y val_acc
best val_ac --max
C
# axes: a misspelt name of 'orch best --by' put all runs into one group
while read -r command; do
    fails 2 orch $command
    says "'rat'"
    says "did you mean 'rate'?"
done <<'C'
table --rows rat --value val_acc
table --rows rate --columns rat --value val_acc
plot -x rat -y val_acc
plot -y val_acc --by rat
plot -y val_acc --facet rat
best val_acc --max --by rat
best val_acc --max --by experiment,rat
C
ok orch best val_acc --max --by 'rate, experiment'
fails 2 orch best val_acc --max --by qqq
says "these runs have 'rate'; every run has 'experiment'"
fails 2 orch best val_acc --max --by val_acc
says "'val_acc' is a metric or a result; name a parameter"
# a value without steps, one that is never a number, and two that no run has together
fails 2 orch plot -y wall_s
says "'wall_s' has only one value in each run, and no steps"
says 'hint: draw it over a parameter, for example --x rate'
ok orch plot --x rate -y wall_s
fails 2 orch plot --x rate -y bad_loss
says "'bad_loss' is not a number in the selected runs"
ok orch try --name other -- sh -c 'echo other 1'
fails 2 orch plot -x other -y val_acc
says "no selected run has both 'val_acc' and 'other'"
# a name that only other runs have is not suggested for itself
fails 2 orch table --rows experiment --value other --where 'experiment = t'
says "hint: other runs have 'other': the selected ones record none"
says_not 'did you mean'
# a field that these runs lack
mkdir "$SCRATCH/plain"
cd "$SCRATCH/plain"
ok orch try --name plain -- sh -c 'echo acc 1'
fails 2 orch best acc --max --by branch
says "none of the selected runs records its 'branch'"
says_not 'did you mean'
fails 2 orch best acc --max --by qqq
says_not "'commit'"
