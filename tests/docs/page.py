#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of a page of the manual:   page.py PAGE BUILD SOURCE   (PAGE as seen from SOURCE)

Each page has a scratch repository of its own, as a clone has it: recipes/first.recipe is there, the user
is Ada, and a remote and Bob's clone of it lie beside it. SETUP adds what a page needs further. README is typed in a
clone of SOURCE, where runs of homework 4 are in the store already, as README's first command leaves them.

- In a ```console block every line '$ COMMAND' must print the lines below it. '...' stands for any lines,
  also for none. A command below which a line begins with 'orch: ' (and no 'orch: warning') must fail.
- ```sh blocks are run for the pages of RUNS_SH; for all pages docs.commands checks how they are spelled.
- `orch ...` in tables is run for the pages of RUNS_TABLES, in the order of the page. TYPED says what is typed where
  the table has a pattern (A B, ...).
- A ```python or ```yaml block whose first line is '# NAME.py', '# NAME.recipe' or '# NAME.plugin' is written into that file.
- Runs of blanks may differ. Numbers must be the same for commands that compute and do not measure (EXACT).
  For all others whole numbers must be the same, but keys, decimals, and numbers with a unit of time, of
  bytes or with a per cent sign may differ.
- /tmp is a folder of the test's. './build.sh' has tests of its own.
"""
import os
import re
import subprocess
import sys
import tempfile

EXACT = re.compile(r"^orch (predict (?!--experiment)|paleo |net |gpu |predictor eval|plugin show|config|check|compare)")

# pages whose ```sh blocks are run, too
RUNS_SH = ["README.md", "docs/sharing.md", "docs/tutorial.md"]

# pages that are typed in a clone of SOURCE, and of which commands in tables are run, too
WHOLE = RUNS_TABLES = ["README.md"]

# (page, command of a table): what is typed for a pattern; or the status other than 0 with which the command ends
TYPED = {
    ("README.md", "orch try -n ..."): "orch try -n -x lr=0.1,0.01 --repeat 3 -- python3 train.py --lr {lr} --seed {seed}",
    ("README.md", "orch try --search 'max accuracy' ..."):
        "orch try --search 'max accuracy' --trials 3 -x 'lr=loguniform(1e-3, 0.1)' -- python3 train.py --lr {lr} --seed 1",
    ("README.md", "orch compare A B"): "orch compare 'lr=0.1' 'lr=0.01' -m accuracy",
    ("README.md", "orch bisect accuracy GOOD..BAD -- python3 train.py"):
        "git add train.py && git commit -qm good && git tag good && sed -i 's/0.5 + 3/0.4 + 3/' train.py && git commit -qam bad"
        " && orch bisect accuracy good..HEAD --max -- python3 train.py --lr 0.1 --seed {seed}",
    ("README.md", "orch serve"): "{ orch serve --port 0 >served & } && while [ ! -s served ]; do sleep 0.1; done; kill $!; head -1 served",
    ("README.md", "orch import --runs FOLDER"): "orch import --runs tests/data/runs/mlruns",
    ("README.md", "orch submit recipes/hw4.recipe --netid ab1234"): 8, # parts are open
}

# (page, beginning of a line): why it is not run here
NOT_RUN = {
    ("README.md", "orch run RECIPE --executor slurm"): "needs Slurm; docs.slurm runs it",
    ("README.md", "./build.sh"): "builds the program; build.sh has tests of its own",
    ("docs/sharing.md", "orch push /media"): "needs a USB stick",
    ("docs/sharing.md", "orch pull /media"): "needs a USB stick",
    ("docs/sharing.md", "orch run hw4.recipe"): "needs LibTorch and a shared folder",
    ("docs/sharing.md", "orch run recipes/hw4.recipe"): "needs LibTorch and a signing key",
    ("docs/sharing.md", "git config"): "sets up a signing key",
    ("docs/sharing.md", "orch rm"): "RUN stands for a key",
    ("docs/sharing.md", "orch show RUN"): "RUN stands for a key",
    ("docs/sharing.md", "orch export --bundle two.orch"): "names keys of other runs",
    ("docs/sharing.md", "orch export --bundle hw4.orch"): "needs LibTorch",
    ("docs/sharing.md", "orch db merge ../anna"): "needs another's store",
    ("docs/sharing.md", "orch db merge /media"): "needs a USB stick",
    ("docs/sharing.md", "orch doctor"): "measures the file system",
}

# further preparation of a page, run by bash in the scratch repository; its ../bin is on PATH, SOURCE is orch's tree
SETUP = {
    # In place of 'run recipes/hw4.recipe', which takes ten minutes: four real runs of its problem 1, with a smaller network
    # and fewer images. Their parameters and metrics have the names that README's own runs have, too (lr, val_accuracy).
    "README.md": """
orch run -q recipes/hw4.recipe feature -s pretrain.net=lenet5 -s pretrain.per_class=20 -s pretrain.epochs=1 \\
    -s pretrain.val_images=100 -s feature.net=lenet5 -s feature.per_class=10 -s feature.epochs=2 -s feature.val_images=20 \\
    -s feature.lr=0.1""",
    "docs/bisect.md": r"""
subjects='loader read-ahead tests logging shuffle names cache augment sizes comments checks docs'
export GIT_AUTHOR_DATE='2026-11-20 12:00 +0000' GIT_COMMITTER_DATE='2026-11-20 12:00 +0000'
i=0
for subject in $subjects; do
    i=$((i + 1))
    mean=10
    [ $i -lt 8 ] || mean=11.5
    printf 'import random, sys\n# %s\n' $subject >job.py
    [ $i != 6 ] || echo 'sys.exit("cannot import name cache")' >>job.py
    echo "random.seed(sys.argv[1] + '$subject')" >>job.py
    echo "print('epoch_s %.3f' % random.gauss($mean, 0.6))" >>job.py
    git add -A
    git commit -qm "job: $subject"
done""",
    "docs/compare.md": """
mkdir exp
cat >exp/bench.awk <<'P'
{ factor = $1; x = 7919 * part + 54321 * length($0) }
END {
    for (i = 0; i < 24; i++) { x = x * 16807 % 2147483647; if (i > 11) noise += x / 2147483647 }
    print "epoch_time", 11 * (1 + 0.01 * (noise - 6)) * factor
    print "accuracy", 0.5 + 0.01 * part
}
P
cat >exp/bench.plugin <<'Y'
plugin: bench
command: [awk, -v, "part=${part}", -f, bench.awk, slow.awk]
parameters:
  part: { type: int, default: 1 }
metrics:
  epoch_time: { better: min, unit: s }
  accuracy: { better: max }
Y
cat >bench.recipe <<'R'
format: 1
recipe: bench
experiments:
  bench: { plugin: exp/bench.plugin, sweep: { part: [1, 2, 3, 4, 5, 6, 7, 8] }, reuse: any }
R
echo 1.0 >exp/slow.awk; git add -A; git commit -qm first; orch run -q bench.recipe
git checkout -q -b feature; echo 1.10 >exp/slow.awk; git commit -qam slower; orch run -q bench.recipe""",
    "docs/predictors.md": r"""
cat >fit.plugin <<'Y'
plugin: fit
command: [sh, fit.sh, "${n}", "${batch}", "${method}"]
parameters:
  n: { type: int, default: 100 }
  batch: { type: int, default: 64 }
  method: { type: string, default: exact }
metrics:
  loss: { better: min }
Y
cat >fit.sh <<'S'
sleep $(awk "BEGIN { print 0.1 + $1 * $2 * 1e-5 * (\"$3\" == \"fast\" ? 0.5 : 1) }")
echo loss 0.5
S
cat >fits.recipe <<'R'
format: 1
recipe: fits
experiments:
  fit:
    plugin: ./fit.plugin
    sweep: { n: [100, 200, 400], batch: [64, 256], method: [exact, fast] }
R
""",
    "docs/python.md": """
cp -r "$(dirname "$(command -v orch)")/share/python/orch" .""",
    # a cluster that has run a job as soon as sbatch answers
    "docs/slurm.md": r"""
mkdir ../bin
SCRATCH=$(cd .. && pwd)
. SOURCE/tests/slurm/slurm.sh
for program in scontrol squeue sacct scancel; do
    printf '#!/bin/sh\nCLUSTER=%s exec %s/slurm-bin/%s "$@"\n' $CLUSTER $SCRATCH $program >../bin/$program
done
cat >../bin/sbatch <<S
#!/bin/bash
SCRATCH=$SCRATCH
. SOURCE/tests/slurm/slurm.sh
id=\$(slurm-bin/sbatch "\$@") || exit
play \$id
echo \$id
S
sed -i "s|slurm-bin/sbatch|$SCRATCH/&|" ../bin/sbatch
chmod +x ../bin/*""",
    "docs/where.md": "orch try -q -x lr=0.1,0.01 -- echo loss={lr}",
}


def blocks(text):
    """(language, lines) of each fenced block, and ("table", commands) of each row of a table."""
    for m in re.finditer(r"^```(\w+)\n(.*?)^```$|^\|([^\n]*)\|$", text, re.M | re.S):
        if m.group(1):
            yield m.group(1), m.group(2).splitlines()
        else:
            yield "table", re.findall(r"`(orch [^`]*)`", m.group(3))


def shape(line, exact):
    """What stays of a line: all but its blanks, or also without what is measured."""
    if not exact:
        line = re.sub(r"(?<![.\w])[0-9a-f]{8}\b", "KEY", line)
        line = re.sub(r"\d+ of \d+ within", "N of N within", line)
        line = re.sub(r"\d+\.\d+(e[-+]\d+)?", "N", line)
        line = re.sub(r"\b(\d+|N) (ns|us|ms|s|min|h|d|w|%|[KMGT]?i?B|bytes)(?!\w)", "N UNIT", line)
    line = re.sub(r"commit [0-9a-f]{8}", "commit KEY", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(wanted, got, exact):
    """Do the lines come in this order? '...' stands for any lines, also for none."""
    at = 0
    skipping = False
    for line in wanted:
        if line.strip() == "...":
            skipping = True
            continue
        while skipping and at < len(got) and shape(got[at], exact) != shape(line, exact):
            at += 1
        if at >= len(got) or shape(got[at], exact) != shape(line, exact):
            return "expected '%s', found '%s'" % (line, got[at] if at < len(got) else "the end")
        at += 1
        skipping = False
    return None if skipping or at == len(got) else "not shown: '%s'" % got[at]


class Shell:
    def __init__(self, build, folder):
        self.folder = folder
        self.env = dict(os.environ, PATH=folder + "/bin:" + build + ":" + os.environ["PATH"], HOME=folder + "/home",
                        XDG_DATA_HOME=folder + "/share", XDG_CONFIG_HOME=folder + "/config",
                        XDG_CACHE_HOME=folder + "/cache", ORCH_SLOTS=folder + "/slots", ORCH_PROC_STAT=folder + "/stat",
                        LC_ALL="C", NO_COLOR="1", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org",
                        GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org")
        with open(folder + "/stat", "w") as file: # other programs use no CPU, whatever runs here meanwhile
            file.write("".join("cpu%d 0 0 0 0\n" % i for i in range(os.cpu_count())))
        for name in ("ORCH_DB", "ORCH_PLUGIN_PATH", "ORCH_USER", "ORCH_HARDWARE"):
            self.env.pop(name, None)

    def type(self, command, may_fail=False, status=None):
        """Runs a command of the page, which means the test's folder when it says /tmp."""
        there = re.sub(r"(?<![\w./-])/tmp/", lambda _: self.folder + "/", command)
        return self.run(there, may_fail, status).replace(self.folder + "/", "/tmp/")

    def run(self, command, may_fail=False, status=None):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder + "/w", env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if bool(done.returncode) != may_fail if status is None else done.returncode != status:
            sys.exit("FAILED: %s\nit ended with %d%s\n%s" % (
                command, done.returncode, ", the page shows an error" if may_fail else "", done.stdout))
        return done.stdout


def transcript(lines):
    """(command, lines below it) of a console block."""
    out = []
    for line in lines:
        if line.startswith("$ "):
            out.append((line[2:], []))
        else:
            out[-1][1].append(line)
    return out


class Page:
    def __init__(self, page, shell):
        self.name = page
        self.shell = shell
        self.shown = self.run = 0
        self.left_out = set()

    def is_left_out(self, command):
        for page, beginning in NOT_RUN:
            if page == self.name and command.startswith(beginning):
                self.left_out.add((page, beginning))
                return True
        return False

    def console(self, lines):
        for command, wanted in transcript(lines):
            if self.is_left_out(command):
                continue
            wanted = [line for line in wanted if line]
            may_fail = any(re.match(r"orch: (?!warning)", line) for line in wanted)
            got = [line for line in self.shell.type(command, may_fail).splitlines() if line]
            problem = matches(wanted, got, bool(EXACT.match(command)))
            if problem:
                sys.exit("FAILED: $ %s\n%s\nall of it:\n%s" % (command, problem, "\n".join(got)))
            self.shown += 1

    def sh(self, lines):
        for line in lines if self.name in RUNS_SH else []:
            if line and not self.is_left_out(line):
                self.shell.type(line)
                self.run += 1

    def table(self, commands):
        for command in commands if self.name in RUNS_TABLES else []:
            if self.is_left_out(command):
                continue
            typed = TYPED.get((self.name, command), 0)
            if isinstance(typed, int):
                self.shell.type(command, status=typed)
            else:
                self.shell.type(typed)
            self.run += 1

    def recipe(self, lines):
        """A recipe that the page shows whole is the one that comes with orch. One with a name is written."""
        self.file(lines)
        name = re.match(r"recipe: (\w+)$", lines[1]) if len(lines) > 1 else None
        path = os.path.join(self.shell.folder, "w/recipes/%s.recipe" % name.group(1)) if name else ""
        if os.path.exists(path):
            with open(path) as file:
                if file.read().splitlines() != lines:
                    sys.exit("FAILED: '%s' is not what the page shows" % path)

    def file(self, lines):
        name = re.match(r"# (\w+\.(?:py|recipe|plugin))$", lines[0])
        if name:
            with open(os.path.join(self.shell.folder, "w", name.group(1)), "w") as file:
                file.write("\n".join(lines) + "\n")


def prepare(shell, source, page):
    for name in ("home", "w/recipes"):
        os.makedirs(os.path.join(shell.folder, name))
    if page in WHOLE: # its last commit, and what was edited since
        shell.run("rmdir recipes && git clone -q -s --bare '%s' ../hub.git && git clone -q -s ../hub.git . && git checkout -qB main" % source)
        shell.run("(cd '%s' && git diff HEAD --name-only -z --diff-filter=d | tar c --null -T -) | tar x" % source)
    else:
        shell.run("git init -q -b main . && cp '%s/recipes/first.recipe' recipes/" % source)
    shell.run("git config user.name 'Ada Lovelace' && git config user.email ada@example.org")
    shell.run("git add -A && git commit -q --allow-empty -m first")
    if page not in WHOLE:
        shell.run("git init -q --bare -b main ../hub.git && git remote add origin ../hub.git && git push -q origin main")
        shell.run("git clone -q ../hub.git ../bob && git -C ../bob config user.name Bob")
    shell.run(SETUP.get(page, "true").replace("SOURCE", source))


def main():
    page, build, source = sys.argv[1], *map(os.path.realpath, sys.argv[2:4])
    lacks = [what for what, path in (("LibTorch", build + "/plugins/common/orch-torch.so"), ("a clone", source + "/.git"))
             if page in WHOLE and not os.path.exists(path)]
    if lacks:
        print("skipped: this is no tree as README's first command makes it; it lacks " + " and ".join(lacks))
        sys.exit(77)
    with open(os.path.join(source, page)) as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(build, folder)
        prepare(shell, source, page)
        this = Page(page, shell)
        kinds = {"console": this.console, "sh": this.sh, "table": this.table, "python": this.file, "yaml": this.recipe}
        for language, lines in blocks(text):
            kinds.get(language, lambda lines: None)(lines)
        stale = [key for key in NOT_RUN if key[0] == page and key not in this.left_out]
        if stale:
            sys.exit("FAILED: NOT_RUN names what the page has not: %s" % stale)
        print("%d commands with their output, %d more: all as the page says" % (this.shown, this.run))


main()
