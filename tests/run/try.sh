# 'orch try' records a sweep of any command: parameters, metrics, reuse after edits, and refused input.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import sys
lr = float(sys.argv[sys.argv.index("--lr") + 1])
for step in range(3):
    print("loss", lr / (step + 1))
print("accuracy=%g" % (1 - lr))
open("model.txt", "w").write("weights %g" % lr)
P
git add -A
git commit -qm first
ok orch try -x lr=0.5,0.25 --artifact model=model.txt -- python3 train.py --lr '{lr}'
says '2 trials: 2 ok'
ok orch ls --json -m accuracy
same "$(json runs.#)" 2
ok orch best accuracy --max
has 'lr=0.25'
ok orch show @last -m loss
has '0.25'
ok orch show @last --json
same "$(json artifacts.#)" 2
# the same command again is done; an edited program is not; an edited README is
ok orch try -x lr=0.5,0.25 --artifact model=model.txt -- python3 train.py --lr '{lr}'
says 'nothing to run'
echo hi >README.md
ok orch try -x lr=0.5,0.25 --artifact model=model.txt -- python3 train.py --lr '{lr}'
says 'nothing to run'
echo 'edited=1' >>train.py
ok orch try -n -x lr=0.5 --artifact model=model.txt -- python3 train.py --lr '{lr}'
has stale
has 'train.py'
# the program ran as by hand: its output is in the user's folder
same "$(cat model.txt)" 'weights 0.25'
# checkout gives the source back
ok orch checkout @last there
[ "$(head -n 1 there/train.py)" = 'import sys' ] || _fail 'no source'
fails 2 orch try -x lr -- true
says 'PARAM=VALUE'
fails 2 orch try -x lr=1
says "after '--'"
fails 1 orch try -- sh -c 'echo oops >&2; exit 3'
says failed
ok orch log @last
has oops
# {seed} and {repeat} are the trial's own; so they are in a recipe's 'program'
ok orch try --name seeds -x n=1,2 --repeat 2 -- sh -c 'echo n {n}; echo again {repeat}; case {seed} in *[!0-9]*) exit 9;; esac'
says '4 ok'
ok orch ls --where 'experiment=seeds and again=2' --json
same "$(json runs.#)" 2
# every setting stands in the command, and every {name} in it has a value: nothing is recorded that was not used
fails 2 orch try -x lr=0.1,0.2 -- python3 train.py --lr 3
says "parameter 'lr' is not used in the command"
says 'hint: end the command with: -- python3 train.py --lr {lr}'
says '--env'
fails 2 orch try -s lr=0.1 -- sh -c 'echo loss 1'
says 'write {lr} where its value belongs'
fails 2 orch try -x lr=0.1 -- python3 train.py --lr '{LR}'
says "'{LR}' in '{LR}' has no value"
says "did you mean '{lr}'?"
fails 2 orch try -- echo '{momentum}'
says '-x momentum=A,B'
ok orch ls --where 'lr=3' --json
same "$(json runs.#)" 0
# other braces are text: JSON, a shell's variables, {{name}}
cat >words.py <<'P'
import json, sys
assert json.loads(sys.argv[1]) == {"a": {"b": 1}}, sys.argv
assert sys.argv[2:] == ["{}", "{lr}", "{ x }", "{{", "}}", "${HOME}", "2", "$$", "{a,b}", "{1}", "{"], sys.argv
print("loss", 1)
P
ok orch try -s lr=2 -- python3 words.py '{"a":{"b":1}}' '{}' '{{lr}}' '{ x }' '{{' '}}' '${HOME}' '${lr}' '$$' '{a,b}' '{1}' '{'
# a program may read them from the environment: said by --env, or seen in the command or the program
ok orch try --name told -x lr=0.5,0.25 --env -- sh -c 'printenv | sed -n "s/^ORCH_PARAM_lr=/value /p"'
says '2 ok'
ok orch best value --max -e told
has '0.5'
ok orch try --name shell -x lr=0.5 -- sh -c 'echo value $ORCH_PARAM_lr'
ok orch best value --max -e shell
has '0.5'
printf 'import orch\ntrial = orch.start(lr=1.0)\nprint("value", trial.lr)\n' >helped.py
ok orch try -x lr=0.125 -- python3 helped.py
ok orch best value --max -e helped
has '0.125'
# another command is another trial, though its program has the same name; the place of the work tree does not matter
ok orch try -- sh -c 'echo a 1'
ok orch try -- sh -c 'echo a 2'
says '1 ok'
ok orch try -n -- sh -c 'echo a 3'
has 'never run'
has_not stale
ok orch try -- sh -c 'echo a 2'
says 'nothing to run'
printf 'format: 1\nrecipe: moved\nexperiments:\n  p: { plugin: sleep, program: ["sh", "${recipe.dir}/p.sh"], with: { seconds: 0.01 } }\n' >moved.recipe
echo 'echo "{\"event\":\"done\",\"status\":\"ok\"}" >&$ORCH_EVENTS' >p.sh
ok orch run moved.recipe
cp -r "$PWD" ../elsewhere
ok orch -C ../elsewhere plan moved.recipe --json
same "$(json left)" 0
# a limit of time as everywhere; a command without '--'
ok orch try --timeout 5min -- sh -c 'echo loss 1'
fails 2 orch try --timeout 2x -- true
says "'2x' is not a duration above 0"
fails 2 orch try -x lr=1 python3 train.py --lr 3
says "put '--' before the command"
fails 2 orch try --timout 3 -- true
says "did you mean '--timeout'"
# a sweep whose values arrive nowhere but in the name of an output is all the same program
ok orch try -n -x lr=0.1,0.2 -- python3 train.py --lr 3 -o 'out/{lr}'
says "setting 'lr' is only part of an output's name ('out/{lr}')"
says 'hint: the program has an option for it: --lr {lr}'
ok orch try -n -x lr=0.1,0.2 -- python3 train.py --lr '{lr}' -o 'out/{lr}'
says_not "part of an output's name"
ok orch try -n -x k=1,2 -- sh -c 'echo loss 1' --save=out/'{k}'
says 'write {k} where the program reads it as well'
# the command of a run is shown, and the words in which two commands differ
ok orch try --name said -x n=1 -- sh -c 'echo "loss $1"' x '{n}'
first=$(orch ls --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["runs"][0]["key"])')
ok orch show "$first"
has "command        sh -c 'echo \"loss \$1\"' x '{n}'"
ok orch try --name said -x n=1 -- sh -c 'echo "loss $1"' x '{n}' --dry-run
ok orch diff "$first" @last
has command
has --dry-run
has_not 'echo "loss'
