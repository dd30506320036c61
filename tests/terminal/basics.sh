# Every command has help with its usage, and a page in docs/commands that equals the help.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch --version
has 'orch 0.'
ok orch help
has 'Look at results:'
has_not 'db check'
ok orch help -a
has 'db check'
ok orch help run
has 'usage: orch run'
ok orch run --help
has '--force'
ok orch --help
has 'Look at results:'
fails 2 orch rnu
says "unknown command 'rnu'"
says "did you mean 'orch run'"
fails 2 orch run
says "usage: orch run"
fails 2 orch ls --sttae ok
says "unknown option '--sttae'"
says "did you mean '--state'"
fails 2 orch db
says "'orch db info'"
# a folder without a store has no runs; a store that is named must be there, and other commands need one
ok orch ls
same '' "$out"
says "hint: 'orch try -- COMMAND'"
ok orch ls --json
same '[]' "$(json runs)"
fails 3 orch ls --db none.db
says 'there is no store'
fails 3 orch show @last
says "hint: run a recipe first"
# a command that does not begin leaves no store behind
fails 2 orch try -- nosuchprogram
says "there is no program 'nosuchprogram'"
fails 2 orch try --require-clean -- true
ok orch try -n -- true
printf 'format: 1\nrecipe: n\nexperiments: { a: { program: nosuchprogram } }\n' >n.recipe
fails 2 orch run n.recipe
fails 2 orch run n.recipe --gpus 999
[ ! -e .orch ] || _fail 'a store was left'
rm n.recipe
fails 2 orch run no.recipe
says "no.recipe"
fails 3 orch -C /nowhere ls
says "cannot change to folder '/nowhere'"
# a page of the manual
ok orch help filters
has '# Filters'
has_not '](recipes.md)'
fails 2 orch help filtres
# every command has help, an example of its usage, and a page in docs/commands that is what help says
mkdir pages man
ok orch help --markdown pages --man man
for page in pages/*.md; do
    cmp -s "$page" "$SOURCE/docs/commands/$(basename "$page")" ||
        _fail "docs/commands/$(basename "$page") is not what 'orch help' says: orch help --markdown docs/commands"
done
same "$(ls pages | sort)" "$(ls "$SOURCE/docs/commands" | sort)" 'the lists of pages'
for shell in bash zsh fish; do
    ok orch completion $shell
    has 'plugin'
done
orch completion bash | bash -n || _fail 'the bash completion has a syntax error'
fails 2 orch completion tcsh
says 'bash, zsh or fish'
# a word that begins commands has help: what they are
for group in predictor gpu dataset measurements db net plugin; do
    ok orch $group --help
    has "usage: orch $group COMMAND"
    has "orch $group "
    page=$out
    ok orch $group -h
    same "$out" "$page"
    ok orch -C . $group --help
    same "$out" "$page"
    ok orch help $group
    same "$out" "$page"
done
ok orch predictor --help
has "orch predictor train   train predictors of run times on the store's runs and measurements"
has_not 'orch predict '
fails 2 orch predictor nonsense --help
says 'unknown command'
fails 2 orch nonsense --help
says 'unknown command'
# on a terminal the list of commands is wrapped to its width
python3 - <<'P' || _fail 'the list of commands is wider than the terminal'
import fcntl, os, pty, struct, subprocess, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
help = subprocess.Popen(["orch", "help"], stdout=slave)
os.close(slave)
text = b""
try:
    while chunk := os.read(master, 65536): text += chunk
except OSError: pass  # the end of a terminal
assert help.wait() == 0
lines = text.decode().splitlines()
assert len(lines) > 60 and any(line.startswith(" " * 22 + "reach a target") for line in lines), lines
assert not [line for line in lines if len(line) > 72 and line.startswith("  ")], lines
P
