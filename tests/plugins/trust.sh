# A compiled plugin from elsewhere is loaded only when the user trusts its digest. No command that only reads a recipe
# loads it.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir src
cat >src/job.c <<'C'
#include <orch/plugin.h>
#include <fcntl.h>
__attribute__((constructor)) static void mark(void) { open(MARK, O_CREAT | O_WRONLY, 0600); }
struct params { int64_t n; };
static const struct orch_param PARAMS[] = {ORCH_PARAM(struct params, n, ORCH_INT, .def = "1", .help = "a number")};
static const struct orch_metric METRICS[] = {{.name = "twice", .help = "2 n"}};
static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    host->result(host, "twice", 2.0 * (double)((const struct params *)params)->n);
    return ORCH_OK;
}
static const struct orch_plugin PLUGIN = {ORCH_PLUGIN_HEAD, .name = NAME, .version = VERSION, .summary = "doubles",
    .licence = "MIT", .params_bytes = sizeof(struct params), ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS), .run = run};
ORCH_PLUGIN_EXPORT(PLUGIN)
C
MARK=$SCRATCH/mark
build() { cc -std=c11 -shared -fPIC -I"$SOURCE/include" -DNAME="\"$1\"" -DVERSION="\"$2\"" -DMARK="\"$MARK\"" -o "$1.so" src/job.c || _fail 'cc'; }
ran() {
    [ -e "$MARK" ] || _fail "$1: the plugin did not run"
    rm "$MARK"
}
kept_off() { [ ! -e "$MARK" ] || _fail "$1 ran the plugin"; }
build job 1.0.0
cat >r.recipe <<'R'
format: 1
recipe: r
with: { n: 3 }
experiments:
  mine: { plugin: job }
  next: { plugin: 'null', with: { metrics: 1 } }
report:
  - { title: Twice, table: { rows: experiment, value: last twice } }
R
# not trusted: named with the command that trusts it, not loaded, and the rest goes on
ok orch plan r.recipe
kept_off plan
has next
says "$PWD/job.so' is not trusted"
says "orch plugin trust '$PWD/job.so'"
ok orch plan r.recipe --json
same "$(json trials.#)" 1
case $(json left_out.mine) in *'not trusted'*) ;; *) _fail left_out ;; esac
fails 4 orch check r.recipe
kept_off check
says 'r.recipe:5:19'
says 'is not trusted'
has '1 experiment not checked'
fails 4 orch check r.recipe --json
same "$(json unchecked.0)" mine
for command in config report coverage cost; do
    _run orch $command r.recipe
    [ "$status" = 0 ] || _fail "$command ends with $status"
    kept_off "$command"
done
ok orch plugin ls
kept_off 'plugin ls'
has untrusted
has 'orch plugin trust'
has sleep
ok orch doctor
kept_off doctor
has "$PWD/job.so"
has 'orch plugin trust'
fails 4 orch plugin show ./job.so
kept_off 'plugin show'
says 'is not trusted'
fails 4 orch plugin check ./job.so
kept_off 'plugin check'
fails 4 orch run r.recipe
kept_off run
says "hint: if you know where it comes from: orch plugin trust '$PWD/job.so'"
[ ! -e .orch ] || _fail 'a run that cannot start left a store behind'
# trusting reads the file and nothing more
ok orch plugin trust ./job.so
kept_off 'plugin trust'
has "$PWD/job.so"
has "$(sha256sum job.so | cut -d' ' -f1)"
same "$(stat -c %a "$XDG_STATE_HOME/orch/trusted-plugins.json")" 600 'the mode of the list'
ok orch run r.recipe
says '2 ok'
ran run
# its description is kept with its digest: what only reads does not load it
for command in config report coverage; do
    ok orch $command r.recipe
    kept_off "$command of a trusted plugin"
done
ok orch plugin ls
kept_off 'plugin ls'
has doubles
has_not untrusted
ok orch plugin trust --list --json
same "$(json plugins.#)" 1
same "$(json plugins.0.file)" "$PWD/job.so"
same "$(json plugins.0.state)" 'as trusted'
# other bytes are another plugin; --trust takes them, on a terminal a question does
build job 1.0.1
fails 4 orch run r.recipe
kept_off 'run of changed bytes'
says 'the file has changed since'
ok orch plugin trust --list
has changed
ok orch run r.recipe --trust
says '1 ok'
says "trusted '$PWD/job.so'"
ran 'run --trust'
cat >ask.py <<'P'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
text = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
    if b"[y/N]" in text and sys.argv[1]:
        os.write(fd, sys.argv[1].encode() + b"\n"); sys.argv[1] = ""
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
build job 1.0.2
fails 4 python3 ask.py n orch run r.recipe
has '[y/N]'
has 'is not trusted'
kept_off 'run after a no'
ok python3 ask.py y orch run r.recipe
has '1 ok'
ran 'run after a yes'
ok orch plugin check ./job.so
ran 'plugin check'
# what the host loads is what was digested
fails 1 orch-host --batch "$PWD/job.so" "$(printf '%064d' 0)"
kept_off 'the host'
has 'changed since it was checked'
# the list is edited by file or by digest
ok orch plugin trust --remove "$PWD/job.so"
ok orch plugin trust --list --json
same "$(json plugins.#)" 0
fails 4 orch plugin show ./job.so
kept_off 'plugin show'
fails 2 orch plugin trust --remove nothing
fails 3 orch plugin trust ./nothing.so
fails 2 orch plugin trust src/job.c
ok orch plugin trust job
chmod 666 "$XDG_STATE_HOME/orch/trusted-plugins.json"
fails 4 orch plugin show ./job.so
kept_off 'a list that anyone may write'
fails 3 orch plugin trust --list
says chmod
chmod 600 "$XDG_STATE_HOME/orch/trusted-plugins.json"
ok orch plugin trust --remove ./job.so
# an experiment that needs an untrusted one is left out with it
cat >refs.recipe <<'R'
format: 1
recipe: refs
experiments:
  mine: { plugin: ./far.so }
  user: { plugin: pyexample, with: { lr: "${mine.twice}" } }
  next: { plugin: 'null' }
R
build far 1.0.0
ok orch plan refs.recipe
kept_off plan
has next
has_not user
says "user: left out: needs 'mine', whose plugin is not trusted"
# a name that comes with orch means orch's plugin; a file of that name is an error that names both
build null 1.0.0
fails 4 orch plan r.recipe
kept_off 'plan with a file of the same name'
says "'$PWD/null.so'"
says "plugins/null.so'"
says 'plugin: ./null.so'
ok orch plugin ls
kept_off 'plugin ls'
has "(hidden by "
rm null.so
printf 'plugin: sleep\nversion: 1.0.0\nabout: no sleep\ncommand: [touch, "%s"]\n' "$MARK" >sleep.plugin
sleeps naps 0.01
fails 4 orch plan naps.recipe
says "'$PWD/sleep.plugin'"
says 'plugin: ./sleep.plugin'
# a command is not run by listing, showing or planning
mv sleep.plugin touch.plugin
sed -i 's/sleep/touch/' touch.plugin
sed 's/sleep/touch/; /sweep/d' naps.recipe >touch.recipe
ok orch plugin ls
ok orch plugin show touch
ok orch check touch.recipe
ok orch plan touch.recipe
kept_off 'a listing'
