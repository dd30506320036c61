# Under a limit of the size of files (ulimit -f) orch and orch-host live on: what they cannot write is an error like that of a
# full disk. A program has the signal's default, as by hand.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'format: 1\nrecipe: r\nexperiments:\n  a: { plugin: sleep, with: { seconds: 0 } }\n' >r.recipe
limited() ( # limited KIB COMMAND...
    ulimit -f "$1"
    shift
    "$@"
)
fails 3 limited 20 orch run r.recipe
says 'orch: '
# room for the store, and not for all that the program prints
fails 1 limited 1000 orch try -- sh -c 'echo acc 1; yes a line | head -c 4000000; head -c 2000000 /dev/zero >big'
says 'File size limit exceeded'
ok orch log @last
has 'acc 1'
