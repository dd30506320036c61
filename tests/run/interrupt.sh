# After the first Ctrl-C no further trial starts and running trials finish; the second Ctrl-C stops them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps long '600, 601'
# once: nothing more is started, what runs may finish; twice: it is stopped
orch run long.recipe >out1 2>err1 &
pid=$!
until_true begun
kill -INT $pid
until_true grep -q 'Ctrl-C again' err1
kill -0 $pid || _fail 'the first SIGINT stopped a running trial'
kill -INT $pid
wait $pid
same $? 130 'the exit status'
err=$(cat err1)
says 'goes on from here'
ok orch ls --json
same "$(json runs.#)" 1
same "$(json runs.0.state)" cancelled
ok orch show @last
has 'Ctrl-C was pressed twice'
# terminated (scancel): preempted
orch run long.recipe >out1 2>err1 &
pid=$!
until_true begun
kill -TERM $pid
wait $pid
same $? 143 'the exit status'
ok orch ls --json
same "$(json runs.0.state)" preempted
# killed: the next command closes what is over, nothing is left running
orch run long.recipe >out1 2>err1 &
pid=$!
until_true begun
ok orch ls --json
same "$(json runs.0.state)" running
kill -KILL $pid
wait $pid 2>/dev/null
closed() {
    ok orch run long.recipe -x seconds=0.01 -q
    ! orch ls --json | grep -q '"running"\|"interrupted"'
}
until_true closed
ok orch ls --json
has_not running
has_not interrupted
same "$(json runs.#)" 4
ok orch db check
