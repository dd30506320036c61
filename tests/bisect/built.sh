# Each commit builds its own program: what git ignores because it was built from the work tree's files is neither used
# nor written. Data that git ignores is. Merged commits count as one.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
command -v cc >/dev/null && command -v make >/dev/null || skip 'needs cc and make'
printf 'bench\n*.o\ndata/\nbuild/\n' >.gitignore
mkdir data build
echo 5 >data/n
touch build/CMakeCache.txt
printf 'bench: main.o\n\tcc -o bench main.o\nmain.o: main.c\n\tcc -c main.c\n' >Makefile
version() {
    printf '#include <stdio.h>\nint main(void) { int n = 0; return scanf("%%d", &n) == 1 ? printf("cycles %%d\\n", %d + n) < 0 : 1; } /* %s */\n' "$1" "$2" >main.c
    git add -A
    git commit -qm "$2"
}
version 100 one
version 100 two
git checkout -q -b side
version 100 inner
version 200 slow
version 200 last
git checkout -q main
echo text >README
git add README
git commit -qm text
git merge -q --no-ff -m 'merge of side' side
version 200 after
version 200 end
make -s
built=$(sha256sum bench main.o; stat -c %Y bench main.o)
ok orch bisect cycles --min HEAD~5..HEAD -- sh -c 'make -s && ./bench <data/n && ! test -e build'
says "'bench', 'build', 'main.o' of your folder are not used"
has "$(git rev-parse --short=8 HEAD~2) made 'cycles' worse"
has 'merge of side  (t, '
has ', a merge)'
has '105'
has_not 'inner'
same "$built" "$(sha256sum bench main.o; stat -c %Y bench main.o)"
# a comparison of two commits, too, runs what each of them builds
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  bench: { plugin: ./bench.plugin }
R
cat >bench.plugin <<'Y'
plugin: bench
command: [sh, -c, "make -s && ./bench <data/n"]
metrics: { cycles: { better: min } }
Y
git add -A
git commit -qm recipe
ok orch compare HEAD~6 HEAD --run r.recipe --repeat 2
says "A: 'bench', 'build', 'main.o' of your folder are not used"
has '205'
has '105'
same "$built" "$(sha256sum bench main.o; stat -c %Y bench main.o)"
