# A host that is asked to end its trial gets SIGCONT only when it was stopped: the signal takes away the stop by which a debugger
# attaches to a process, and a program under LeakSanitizer to itself, and these wait for that stop forever.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >watch.py <<'P'
import ctypes, json, os, signal, sys
SEIZE, CONT = 0x4206, 7
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
host = json.loads(open(sys.argv[1]).readline())['host']['pid']
if ptrace(SEIZE, host, None, None) != 0:
    print('may not: ' + os.strerror(ctypes.get_errno()), flush=True)
    sys.exit()
print('attached', flush=True)
while True:
    _, status = os.waitpid(host, 0x40000000)
    if not os.WIFSTOPPED(status):
        break
    number = os.WSTOPSIG(status)
    if number != signal.SIGTRAP:
        print(signal.Signals(number).name, flush=True)
    ptrace(CONT, host, None, number if status >> 16 == 0 else 0)
P
cat >wait.sh <<'P'
echo "step 1 loss 1"
: >"$HOME/begun"
sleep 60
P
orch try -- sh wait.sh >log 2>&1 &
await -e "$HOME/begun" log
python3 watch.py .orch/results.db.d/trials/*/journal >seen 2>&1 &
await -s seen
case $(<seen) in 'may not: '*) skip "a process may not be traced here: $(<seen)" ;; esac
ok orch cancel --all
wait
ok orch ls --state cancelled --json
same "$(json runs.#)" 1 "$(<log)"
grep -q attached seen || _fail "$(<seen)"
grep -q SIGCONT seen && _fail "the host got SIGCONT: $(<seen)"
true
