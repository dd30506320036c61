# The reason of a failed trial is the line that tells why, not that of 'make', which passes the failure on; two trials of one
# 'make' that fail for other reasons both show theirs. A program without its GPU is told how such trials are left out, and a
# whole line in quotes what to write.
. "$(dirname "$0")/lib.sh"
printf 'run:\n\t@sh job.sh $(N)\n' >Makefile
cat >job.sh <<'P'
echo "CUDA error add.cu:5: $([ "$1" = 1 ] && echo 'no CUDA-capable device is detected' || echo "out of memory of $1")" >&2
exit 3
P
echo .orch >.gitignore
git add -A
git commit -qm one
fails 1 orch try -x n=1,2,3 -- make run N={n}
for line in 'no CUDA-capable device is detected' 'out of memory of 2' 'out of memory of 3'; do
    same "$(grep -c "failed  make n=.* exit status 2: CUDA error add.cu:5: $line" <<<"$err")" 2 "reasons: $line"
    says "    | CUDA error add.cu:5: $line"
done
says_not 'its stderr ends as the one above'
same "$(grep -c "hint: 'orch try --resources gpus=1'" <<<"$err")" 1 'the hint'
ok orch show "$(orch ls --json --where 'n = 2' | "$BUILD/json_get" runs.0.key)"
has 'exit status 2: CUDA error add.cu:5: out of memory of 2'
# the same reason is not repeated
fails 1 orch try --force -x n=2 --repeat 2 -- make run N={n}
says 'its stderr ends as the one above'
says_not 'resources gpus=1'
# 'make' itself has no rule: there is no other line
fails 1 orch try -- make nothing
says "exit status 2: make: *** No rule to make target 'nothing'"
# a line in quotes
fails 2 orch try -- 'seq 1 5 | wc -l'
says "hint: a line for a shell needs one: bash -o pipefail -c 'seq 1 5 | wc -l'"
fails 2 orch try -x n=1 -- 'sh job.sh {n}'
says 'hint: write its words without the quotes: -- sh job.sh'
fails 2 orch try -- './job.sh 3'
says 'hint: write its words without the quotes: -- ./job.sh 3'
