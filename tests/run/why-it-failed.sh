# The reason of a failed trial is the line that tells why, not that of 'make', which passes the failure on; two trials of one
# 'make' that fail for other reasons both show theirs. A program without its GPU is told how such trials are left out, and a
# whole line in quotes what to write.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
command -v make >/dev/null || skip 'no make'
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
same "$(grep -c "hint: 'resources: { gpus: 1 }' (orch try: --resources gpus=1)" <<<"$err")" 1 'the hint'
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
says "hint: pipes and redirections need a shell: bash -o pipefail -c 'seq 1 5 | wc -l'"
fails 2 orch try -- "seq 1 5 | sed 's/1/a b/'"
quoted=${err##*pipefail -c }
same "$(eval "set -- $quoted" && echo "$1")" "seq 1 5 | sed 's/1/a b/'" 'a line with quotes'
fails 2 orch try -- 'no-such-program 1 | wc -l'
says_not 'need a shell'
fails 2 orch try -x n=1 -- 'sh job.sh {n}'
says 'hint: write its words without the quotes: -- sh job.sh'
fails 2 orch try -- './job.sh 3'
says 'hint: write its words without the quotes: -- ./job.sh 3'
printf 'plugin: p\ncommand: ["seq 1 5"]\n' >p.plugin
printf 'format: 1\nrecipe: r\nexperiments:\n  e: { plugin: ./p.plugin }\n' >r.recipe
fails 2 orch run r.recipe
says "hint: write each of its words as an element of the list 'command'"
says_not 'without the quotes'
# programs whose names hold a blank
for program in run 'run all.sh' 'my tool'; do
    printf '#!/bin/sh\necho x 1\n' >"$program"
    chmod +x "$program"
done
mv 'my tool' "$SCRATCH/bin"
ok orch try -- './run all.sh'
ok orch try -x n=1 -- './run all.sh' '{n}'
ln -s "$(command -v seq)" "$SCRATCH/bin/my"
ok orch try -- 'my tool'
# a warning about the GPU is not the reason
cat >w.sh <<'P'
echo 'UserWarning: Found no NVIDIA driver on your system' >&2
echo "KeyError: 'a'" >&2
exit 1
P
fails 1 orch try -- sh w.sh
says "KeyError: 'a'"
says_not 'resources gpus=1'
# what 'srun' says itself is the reason, unless it only names an exit status
for last in 'srun: error: node01: task 0: Exited with exit code 1' 'srun: error: Terminating StepId=7.0' "Try 'seq --help' for more information."; do
    printf 'echo "it broke" >&2\necho "%s" >&2\nexit 1\n' "$last" >s.sh
    fails 1 orch try --force -- sh s.sh
    says 'exit status 1: it broke'
done
for last in 'srun: error: node01: task 0: Out Of Memory' "Try 'lr' below 1"; do
    printf 'echo "it broke" >&2\necho "%s" >&2\nexit 1\n' "$last" >s.sh
    fails 1 orch try --force -- sh s.sh
    says "exit status 1: $last"
done
