# What a run read is known in part where a program was not observed: 'orch show', the plan and 'orch compare' say so. Such
# a run is reused, but shows neither that two commits run the same code nor that a file is nobody's.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >"$SCRATCH/p.c" <<'C'
#include <stdio.h>
int main(void)
{
    int x = 0;
    char name[] = "d.txu";
    name[4] = 't';
    FILE *file = fopen(name, "r");
    return !file || fscanf(file, "%d", &x) != 1 || printf("v %d\n", x) < 0;
}
C
cc -static -o prog "$SCRATCH/p.c" 2>/dev/null || skip 'no static C library'
echo ./prog >a.sh
cat >p.plugin <<'P'
plugin: p
command: [sh, a.sh]
metrics: { v: min }
P
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  e: { plugin: ./p.plugin, repeat: 2 }
R
for i in 1 2; do
    echo "$i" >d.txt
    git add .
    git commit -qm "$i"
done
part="known in part: started 'prog' unobserved"
ok orch run t.recipe
ok orch show @last
has "$part"
ok orch plan t.recipe
has "$part"
says '2 done'
echo 3 >d.txt
ok orch plan t.recipe
has "$part"
says '2 done'
echo 2 >d.txt
_run orch compare HEAD~1 HEAD --run t.recipe -m v
out=$out$err
has "$part"
has_not 'the same code'
_run orch compare HEAD~1 HEAD --run t.recipe -m v --until-sure --max-runs 4
out=$out$err
has_not 'the same code with the same settings'
ok orch ls -n 0 --json
same "$(of_json 'len({r["commit"] for r in it["runs"]})')" 2 'both commits ran'
# all is known of a program that was observed
echo 'cat d.txt; echo v 1' >a.sh
git commit -qam 3
ok orch run t.recipe
ok orch plan t.recipe
has_not 'in part'
says '2 done'
