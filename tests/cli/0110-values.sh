# What programs get and print: seeds that every library takes, reasons that say why a program failed.
. "$(dirname "$0")/lib.sh"
# {seed} is what numpy.random.seed and a C int take; {seed64} is the whole of it
ok orch try --name seeds --repeat 3 -- sh -c 'echo fits $(( {seed} < 2147483648 )); echo equal $(( {seed64} & 2147483647 == {seed} )); [ {seed} = $ORCH_SEED ] && [ {seed64} = $ORCH_SEED64 ]'
ok orch show @last; has "seed64"
ok orch show @last --json; same "$(json seed31)" "$(python3 -c "print($(json seed) & 0x7fffffff)")" 'the seed'
# a program that failed: its last words stand in the run's line, the lines before them at the end
cat >bad.py <<'P'
import sys
print("starting", file=sys.stderr)
raise ValueError("no such \033[31mfile")
P
fails 1 orch try --repeat 2 -- python3 bad.py
says 'exit status 1: ValueError: no such ?[31mfile'; says '| Traceback'; says 'stderr ends as the one above'
ok orch show @last; has 'exit status 1: ValueError: no such ?[31mfile'
fails 1 orch try --json -- python3 bad.py --again
same "$(json failures.0.stderr.4)" 'ValueError: no such ?[31mfile' 'the last line'
same "$(json failures.0.reason)" 'exit status 1: ValueError: no such ?[31mfile'
