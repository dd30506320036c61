# What a compiled plugin opens is an input of its run, as of a program: files beside the one that a parameter names, by
# whatever call, in its child processes and in ranks; outside of the repository what a parameter names.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
plugins=$BUILD/tests/plugins
trust "$plugins/opens.so" "$plugins/opens_in_ranks.so"
recipe() { # NAME PLUGIN PATH
    printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: %s, with: { path: "%s" } }\n' "$1" "$plugins/$2.so" "$3" >"$1.recipe"
}
make() { # FOLDER
    mkdir -p "$1/set.folder" "$1/set.glob"
    local n=0 way
    for way in '' .fopen64 .open .openat .shell .folder/a .glob/b.txt; do
        n=$((n + 1))
        echo $n >"$1/set$way"
    done
    sleep 0.1 # older than the trial
}
sum() {
    ok orch show @last --json
    of_json 'it["results"]["sum"]'
}
make data
printf 'data*/\n' >.gitignore
recipe one opens data/set
git add -A
git commit -qm one
ok orch run one.recipe
same "$(sum)" 28.0 'the sum of all files'
ok orch show @last
for way in '' .fopen64 .open .openat .folder/a .glob/b.txt .shell; do
    has "data/set$way "
done
has 'data/set.folder/*'
has 'data/set.glob/*.txt'
has 'data/set.out' # written
has_not opens.so
has_not libc
ok orch run one.recipe
says 'nothing to run'
n=10
for way in .fopen64 .open .openat .folder/a .glob/b.txt .shell ''; do
    n=$((n + 1))
    echo $n >"data/set$way"
    ok orch plan one.recipe
    has "data/set$way, which this run read, has changed since"
    sleep 0.1
    ok orch run one.recipe
    says '1 ok'
    ok orch run one.recipe
    says 'nothing to run'
done
same "$(sum)" 98.0 'the sum of the changed files'
echo 5 >data/set.glob/new.txt
ok orch plan one.recipe
has 'data/set.glob/*.txt, which this run read, has other files now'
rm data/set.glob/new.txt
echo 5 >data/set.other
ok orch run one.recipe
says 'nothing to run' # nobody opened it

# switched off
ok orch run one.recipe --force --no-watch
ok orch show @last
has 'what it read was not noted: --no-watch'
has_not data/set.open

# outside of the repository: the file that the parameter names
make "$SCRATCH/outside"
recipe out opens "$SCRATCH/outside/set"
ok orch run out.recipe
ok orch show @last
has "$SCRATCH/outside/set "
echo 9 >"$SCRATCH/outside/set"
ok orch plan out.recipe
has "$SCRATCH/outside/set, which this run read, has changed since"

# the store elsewhere: the trial's own folder holds no data
mkdir elsewhere
ok orch run one.recipe --db elsewhere/results.db
ok orch show @last --db elsewhere/results.db
has data/set.open
has_not elsewhere/

# ranks
command -v mpirun >/dev/null || skip 'no mpirun on the PATH: the rest passes'
recipe ranks opens_in_ranks data/set
sed -i 's/ } }$/ }, resources: { ranks: 2 } }/' ranks.recipe
ok orch run ranks.recipe
ok orch show @last
has data/set.open
has data/set.shell
has_not opens_in_ranks.so
echo 31 >data/set.open
ok orch plan ranks.recipe
has 'data/set.open, which this run read, has changed since'
