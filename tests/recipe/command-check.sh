# A command that cannot start is refused once, before the first trial. Commands are run from the user's current folder.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf 'print("loss", 1)\n' >train.py
printf '#!/usr/bin/env python3\r\nprint(1)\r\n' >ends.py
printf '#!/nosuch/python\n' >gone_interpreter
printf 'echo loss 1\r\n' >ends.sh
chmod +x ends.py gone_interpreter
mkdir -p sub 'my dir'
printf 'import helper\nprint("loss", 2)\n' >sub/s.py
echo >sub/helper.py
cp train.py 'my dir/a b.py'
echo 'ignored.py' >.gitignore
cp train.py ignored.py
cp train.py ../outside.py
git add -A
git commit -qm first
refuses() {
    local text=$1 hint=$2
    shift 2
    fails 2 orch try -x n=1,2,3 --env -- "$@"
    says "$text"
    says "hint: $hint"
    same "$(grep -c ^orch: <<<"$err")" 1 'errors'
    fails 2 orch try -n -- "$@"
    says "$text"
}
refuses "script 'trian.py' does not exist" "did you mean 'train.py'?" python3 trian.py
refuses "script 'sub/unknown.py' does not exist" "paths of a command begin at '" python3 sub/unknown.py
refuses "program './absent' does not exist" "paths of a command begin" ./absent
refuses "there is no program 'nosuchprogram' on the PATH" "check its spelling" nosuchprogram
refuses "there is no program 'train.py' on the PATH" "for the file of this folder write './train.py'" train.py
refuses "cannot start './train.py': it is not executable" "put the interpreter before it: python3 ./train.py" ./train.py
refuses "cannot start './sub': it is a folder" "name a program in that folder" ./sub
refuses "the first line of './gone_interpreter' names the interpreter '/nosuch/python'" "correct the script's first line" ./gone_interpreter
refuses "'./ends.py' has Windows line endings" "sed -i 's/\\r\$//' ./ends.py" ./ends.py
refuses "'ends.sh' has Windows line endings" "sed -i" sh ends.sh
fails 2 orch try -- ''
says "no command: write it after '--'"
ok orch ls --json
same "$(json runs.#)" 0 'no trial was started'
# what is no script of the command is no fault of it: a result's name, a text behind -c, an unknown runner's words
ok orch try -- python3 -c 'import sys; print("loss", 1)' out.py
ok orch try -- sh -c 'echo loss 1' gone.sh
ok orch try -- env true gone.py
ok orch try -- python3 train.py --out result.py
ok orch try -- python3 'my dir/a b.py'
has_not fault
says '1 ok'
cd sub
ok orch try -- python3 s.py
says 'loss 2'
ok orch try -- python3 ../train.py
says 'loss 1'
fails 2 orch try -- python3 train.py
cd ..
# a script that git ignores, or of elsewhere, is no part of the source tree; an edit of it is seen all the same
ok orch try -- python3 ../outside.py
says '1 ok'
for script in ignored.py $SCRATCH/outside.py; do
    ok orch try -- python3 $script
    ok orch try -- python3 $script
    says 'nothing to run'
    echo 'edited = 1' >>$script
    ok orch try -- python3 $script
    says '1 ok'
    says "$script changed"
done
# a recipe's own command likewise
printf 'format: 1\nrecipe: r\nexperiments:\n  e: { plugin: sleep, with: { seconds: 0 }, program: [python3, gone.py] }\n' >r.recipe
fails 2 orch run r.recipe
says "script 'gone.py' does not exist"
fails 2 orch plan r.recipe
says "script 'gone.py' does not exist"
# a plugin of another folder starts there
mkdir ../elsewhere
printf 'plugin: far\nversion: 1.0.0\nabout: x\nmetrics_from: lines\nmetrics: any\ncommand: [python3, train.py]\n' >../elsewhere/far.plugin
cp train.py ../elsewhere
printf 'format: 1\nrecipe: f\nexperiments:\n  e: { plugin: ../elsewhere/far.plugin }\n' >f.recipe
ok orch run f.recipe
says '1 ok'
