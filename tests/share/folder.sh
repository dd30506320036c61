# Three members share a plain folder on a USB stick or a synchronised disk, without a server or a git remote.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# Three members share a plain folder, on a USB stick or synchronised by whatever they like: no server,
# no git remote.
share=$SCRATCH/share
mkdir "$share"
member() { # NAME RUNS: a store of its own
    mkdir "$SCRATCH/$1" && cd "$SCRATCH/$1" && git init -q -b main . && export ORCH_USER=$1
    sleeps naps "0.0$2"
    [ "$2" = 0 ] || ok orch run naps.recipe
}
as() { cd "$SCRATCH/$1" && export ORCH_USER=$1; }
digest() {
    ok orch db info --json
    json digest
}
member ada 1
member bob 2
member cy 3
as ada
ok orch push "$share"
says "sent to"
same "$(ls "$share" | wc -l)" 1
as bob
ok orch push "$share"
has ada
as cy
ok orch push "$share"
has ada
has bob
as bob
ok orch pull "$share"
as ada
ok orch pull "$share"
a=$(digest)
as bob
same "$a" "$(digest)" 'the stores of ada and bob'
as cy
same "$a" "$(digest)"
same "$(ls "$share" | wc -l)" 3
# nothing new: nothing is written; a public note is something, a private one stays
ok orch push "$share"
same "$(ls "$share" | wc -l)" 3
key=$(orch ls --format tsv | tail -n 1 | cut -f1)
ok orch db check
# a copy that is not whole is passed over and taken up when it is
first=$(ls "$share" | head -n 1)
mkdir "$SCRATCH/new"
cp "$share/$first" "$SCRATCH/whole"
head -c 200 "$SCRATCH/whole" >"$share/$first"
member dan 0
fails 7 orch pull "$share"
says 'incomplete or damaged'
ok orch ls --json
same "$(json runs.#)" 2
cp "$SCRATCH/whole" "$share/$first"
ok orch pull "$share"
same "$a" "$(digest)"
# emptied: whoever pushes next puts all in one bundle
rm "$share"/*.orch
as cy
ok orch push "$share"
same "$(ls "$share" | wc -l)" 1
member eve 0
ok orch pull "$share"
same "$a" "$(digest)"
ok orch db check
fails 3 orch push "$SCRATCH/nowhere/else"
# a folder that cannot be written is said; what is in it comes all the same
chmod a-w "$share"
as ada
sleeps naps 0.07
ok orch run naps.recipe
[ "$(id -u)" = 0 ] || {
    fails 3 orch push "$share"
    says 'cannot write'
}
chmod u+w "$share"
ok orch push "$share"
