# A store on a network file system that three hosts share, each with its own file (ORCH_SHARD_HOST).
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# a store of three hosts, played by ORCH_SHARD_HOST
export ORCH_SHARDS=1
as() { export ORCH_SHARD_HOST=$1; }
sleeps naps 0.01 2
for host in anna bert; do
    as $host
    ok orch run naps.recipe --quiet --force
done
[ -e .orch/results.db ] && _fail 'a shared store has one file'
ok orch db info
has 'shard      bert (this host): 4 runs'
has 'shard      anna'
ok orch db info --json
digest=$(json digest)
same "$(json shared)" true
same "$(json runs)" 4
same "$(json shards.0.host)" bert
case $(json path) in */.orch/results.db) ;; *) _fail 'the path that people use is another' ;; esac
for host in anna carl; do
    as $host
    ok orch db info --json
    same "$(json runs)" 4
    same "$(json digest)" "$digest" "digest on $host"
done
ok orch db check
# a trial that one host has done is done on the others
as carl
ok orch plan naps.recipe --json
same "$(json left)" 0
# what one removes is removed on all
as anna
ok orch ls --json
key=$(json runs.0.key)
ok orch rm "$key"
as carl
ok orch ls --json
same "$(json runs.#)" 3
# the trials of one host are not taken for leftovers by another
sleeps long 600
anna_runs() { compgen -G '.orch/results.db.d/shards/anna.d/trials/*/journal' >/dev/null; }
as anna
orch run long.recipe --quiet >/dev/null 2>&1 &
runner=$!
until_true anna_runs
as bert
ok orch run naps.recipe --quiet
ok orch gc
ls .orch/results.db.d/shards/anna.d/trials/*/journal >/dev/null || _fail 'the folder of a running trial is gone'
kill -TERM $runner
wait $runner
# a shard that cannot be read now is named, and the rest goes on
as bert
head -c 9000 /dev/zero >.orch/results.db.d/shards/zoe.db
ok orch ls
says 'zoe.db'
rm .orch/results.db.d/shards/zoe.db
# a backup holds what all have; a shard that is damaged is mended from the others
ok orch db backup all.db
ok env -u ORCH_SHARDS orch db info --db all.db --json
same "$(json runs)" 5
ok orch db info --json
digest=$(json digest)
truncate -s 30000 .orch/results.db.d/shards/bert.db
fails 3 orch ls
says 'orch db repair'
ok orch db repair --json
same "$(json lost.#)" 0
rm .orch/results.db.d/shards/bert.db
ok orch db info --json
same "$(json digest)" "$digest"
# the same folder stays shared without being asked (others may reach it); a copy of it is one file
unset ORCH_SHARDS
as bert
ok orch db info --json
same "$(json shared)" true
mkdir moved
cp -r .orch moved/
cd moved
git init -q -b main .
ok orch db info --json
same "$(json shared)" false
same "$(json digest)" "$digest"
same "$(json shards.#)" 0
[ -e .orch/results.db ] && [ -e .orch/results.db.d/shards/anna.db.joined ] || _fail 'the shards were not put into one file'
ok orch db check
ok orch ls
# and to and fro
ORCH_SHARDS=1 ok orch db info --json
same "$(json shared)" true
same "$(json digest)" "$digest"
