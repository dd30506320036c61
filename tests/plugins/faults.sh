# Plugins that break the protocol in every known way, run from the command line: the message, the exit status and the
# results that are kept. (tests/plugins/test_host_trials.c tests orch-host alone.)
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_PLUGIN_PATH=$BUILD/tests/plugins ASAN_OPTIONS=handle_segv=0
trust "$BUILD"/tests/plugins/*.so
# cannot be loaded: which field, expected and found, the path, the hint; the same from every command
while IFS='|' read -r name what hint; do
    printf 'format: 1\nrecipe: x\nexperiments:\n  x: { plugin: %s }\n' "$name" >x.recipe
    fails 4 orch plugin show "$name"
    says "$name"
    says "$what"
    says "$hint"
    fails 4 orch check x.recipe
    says "$name"
    says "$what"
    says 'at: x.recipe:4:16'
    says "$hint"
done <<'CASES'
bad_abi|built for ABI 2, but this orch accepts 1|hint: rebuild the plugin
next_major|built for ABI 2, but this orch accepts 1|hint: rebuild the plugin
bad_magic|expected 0x47554c504843524f, found 0x0|hint: begin the descriptor
short_struct|descriptor field 'struct_bytes': expected at least|hint: begin the descriptor
no_symbol|the plugin does not export the symbol 'orch_plugin_v1'|hint: put ORCH_PLUGIN_EXPORT
undefined_symbol|undefined symbol: this_symbol_is_nowhere|hint: link the library
no_run|descriptor field 'run': expected a function, found NULL|hint: set this field
crash_load|signal 11 (SIGSEGV)|crash_load.so
not_there|no plugin 'not_there'|hint: see 'orch plugin ls'
CASES
fails 4 orch run x.recipe
says "no plugin 'not_there'"
[ ! -e .orch ] || _fail 'a plugin that cannot be loaded left a store behind'
# one broken plugin hides no other
ok orch plugin ls
has bad_abi.so
has broken
has misbehave
has sleep
# in check: no trial starts; a refusal is the recipe's error, a crash the plugin's
cat >x.recipe <<'R'
format: 1
recipe: x
experiments:
  x: { plugin: misbehave, retries: 0, with: { how: nothing } }
R
fails 4 orch run x.recipe -s how=crash_check
says 'crashed in check: signal 11 (SIGSEGV)'
says 'at: x.recipe:4:3'
fails 2 orch run x.recipe -s how=refuse
says 'not this way'
says 'x.recipe:4:3'
# in the other calls, and misdeeds: one line each, and the others run on
cat >cases <<'CASES'
crash_open|crashed|signal 11 (SIGSEGV)
crash_run|crashed|signal 11 (SIGSEGV)
crash_close|crashed|signal 11 (SIGSEGV)
exit|protocol-error|it exited with status 0 without a 'done' event
exit_3|failed|exit status 3
huge_line|protocol-error|a line of events is longer than 65536 bytes
bad_utf8|protocol-error|line is not valid UTF-8
undeclared|protocol-error|undeclared metric 'valu' (did you mean 'value'?)
missing_artifact|protocol-error|artifact 'file': cannot read
endless_output|timeout|ran past its limit of 1.0 s
endless_log|timeout|ran past its limit of 1.0 s
nan|ok|
grandchild|ok|
grandchild_session|ok|
nothing|ok|
CASES
sed -i 's/retries: 0/&, timeout: 1s/' x.recipe
fails 1 orch run x.recipe -j 4 -x how="$(cut -d'|' -f1 cases | paste -sd,)"
says '4 ok, 1 failed, 3 crashed, 2 timeout, 5 protocol-error'
ok orch ls -n 0 --json
printf '%s' "$out" >runs.json
python3 -c 'import json
for r in json.load(open("runs.json"))["runs"]: open("key." + r["setting"]["how"], "w").write(r["key"] + "\n")'
while IFS='|' read -r how state reason; do
    key=$(<"key.$how")
    ok orch show "$key" --json
    same "$(json state)" "$state" "the state of $how"
    case $(json reason) in *"$reason"*) ;; *) _fail "$how: the reason lacks '$reason'" ;; esac
done <cases
# what came before a crash is kept, with the end of its stderr
ok orch show "$(cat key.crash_run)"
has 'value      118'
has 'last words'
ok orch log "$(cat key.crash_run)"
has 'last words'
says 'crashed: signal 11 (SIGSEGV)'
# NaN is a value: kept, and no number
ok orch show "$(cat key.nan)"
has 'nan'
# a process that outlived its trial is gone, and that is said
for how in grandchild grandchild_session; do
    ok orch log "$(cat key.$how)"
    has 'warning: 1 process outlived the trial and was ended: '
done
# a log without end: its begin and its end are kept, what is missing is said
orch log "$(cat key.endless_output)" >big 2>/dev/null
same "$(head -n 1 big)" 'line 0 of a log without end' 'the first line'
same "$(grep -c '^\[orch: [0-9]* bytes were dropped here\]$' big)" 1 'the marks of what is missing'
same "$(tail -n 1 big)" 'the last line' 'the last line'
[ "$(wc -c <big)" -lt 17000000 ] || _fail "the log holds $(wc -c <big) bytes"
# more memory than it may have
sed -i 's/timeout: 1s/timeout: 30s, resources: { memory: 64MiB }/' x.recipe
fails 1 orch run x.recipe -s how=memory
says 'failed'
says 'memory over the limit: '
says ' of 64.0 MiB'
# nothing is left of any of them
[ "$(find .orch/results.db.d/trials -mindepth 1 | wc -l)" = 0 ] || _fail "folders of trials are left"
left=$(grep -lsz "^ORCH_RUN=" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
    readlink "${file%environ}cwd" | grep "^$SCRATCH/"
done)
same "$left" '' 'processes that are left'
ok orch db check
