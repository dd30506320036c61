# A trial leaves an artifact outside of its folder, its runner is killed, and the file changes or goes
# before another command closes the trial: that costs this run, and nothing else.
. "$(dirname "$0")/lib.sh"
mkdir exp out
cat >exp/leave.plugin <<'Y'
plugin: leave
command: [sh, leave.sh, "${to}"]
metrics_from: protocol
parameters:
  to: { type: string }
metrics:
  value: { better: max }
artifacts:
  model: model.bin
Y
cat >exp/leave.sh <<'S'
sleep 0.3
echo one >"$1"
echo "{\"event\":\"artifact\",\"name\":\"model\",\"path\":\"$1\"}" >&"$ORCH_EVENTS"
echo '{"event":"done","status":"ok"}' >&"$ORCH_EVENTS"
S
printf 'format: 1\nrecipe: leave\nexperiments:\n  leave: { plugin: exp/leave.plugin, retries: 0 }\n' >leave.recipe
sleeps naps 0.01
# stops the runner while its trial sleeps, and kills it when that has ended
kill_runner() {
    orch run leave.recipe -s to="$1" >/dev/null 2>&1 & pid=$!
    for _ in $(seq 400); do [ -n "$(ls .orch/trials/*/journal 2>/dev/null)" ] && break; sleep 0.005; done
    kill -STOP $pid
    for _ in $(seq 400); do grep -qs '"event":"end"' .orch/trials/*/journal && break; sleep 0.01; done
    kill -KILL $pid; wait $pid 2>/dev/null
    grep -qs '"verdict":"ok"' .orch/trials/*/journal || skip 'the runner was too quick to be stopped'
}
ok orch run naps.recipe # the store is there
kill_runner "$PWD/out/gone"; rm out/gone
ok orch run naps.recipe; says 'closed 1 trial'
ok orch show @last --json; same "$(json state)" lost
case $(json reason) in *"artifact 'model': '$PWD/out/gone' was removed"*) ;; *) _fail "the reason: $(json reason)" ;; esac
ok orch log @last; has "warning: artifact 'model'"
kill_runner "$PWD/out/changed"; echo two >out/changed
ok orch run naps.recipe; says 'closed 1 trial'
ok orch show @last --json; same "$(json state)" lost
case $(json reason) in *"out/changed' changed after the trial had ended"*) ;; *) _fail "the reason: $(json reason)" ;; esac
# one that is as it was is kept, and lost ones run again
kill_runner "$PWD/out/same"
ok orch run naps.recipe; ok orch show @last --json; same "$(json state)" ok
ok orch run leave.recipe -x to="$PWD/out/gone,$PWD/out/changed,$PWD/out/same"; says '2 ok, 1 done before'
ok orch db check
