# The runner is killed after a trial has left an artifact, and the file is changed or removed before another command
# records the trial. An artifact outside of the trial's folder was copied when the trial ended, so it is not lost. A
# changed artifact inside of the folder makes only that run fail.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
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
while [ -e "$HOME/hold" ]; do sleep 0.01; done
case $1 in /*) file=$1 ;; *) file=$ORCH_TRIAL_DIR/$1 ;; esac
echo one >"$file"
echo "{\"event\":\"artifact\",\"name\":\"model\",\"path\":\"$file\"}" >&"$ORCH_EVENTS"
echo '{"event":"done","status":"ok"}' >&"$ORCH_EVENTS"
S
printf 'format: 1\nrecipe: leave\nexperiments:\n  leave: { plugin: exp/leave.plugin, retries: 0 }\n' >leave.recipe
sleeps naps 0.01
trials=.orch/results.db.d/trials
has_ended() { grep -qs '"event":"end"' $trials/*/journal; }
# stops the runner while its trial waits, and kills it when that has ended
kill_runner() {
    touch "$HOME/hold"
    orch run leave.recipe -s to="$1" >/dev/null 2>&1 &
    pid=$!
    until_true begun
    kill -STOP $pid
    rm "$HOME/hold"
    until_true has_ended
    kill -KILL $pid
    wait $pid 2>/dev/null
    grep -qs '"verdict":"ok"' $trials/*/journal || _fail 'the trial did not end well'
}
bytes() { cat ".orch/results.db.d/objects/$(json "artifacts.0.sha256" | sed 's#^..#&/#')"; }
ok orch run naps.recipe # the store is there
kill_runner "$PWD/out/gone"
rm out/gone
ok orch run naps.recipe
says 'recorded the end of 1 trial'
ok orch show @last --json
same "$(json state)" ok
same "$(bytes)" one
kill_runner "$PWD/out/changed"
echo two >out/changed
ok orch run naps.recipe
ok orch show @last --json
same "$(json state)" ok
same "$(bytes)" one
# in the trial's folder: it is what the host saw, or it is lost
kill_runner gone.bin
find $trials -name gone.bin -delete
ok orch run naps.recipe
says 'recorded the end of 1 trial'
ok orch show @last --json
same "$(json state)" lost
case $(json reason) in *"artifact 'model': '"*"gone.bin' was removed"*) ;; *) _fail "the reason: $(json reason)" ;; esac
ok orch log @last
has "warning: artifact 'model'"
kill_runner changed.bin
find $trials -name changed.bin -exec sh -c 'echo two >"$1"' - {} ';'
ok orch run naps.recipe
ok orch show @last --json
same "$(json state)" lost
case $(json reason) in *"changed.bin' changed after the trial had ended"*) ;; *) _fail "the reason: $(json reason)" ;; esac
# lost ones run again
ok orch run leave.recipe -x to="$PWD/out/gone,gone.bin,changed.bin"
says '2 ok, 1 done before'
ok orch db check
