# Values that programs receive and print: seeds in the range of every library, and the reason of a failure.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# {seed} is what numpy.random.seed and a C int take; {seed64} is the whole of it
ok orch try --name seeds --repeat 3 -- sh -c 'echo fits $(( {seed} < 2147483648 )); echo equal $(( {seed64} & 2147483647 == {seed} )); [ {seed} = $ORCH_SEED ] && [ {seed64} = $ORCH_SEED64 ]'
ok orch show @last
has "seed64"
ok orch show @last --json
same "$(json seed31)" "$(python3 -c "print($(json seed) & 0x7fffffff)")" 'the seed'
# a program that failed: its last words stand in the run's line, the lines before them at the end
cat >bad.py <<'P'
import sys
print("starting", file=sys.stderr)
raise ValueError("no such \033[31mfile")
P
fails 1 orch try --repeat 2 -- python3 bad.py
says 'exit status 1: ValueError: no such ?[31mfile'
says '| Traceback'
says 'stderr ends as the one above'
ok orch show @last
has 'exit status 1: ValueError: no such ?[31mfile'
fails 1 orch try --json -- python3 bad.py --again
same "$(json failures.0.stderr.4)" 'ValueError: no such ?[31mfile' 'the last line'
same "$(json failures.0.reason)" 'exit status 1: ValueError: no such ?[31mfile'
# values are read as people print them (docs/printed-values.md; unit.printed reads its examples)
cat >print.py <<'P'
print("Using 4 workers")
for epoch in (18, 19):
    print(f"Epoch {epoch}/20 loss: {1 / epoch:.4f} - accuracy: {epoch * 4.8:.2f}% - time: 350ms - seen: 12,345.6")
    print(f"val_acc {epoch / 20}")
print("loss 0.5")
print("loss: 0,91")
P
ok orch try -- python3 print.py
says '2 lines held numbers that were not understood, first: Using 4 workers'
says '1 value was replaced by a later one of the same step, first: loss at 19'
ok orch show @last
has 'not understood'
has 'Using 4 workers'
has 'loss at 19'
ok orch show @last --json
python3 - "$out" <<'P'
import json, sys
metrics = {m["name"]: m for m in json.loads(sys.argv[1])["metrics"]}
assert metrics["accuracy"]["first"] == 0.864 and metrics["seen"]["last"] == 12345.6 and metrics["time"]["unit"] == "s" and metrics["time"]["last"] == 0.35, metrics
P
ok orch export --what points -m val_acc --format csv
has ',18,'
has ',19,'
# a trial that ended well and recorded nothing says so, in --json too
ok orch try -- sh -c 'echo done'
says '1 trial ended well and recorded no metric'
ok orch try --json -- sh -c 'echo done again; echo 5 apples'
same "$(json without_metrics) $(json output.unread_lines)" '1 1'
same "$(json output.unread_first)" '5 apples'
