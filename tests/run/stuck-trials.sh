# A journal that is not a regular file, or a host that is stopped, makes only its own run fail and blocks no other.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps 0.01
mkdir exp
d=.orch/results.db.d/trials
host() { python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["host"]["pid"])' $d/*/journal; } # its process
cat >exp/odd.plugin <<'Y'
plugin: odd
command: [sh, odd.sh, "${make}"]
parameters:
  make: { type: string }
Y
printf 'cd "$ORCH_TRIAL_DIR/.."; rm -f journal; $1 journal\n' >exp/odd.sh
printf 'format: 1\nrecipe: odd\nexperiments:\n  odd: { plugin: exp/odd.plugin, retries: 0 }\n' >odd.recipe
for make in mkfifo mkdir 'ln -s /dev/zero' 'ln -s /etc/passwd' 'cp /dev/null'; do
    _run timeout 300 orch run odd.recipe -s make="$make"
    [ $status = 1 ] || _fail "$make: status $status, expected 1"
    ok timeout 300 orch run naps.recipe
    says_not closed
    [ -z "$(ls $d)" ] || _fail "$make: the trial's folder is left"
done
ok orch ls --state lost --json
same "$(json runs.#)" 5 'lost runs'
# left by a runner that was killed: the same
key=01890000-0000-7000-8000-00000000000
for n in 1 2 3; do
    python3 - $key$n <<'P'
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
db.execute("INSERT INTO active(key, fingerprint, device_key, record, boot_id, pid, pid_start, started)"
           " VALUES(?, ?, 'w', '{}', '', 0, 0, 1)", (sys.argv[1], "%064d" % 4))
db.commit()
P
    mkdir -p $d/$key$n
done
mkfifo $d/${key}1/journal
mkdir $d/${key}2/journal
ln -s /dev/zero $d/${key}3/journal
ok timeout 300 orch run naps.recipe
says 'recorded the end of 3 trials'
ok orch db check
# a host that is stopped: killed by the runner when the time limit is over, one by which a busy machine has begun the trial
begun_or_ended() { begun || is_gone "$pid"; }
for limit in 1 10 100; do
    printf 'format: 1\nrecipe: stuck\nexperiments:\n  nap: { plugin: sleep, with: { seconds: 3600 }, timeout: %s s, retries: 0 }\n' $limit >stuck.recipe
    orch run stuck.recipe >"$SCRATCH/stuck" 2>&1 &
    pid=$!
    until_true begun_or_ended
    kill -STOP "$(host)" 2>/dev/null
    wait $pid
    same $? 1
    ok orch show @last --json
    same "$(json state)" timeout
    case $(json reason) in *"its 'orch-host' process was stopped"*) break ;; esac
done
case $(json reason) in *"time limit of $limit s; its 'orch-host' process was stopped and was killed"*) ;; *) _fail "the reason: $(json reason)" ;; esac
[ -z "$(ls $d)" ] || _fail 'a folder of a trial is left'
# without a time limit, a stopped host goes on when the user interrupts, and ends its trial
printf 'format: 1\nrecipe: long\nexperiments:\n  nap: { plugin: sleep, with: { seconds: 3601 } }\n' >long.recipe
orch run long.recipe >"$SCRATCH/long" 2>&1 &
pid=$!
until_true begun
kill -STOP "$(host)"
interrupt $pid
wait $pid
status=$?
same $status 130
ok orch ls --state cancelled --json
same "$(json runs.#)" 1
