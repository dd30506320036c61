# A program that the first trial builds, and the others only run, is an output of the experiment: nothing is said of a
# file that somebody else wrote, no input has an old digest, and all trials are reused.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
cat >run.sh <<'P'
if [ ! -e ./prog ] || [ prog.in -nt ./prog ]; then
    cp prog.in prog
    sleep 0.1 # a file that is younger may have been written while the next trial ran
fi
sh ./prog "$1"
P
echo 'echo x $1' >prog.in
echo prog >.gitignore
git add .
git commit -qm one
sh run.sh 1 >/dev/null # built by hand before
rebuild() {
    sleep 0.05
    echo "echo x $1\$1" >prog.in
    touch -d '1 hour ago' prog
}
rebuild 1
ok orch try -x n=1,2,3 -- sh run.sh '{n}'
says_not 'not by it'
says_not 'not reused'
says '3 ok'
ok orch try -x n=1,2,3 -- sh run.sh '{n}'
says 'nothing to run'
new=$(sha256sum <prog)
for run in $(orch ls --format tsv | cut -f1 | tail -n +2); do
    ok orch show "$run" --json
    stored=$(of_json '"".join(i["sha256"] for i in it["inputs"] if i["name"] == "prog")')
    [ -z "$stored" ] || same "$stored" "${new%% *}" 'the digest of the program that ran'
done
# and once more, after another edit
rebuild 2
ok orch try -x n=1,2,3 -- sh run.sh '{n}'
says 'x 23'
says_not 'not reused'
ok orch try -x n=1,2,3 -- sh run.sh '{n}'
says 'nothing to run'
