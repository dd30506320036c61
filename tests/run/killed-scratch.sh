# A command removes temporary folders that killed commands left, but only those of dead processes.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export TMPDIR=$SCRATCH/tmp ORCH_SLOTS=off
mkdir "$TMPDIR"
cat >slow.plugin <<'P'
plugin: slow
command: [sh, -c, "touch $SCRATCH/begun; sleep ${seconds}; echo x 1"]
parameters:
  seconds: { type: int, default: 60 }
metrics:
  x: {}
P
sed -i "s#\$SCRATCH#$SCRATCH#" slow.plugin
printf 'format: 1\nrecipe: r\nexperiments:\n  a: { plugin: ./slow.plugin }\n' >r.recipe
begin() { # begins a run in a scratch store, and waits until its trial runs
    rm -f "$SCRATCH/begun"
    orch run --smoke -q r.recipe >/dev/null 2>&1 &
    main=$!
    for _ in $(seq 600); do
        [ -e "$SCRATCH/begun" ] && return
        sleep 0.1
    done
    _fail 'the trial did not begin'
}
end() { # kills that run, and waits for its trial, which still writes its last lines into the folder
    kill -KILL $main
    wait $main 2>/dev/null
    while pgrep -f "orch-host $TMPDIR" >/dev/null; do sleep 0.02; done
}
begin
dead=$(echo "$TMPDIR"/orch-smoke*)
[ -d "$dead" ] || _fail "no scratch folder: $dead"
end
begin
living=$(ls -d "$TMPDIR"/orch-smoke* | grep -vxF "$dead")
[ -d "$living" ] || _fail 'no second scratch folder'
[ ! -e "$dead" ] || _fail "left: $dead"
# another one, while that runs: it leaves what belongs to a living process
ok orch run --smoke -q r.recipe -s seconds=0
[ -d "$living" ] || _fail "gone: $living"
end
# whatever needs such a folder removes it, here the index of a capture
ok orch run -q r.recipe -s seconds=0
[ ! -e "$living" ] || _fail "left: $living"
same "$(ls -A "$TMPDIR")" '' 'the folder for temporary files'
