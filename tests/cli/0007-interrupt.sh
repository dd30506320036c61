# After the first Ctrl-C no further trial starts and running trials finish; the second Ctrl-C stops them.
. "$(dirname "$0")/lib.sh"
sleeps long '20, 21'
# once: nothing more is started, what runs may finish; twice: it is stopped
orch run long.recipe >out1 2>err1 &
pid=$!
for _ in $(seq 3000); do
    sleep 0.05
    [ -n "$(ls .orch/results.db.d/trials/*/journal 2>/dev/null)" ] && break
done
kill -INT $pid
sleep 0.3
kill -0 $pid || _fail 'the first SIGINT stopped a running trial'
kill -INT $pid
wait $pid
same $? 130 'the exit status'
err=$(cat err1)
says 'Ctrl-C again'
says 'goes on from here'
ok orch ls --json
same "$(json runs.#)" 1
same "$(json runs.0.state)" cancelled
ok orch show @last
has 'Ctrl-C was pressed twice'
# terminated (scancel): preempted
orch run long.recipe >out1 2>err1 &
pid=$!
for _ in $(seq 3000); do
    sleep 0.05
    [ -n "$(ls .orch/results.db.d/trials/*/journal 2>/dev/null)" ] && break
done
kill -TERM $pid
wait $pid
same $? 143 'the exit status'
ok orch ls --json
same "$(json runs.0.state)" preempted
# killed: the next command closes what is over, nothing is left running
orch run long.recipe >out1 2>err1 &
pid=$!
for _ in $(seq 3000); do
    sleep 0.05
    [ -n "$(ls .orch/results.db.d/trials/*/journal 2>/dev/null)" ] && break
done
ok orch ls --json
same "$(json runs.0.state)" running
kill -KILL $pid
wait $pid 2>/dev/null
ok orch run long.recipe -x seconds=0.01 -q
for _ in $(seq 100); do
    orch ls --json | grep -q '"running"\|"interrupted"' || break
    sleep 0.1
    orch run long.recipe -x seconds=0.01 -q
done
ok orch ls --json
has_not running
has_not interrupted
same "$(json runs.#)" 4
ok orch db check
