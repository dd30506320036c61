#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program reads the files that it finds in a folder: a new or removed file makes its result stale. Files beside the
# script, of other kinds and in output folders do not.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir images
for i in 1 2 3; do echo $i >images/$i.txt; done
echo 1 >one.csv
echo about >images/README
cat >mean.py <<'P'
import glob, os, sys
found = {"glob": lambda: glob.glob("images/*.txt"),
         "listdir": lambda: ["images/" + n for n in os.listdir("images") if n.endswith("txt")],
         "scandir": lambda: [e.path for e in os.scandir("images") if e.name.endswith(".txt")],
         "walk": lambda: [os.path.join(a, n) for a, _, b in os.walk("images") for n in b if n.endswith(".txt")]}[sys.argv[1]]()
print("mean", sum(float(open(f).read()) for f in found) / len(found), "x", open("o" + "ne.csv").read())
os.makedirs("logs", exist_ok=True)
number = len(os.listdir("logs"))
open("logs/%d.txt" % number, "w").write("x"); open("logs/0.txt").read()
P
cat >mean.c <<'C'
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
static double sum;
static int count;
static void take(const char *path)
{
    double value = 0;
    FILE *file = fopen(path, "r");
    count += file && fscanf(file, "%lf", &value) == 1;
    sum += value;
    if (file)
        fclose(file);
}
int main(int argc, char **argv)
{
    glob_t found;
    struct dirent **entries;
    if (argc > 1 && strcmp(argv[1], "glob") == 0) {
        glob("ima*/*.txt", 0, NULL, &found);
        for (size_t i = 0; i < found.gl_pathc; i++)
            take(found.gl_pathv[i]);
    } else {
        for (int i = 0, n = scandir("images", &entries, NULL, alphasort); i < n; i++) {
            char path[300];
            snprintf(path, sizeof path, "images/%s", entries[i]->d_name);
            if (strstr(path, ".txt"))
                take(path);
        }
    }
    printf("mean %g\n", sum / count);
    return 0;
}
C
cc -o mean mean.c 2>/dev/null || _fail 'cc'
printf 'images/\nlogs/\nmean\n' >.gitignore
printf 'for f in "$1"/*.txt; do read v <"$f"; s=$((s + v)); done\necho sum $s\n' >sum.sh
git add -A
git commit -qm one
printf 'cd "$1"ges; sh ../sum.sh .\n' >there.sh
for command in 'python3 mean.py glob' 'python3 mean.py listdir' 'python3 mean.py scandir' 'python3 mean.py walk' './mean glob' './mean scandir' 'sh there.sh ima'; do
    set -- $command
    ok orch try -- "$@"
    ok orch try -- "$@"
    says '1 done before'
    echo 4 >images/4.txt
    ok orch try -n -- "$@"
    out=$out$err
    has stale
    has images
    ok orch try -- "$@"
    ok orch try -- "$@"
    says '1 done before'
    rm images/4.txt
    ok orch try -- "$@"
    says '1 done before' # as for the first run
    echo x >images/notes.md
    echo 2 >two.csv
    echo 'x = 1' >plot.py
    ok orch try -- "$@"
    rm images/notes.md two.csv plot.py
    [ "$1" != sh ] || continue
    says '1 done before'
done
ok orch try --force -- python3 mean.py glob
ok orch show @last
has 'images/*.txt'
has_not 'logs/*'
echo 5 >images/5.txt
ok orch try -n -- python3 mean.py glob
out=$out$err
has 'images/*.txt, which this run read, has other files now'
exit 0
