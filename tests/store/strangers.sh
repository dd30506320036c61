# The runs of a store that came from elsewhere (an archive, a clone with a committed .orch) can be read and merged, but
# no path, program or remote in it is used. The user's own store is not affected.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
mark=.orch/results.db.d/orch-store
# what arrives when a folder was made on another machine: neither its machine nor its place is known here
stranger() { sed -i -E 's/"machine":"[0-9a-f]*"/"machine":"'"$(printf '%064d' 1)"'"/g; s/"inode":[0-9]+/"inode":1/' $mark; }
ok orch run naps.recipe
ok orch log @last
# a copy on this machine is one's own, and so is a store whose machine got another id
cp -r "$SCRATCH/w" "$SCRATCH/copy"
cd "$SCRATCH/copy"
ok orch run naps.recipe --force
says_not warning
sed -i -E 's/"machine":"[0-9a-f]*"/"machine":"'"$(printf '%064d' 1)"'"/g' $mark
ok orch run naps.recipe --force
says_not warning
same "$(grep -o '"uid"' $mark | wc -l)" 2 'owners: this machine was added'
# one that was made elsewhere
cd "$SCRATCH/w"
cp -r .orch "$SCRATCH/mine"
stranger
ok orch ls --json
same "$(json runs.#)" 1
says 'is read only: it was made by another user or on another machine'
says 'orch db adopt'
for command in 'run naps.recipe' gc 'rm @last' 'db check --fix'; do
    [ "$command" = 'db check --fix' ] && continue
    fails 3 orch $command
    says 'made by another user or on another machine'
    says 'hint: copy its runs into your own store: orch db merge'
done
ok orch db merge .orch/results.db --db own.db
ok orch ls --db own.db --json
same "$(json runs.#)" 1
ok orch plan naps.recipe
fails 2 orch db adopt
says 'without --yes'
says '--yes'
ok orch db adopt --yes
ok orch run naps.recipe --force
says_not warning
ok orch db check

# ---- what an attacker puts into it
mkdir "$SCRATCH/victim"
echo SECRET >"$SCRATCH/victim/stdout"
echo SECRET >"$SCRATCH/victim/journal"
forge() {
    python3 - "$@" <<'P'
import json, os, sqlite3, sys
victim, record = sys.argv[1], sys.argv[2]
db = sqlite3.connect(".orch/results.db")
boot = open("/proc/sys/kernel/random/boot_id").read().strip()
db.execute("DELETE FROM active")
for n, (boot_id, pid) in enumerate([("", 0), (boot, 1), ("x" * 100, 99), (boot, 4000000)]):
    db.execute("INSERT INTO active(key, fingerprint, device_key, record, boot_id, pid, pid_start, started)"
               " VALUES(?, 'f', 'w', ?, ?, ?, 1, 1)", ("01890000-0000-7000-8000-00000000000%d" % n, record, boot_id, pid))
db.execute("INSERT INTO active(key, record, boot_id, pid, pid_start, started) VALUES('../../victim', ?, '', 0, 0, 0)", (record,))
db.commit()
P
}
key=01890000-0000-7000-8000-000000000000
for record in '{}' 'no json' '[]' '{"machine_facts":7,"params":7,"inputs":[[]],"metrics":"x","source":3,"seed":{}}'; do
    forge "$SCRATCH/victim" "$record"
    # as a stranger's: no trial under way is shown, nor its files
    cp -r .orch "$SCRATCH/good"
    stranger
    ok orch ls --json
    _run orch status --json
    same "$(json running)" 0
    _run orch log $key
    has_not SECRET
    [ $status != 0 ] || _fail 'a row of a stranger counts'
    rm -rf .orch
    mv "$SCRATCH/good" .orch
    # in a database that was put into one's own folder: what the rows name is not touched
    ok orch run naps.recipe
    same "$(ls "$SCRATCH/victim" | tr '\n' ' ')" 'journal stdout '
    ok orch run naps.recipe --force
    ok orch db check
done
# journals that name files elsewhere, a record without facts, and a journal that is no file
trial() { # trial KEY ARTIFACT: a folder as of a dead runner's trial
    forge "$SCRATCH/victim" '{"experiment":"e","plugin":"p","fingerprint":"'"$(printf '%064d' 5)"'"}'
    mkdir -p .orch/results.db.d/trials/$key
    cat >.orch/results.db.d/trials/$key/journal <<J
{"event":"start","t_ns":1,"key":"$key","host":null,"child":null}
{"event":"artifact","name":"x","path":"$1","sha256":"$(sha256sum <"$SCRATCH/victim/stdout" | cut -d' ' -f1)","bytes":7}
{"event":"end","verdict":"ok","reason":null,"exit_code":0,"signal":null,"started_ns":1,"ended_ns":2,"wall_ms":1.0,"stderr_tail":"","facts":{}}
J
}
state() { ok python3 -c 'import sqlite3, sys; print(sqlite3.connect(".orch/results.db").execute("SELECT state FROM run WHERE key = ?", [sys.argv[1]]).fetchone()[0])' "$1"; }
d=.orch/results.db.d
for path in "$SCRATCH/victim/stdout" ../../../../../victim/stdout link/stdout; do
    python3 -c 'import sqlite3; db = sqlite3.connect(".orch/results.db"); db.execute("DELETE FROM active"); db.commit()'
    trial "$path"
    ln -s "$SCRATCH/victim" $d/trials/$key/link
    ln -s "$SCRATCH/victim/stdout" $d/trials/$key/stderr
    ok orch run naps.recipe --force
    says 'recorded the end of'
    state $key
    same "$out" lost 'the state'
    grep -qr SECRET $d/objects && _fail "a private file was recorded: $path"
    key=${key%?}$(((${key: -1} + 1) % 4))
done
