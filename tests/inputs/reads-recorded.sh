# Files that a program reads are recorded as inputs of the run, however it finds their names, and the next plan compares
# them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir data sub
printf 'data/\n__pycache__/\n' >.gitignore
for i in 1 2 3 4 5 6 7; do echo $i >data/$i.csv; done
echo key=secret >.env
cat >a.py <<'P'
import importlib, multiprocessing, os, subprocess, sys
def read(number):
    return float(open("data/" + str(number) + ".csv").read())
if __name__ == "__main__":
    total = read(1)                                                 # by itself
    with multiprocessing.Pool(2) as pool:                           # in a pool
        total += sum(pool.map(read, [2]))
    total += float(subprocess.check_output("cat <data/$((1+2)).csv", shell=True))  # by a shell
    total += importlib.import_module("sub." + "mod" + "ule").value()  # in a module of computed name
    os.chdir("data"); total += float(open(f"{5}.csv").read())        # from another folder
    fd = os.open(".", os.O_RDONLY); total += float(open(os.open("6" + ".csv", os.O_RDONLY, dir_fd=fd)).read())
    open("../." + "env").read()
    print("total", total)
P
printf 'def value():\n    return float(open("data/%%d.csv" %% 4).read())\n' >sub/module.py
touch sub/__init__.py
git add .
git commit -qm one
ok orch try -- python3 a.py
says '1 ok'
ok orch try -- python3 a.py
says 'nothing to run'
ok orch show @last
has 'data/1.csv'
has 'sub/module.py'
has_not '.env'
has_not 'data/7.csv'
has_not '/usr/'
for i in 1 2 3 4 5 6; do
    echo 1$i >data/$i.csv
    ok orch try -n -- python3 a.py
    out=$out$err
    has "data/$i.csv, which this run read, has changed since"
    echo $i >data/$i.csv
    ok orch try -- python3 a.py
    says 'nothing to run'
done
echo 17 >data/7.csv
ok orch try -- python3 a.py
says 'nothing to run' # it was not read
echo '# comment' >>sub/module.py
ok orch try -n -- python3 a.py
out=$out$err
has 'only comments changed since'
echo 'pass' >>sub/module.py
ok orch try -n -- python3 a.py
out=$out$err
has 'sub/module.py, which this run read, has changed since'
git checkout -q sub/module.py
mv data/1.csv gone.csv
ok orch try -n -- python3 a.py
out=$out$err
has 'data/1.csv, which this run read, is gone'
mv gone.csv data/1.csv
# two runs are compared
echo 21 >data/1.csv
ok orch try -- python3 a.py
says '1 ok'
ok orch ls --json
first=$(json runs.1.key) second=$(json runs.0.key)
ok orch diff "$first" "$second"
has 'input'
has 'data/1.csv'
has_not 'data/2.csv'
# a recipe's program, and a shell's redirections
cat >sum.plugin <<'P'
plugin: sum
command: [sh, sum.sh, "${n}"]
parameters:
  n: { type: int, default: 2 }
metrics:
  x: {}
P
printf 'read v <data/$1.csv\necho x $v\n' >sum.sh
printf 'format: 1\nrecipe: r\nexperiments:\n  a: { plugin: ./sum.plugin }\n' >r.recipe
ok orch run r.recipe
ok orch run r.recipe
says 'nothing to run'
echo 22 >data/2.csv
ok orch plan r.recipe
has 'data/2.csv, which this run read, has changed since'
ok orch run r.recipe
says '1 ok'
# a program in C, with the C library's streams and descriptors
cat >c.c <<'C'
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char name[64], byte;
    (void)argv;
    snprintf(name, sizeof name, "data/%d.csv", argc + 1);
    FILE *stream = fopen(name, "r");
    snprintf(name, sizeof name, "data/%d.csv", argc + 2);
    int fd = openat(AT_FDCWD, name, O_RDONLY);
    return !stream || fd < 0 || !fread(&byte, 1, 1, stream) || printf("x 1\n") < 0;
}
C
gcc -O2 -D_FORTIFY_SOURCE=2 -o "$SCRATCH/bin/c" c.c 2>/dev/null || skip 'no compiler'
ok orch try -- c
ok orch show @last
has 'data/2.csv'
has 'data/3.csv'
# switched off, and said
ok orch try --no-watch -- sh sum.sh 3
ok orch try -- sh sum.sh 3
says 'what it read was not noted: --no-watch'
ok orch show @last
has 'what it read was not noted: --no-watch'
echo 33 >data/3.csv
ok orch try -- sh sum.sh 3
says 'nothing to run'
ORCH_WATCH=off ok orch try -- sh sum.sh 5
ok orch show @last
has 'ORCH_WATCH=off'
