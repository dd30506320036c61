#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Students share their results and nothing goes wrong.

Each round every student does something at random: runs trials, commits and rebases, pushes, pulls, is
killed in the middle of any of it. Two have wrong clocks. One is hostile: forges other people's runs with
fitting digests, removes their runs from what is shared, puts rubbish, links and huge files there, and
hands out damaged and loaded databases. At the end all honest stores have the same digest, every run that
ended in an honest store is in all of them as it was recorded, `db check` passes everywhere, and branches,
index and work trees are as their owners left them.

usage: students.py BUILD git|folder|bundles [STUDENTS] [CLONES] [ROUNDS] [SEED]
"""
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "store"))
import digest_v1  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
WAY = sys.argv[2]
STUDENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
CLONES = int(sys.argv[4]) if len(sys.argv) > 4 else STUDENTS
ROUNDS = int(sys.argv[5]) if len(sys.argv) > 5 else 20
SEED = int(sys.argv[6]) if len(sys.argv) > 6 else 1
ORCH = os.path.join(BUILD, "orch")
SKEWS = {1: 3 * 3600, 2: -26 * 3600}  # student -> seconds
MALLORY = "mallory"

RECIPE = """format: 1
recipe: study
experiments:
  points: { plugin: 'null', sweep: { metrics: [1, 2] } }
"""
rng = random.Random(SEED)
scratch = tempfile.mkdtemp(prefix="orch-students-")
hub = os.path.join(scratch, "hub.git" if WAY == "git" else "hub")
mail = os.path.join(scratch, "mail")
tally = {}


def fail(why, *details):
    print("FAILED:", why, *details, sep="\n  ")
    print("  left in", scratch)
    sys.exit(1)


def environment(student):
    env = dict(os.environ, ORCH_USER=student["name"], HOME=student["home"], LC_ALL="C", NO_COLOR="1",
               GIT_CONFIG_NOSYSTEM="1", GIT_TERMINAL_PROMPT="0", GIT_AUTHOR_NAME=student["name"],
               GIT_AUTHOR_EMAIL=student["name"] + "@example.org", GIT_COMMITTER_NAME=student["name"],
               GIT_COMMITTER_EMAIL=student["name"] + "@example.org")
    for name in ("ORCH_DB", "ORCH_PLUGIN_PATH", "ORCH_SHARDS"):
        env.pop(name, None)
    if student["skew"]:
        env.update(LD_PRELOAD=os.path.join(BUILD, "libskew.so"), SKEW_S=str(student["skew"]))
    return env


def start(student, *argv):
    return subprocess.Popen(argv, cwd=student["clone"], env=environment(student), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


def do(student, *argv, allowed=(0,)):
    process = start(student, *argv)
    out, err = process.communicate(timeout=300)
    if process.returncode not in allowed:
        fail(f"{student['name']}: {' '.join(argv)}: status {process.returncode}", out[-2000:], err[-2000:])
    return out


def git(student, *argv, allowed=(0,)):
    return do(student, "git", *argv, allowed=allowed)


def count(what):
    tally[what] = tally.get(what, 0) + 1


# ---- the exchange, by each way ------------------------------------------------------------------

def push_command(student):
    if WAY == "bundles":
        student["sent"] += 1
        name = f"{student['name']}-{student['sent']}.orch"
        return [ORCH, "export", "--bundle", os.path.join(mail, name)]
    return [ORCH, "push"] + ([hub] if WAY == "folder" else [])


def pull_command(student):
    if WAY == "bundles":
        names = sorted(n for n in os.listdir(mail) if n.endswith(".orch"))
        rng.shuffle(names)
        return [ORCH, "db", "merge"] + [os.path.join(mail, n) for n in names] if names else ["true"]
    return [ORCH, "pull"] + ([hub] if WAY == "folder" else [])


def has_store(student):
    """A file that is empty was being made when its maker was killed: there is no store yet."""
    path = os.path.join(student["clone"], ".orch/results.db")
    return os.path.exists(path) and os.path.getsize(path) > 0


def push(student):
    if has_store(student):
        do(student, *push_command(student), allowed=(0, 7))
        count("push")


def pull(student):
    # 3: one of the files was no store at all; the others are joined
    do(student, *pull_command(student), allowed=(0, 3, 7) if WAY == "bundles" else (0, 7))
    count("pull")


# ---- what students do ---------------------------------------------------------------------------

def note_runs(student):
    """What has ended here by now is not to be lost or changed by anybody."""
    if not has_store(student):
        return
    db = sqlite3.connect(os.path.join(student["clone"], ".orch/results.db"), timeout=60)
    try:
        rows = db.execute("SELECT key, digest FROM run WHERE digest <> '' AND who <> ?", (MALLORY,)).fetchall()
    except sqlite3.OperationalError as problem:  # killed while it made the store
        if "no such table" not in str(problem):
            raise
        rows = []
    db.close()
    for key, digest in rows:
        if key in forged:
            continue
        if ended.setdefault(key, digest) != digest:
            fail(f"run {key} has another digest in the store of {student['name']}")


def run_some(student):
    chosen = ",".join(str(n) for n in rng.sample(range(1, 401), rng.randint(1, 3)))
    # a trial that a classmate runs at the same moment in the same clone is held: nothing to mind
    do(student, ORCH, "run", "study.recipe", "-q", "--yes", "-x", "metrics=" + chosen, allowed=(0, 1))
    count("run")
    note_runs(student)


# docs/store.md, "Removed runs"
HIDDEN = """SELECT DISTINCT r.key FROM run r JOIN note n ON n.target = r.key AND n.kind = 'tombstone'
  AND (n.public = 0 OR n.who IS r.who) AND NOT EXISTS (SELECT 1 FROM note u WHERE u.kind = 'restored'
    AND u.target = r.key AND u.public = n.public AND (u.public = 0 OR u.who IS r.who)
    AND (u.made, u.key) > (n.made, n.key))"""


def remove_or_restore(student):
    """Of one's own runs: what is removed comes back, what is not is removed."""
    if not has_store(student):
        return
    db = sqlite3.connect(os.path.join(student["clone"], ".orch/results.db"), timeout=60)
    try:
        own = db.execute("SELECT key FROM run WHERE who = ? ORDER BY key", (student["name"],)).fetchall()
        hidden = {key for key, in db.execute(HIDDEN)}
    except sqlite3.OperationalError as problem:
        if "no such table" not in str(problem):
            raise
        own = []
    db.close()
    if own:
        removed = [row for row in own if row[0] in hidden]
        key = rng.choice(removed if removed and rng.random() < 0.5 else own)[0]
        do(student, ORCH, "rm", *(["--undo"] if key in hidden else []), key)
        count("restored" if key in hidden else "removed")


def commit_and_rebase(student):
    path = os.path.join(student["clone"], student["name"] + ".txt")
    with open(path, "a") as f:
        f.write(f"{rng.random()}\n")
    git(student, "add", student["name"] + ".txt")
    git(student, "commit", "-q", "-m", "notes")
    if WAY == "git":
        if git(student, "ls-remote", "origin", "refs/heads/main"):
            git(student, "pull", "-q", "--rebase", "origin", "main")
        git(student, "push", "-q", "origin", "HEAD:main", allowed=(0, 1))
    count("rebase")


def killed_in_the_middle(student):
    commands = [[ORCH, "run", "study.recipe", "-q", "--yes", "-x", f"metrics={rng.randint(1, 400)}"],
                pull_command(student)]
    if has_store(student):
        commands.append(push_command(student))
    process = start(student, *rng.choice(commands))
    time.sleep(rng.random() * 0.25)
    try:
        os.killpg(process.pid, signal.SIGKILL)
        count("kill")
    except ProcessLookupError:
        pass
    process.communicate()
    note_runs(student)


def dirty(student):
    with open(os.path.join(student["clone"], "scribble.txt"), "a") as f:
        f.write("not committed\n")
    count("edit")


def untouched(student, action):
    """Does it, and looks whether branch, index and work tree are as before."""
    def state():
        return [git(student, "status", "--porcelain"), git(student, "rev-parse", "--verify", "HEAD"),
                git(student, "for-each-ref", "refs/heads", "refs/tags"), git(student, "stash", "list"),
                git(student, "ls-files", "-s")]
    before = state()
    action(student)
    after = state()
    if before != after:
        fail(f"{student['name']}: {action.__name__} changed the repository", before, after)


# ---- the hostile member -------------------------------------------------------------------------

def forge_runs(mallory):
    """Changes a number of somebody's run in her own store, and makes the digest fit."""
    path = os.path.join(mallory["clone"], ".orch/results.db")
    if not os.path.exists(path):
        return
    db = sqlite3.connect(path, timeout=60)
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    others = db.execute("SELECT id, key FROM run WHERE who <> ? ORDER BY random() LIMIT 3", (MALLORY,)).fetchall()
    for number, key in others:
        db.execute("UPDATE run SET wall_ms = wall_ms + 1 WHERE id = ?", (number,))
        computed = digest_v1.digest(db, number)
        db.execute("UPDATE run SET digest = ? WHERE id = ?", (computed, number))
        forged.add(key)
        count("forged run")
    # one whose digest does not fit at all
    db.execute("UPDATE run SET wall_ms = -5 WHERE id = (SELECT max(id) FROM run WHERE who = ?)", (MALLORY,))
    # and everybody's runs are removed, in their owners' names or not
    for key, who in db.execute("SELECT key, who FROM run ORDER BY random() LIMIT 5").fetchall():
        db.execute("INSERT INTO note(key, target, kind, public, text, who, made) VALUES(?, ?, 'tombstone', 1,"
                   " 'gone', ?, 1)", (f"{rng.getrandbits(32):08x}-0000-7000-8000-{rng.getrandbits(48):012x}", key, MALLORY))
        count("foreign tombstone")
    db.commit()
    db.close()


def blob(mallory, data):
    process = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=mallory["clone"], input=data,
                             env=environment(mallory), capture_output=True, check=True)
    return process.stdout.decode().strip()


def vandalise_git(mallory):
    """A commit on the shared results: runs gone, runs swapped, names that climb out, links, a big file."""
    git(mallory, "fetch", "-q", "origin", "+refs/orch/results:refs/mallory", allowed=(0, 128))
    tip = git(mallory, "rev-parse", "-q", "--verify", "refs/mallory", allowed=(0, 1, 128)).strip()
    if not tip:
        return
    entries = git(mallory, "ls-tree", "-r", tip).splitlines()
    kept = [e for e in entries if rng.random() < 0.7]
    runs = [i for i, e in enumerate(kept) if "\truns/" in e]
    if len(runs) > 1:  # one run's text in another's place
        a, b = rng.sample(runs, 2)
        kept[a] = kept[b].split("\t")[0] + "\t" + kept[a].split("\t")[1]
    junk = blob(mallory, b'{"junk": "\x1b]0;owned\x07"}\n')
    big = blob(mallory, b"\0" * (20 << 20))
    kept += [f"100644 blob {junk}\truns/zzzzz/00/not-a-key", f"120000 blob {junk}\tartifacts/link",
             f"100644 blob {big}\tnotes/01234/{rng.getrandbits(32):08x}-0000-7000-8000-000000000000",
             f"100644 blob {junk}\tartifacts/ab/{hashlib.sha256(b'other').hexdigest()}",
             f"100755 blob {junk}\thooks/post-checkout"]
    index = os.path.join(mallory["home"], "index")
    if os.path.exists(index):
        os.unlink(index)
    env = dict(environment(mallory), GIT_INDEX_FILE=index)
    subprocess.run(["git", "update-index", "--index-info"], cwd=mallory["clone"], env=env, check=True,
                   input="\n".join(kept) + "\n", text=True)
    tree = subprocess.run(["git", "write-tree"], cwd=mallory["clone"], env=env, check=True, text=True,
                          capture_output=True).stdout.strip()
    commit = git(mallory, "commit-tree", tree, "-p", tip, "-m", "mine").strip()
    git(mallory, "push", "-q", "origin", f"{commit}:refs/orch/results", allowed=(0, 1))
    count("vandalised")


def vandalise_files(folder):
    """Cut, turned and made-up bundles."""
    if not os.path.isdir(folder):
        return
    names = [n for n in os.listdir(folder) if n.endswith(".orch")]
    if names:
        with open(os.path.join(folder, rng.choice(names)), "rb") as f:
            data = bytearray(f.read())
        for _ in range(3):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        data = bytes(data[:rng.randrange(1, len(data))]) if rng.random() < 0.5 else bytes(data)
        name = hashlib.sha256(data).hexdigest() if rng.random() < 0.5 else "f" * 64
        with open(os.path.join(folder, name + ".orch"), "wb") as f:
            f.write(data)
        count("vandalised")
    if names and WAY == "folder":  # what others put there is taken away
        os.unlink(os.path.join(folder, rng.choice(names)))
        count("removed bundle")
    with open(os.path.join(folder, "results.orch"), "wb") as f:
        f.write(b"SQLite format 3\0" + bytes(rng.getrandbits(8) for _ in range(4000)))


def hostile(mallory):
    action = rng.random()
    if action < 0.3:
        do(mallory, ORCH, "run", "study.recipe", "-q", "--yes", "-x", f"metrics={rng.randint(1, 400)}", allowed=(0, 1))
    elif action < 0.6:
        do(mallory, *pull_command(mallory), allowed=(0, 1, 3, 7))
        forge_runs(mallory)
        if has_store(mallory):
            do(mallory, *push_command(mallory), allowed=(0, 1, 3, 7))
    elif WAY == "git":
        vandalise_git(mallory)
    else:
        vandalise_files(mail if WAY == "bundles" else hub)


# ---- the play -----------------------------------------------------------------------------------

def set_up():
    people = []
    for d in (mail, hub):
        os.makedirs(d, exist_ok=True)
    if WAY == "git":
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", hub], check=True)
    for i in range(STUDENTS + 1):
        is_mallory = i == STUDENTS
        clone = os.path.join(scratch, MALLORY if is_mallory else f"clone{i % CLONES}")
        home = os.path.join(scratch, f"home{i}")
        os.makedirs(home)
        person = {"name": MALLORY if is_mallory else f"student{i}", "clone": clone, "home": home,
                  "skew": SKEWS.get(i, 0), "sent": 0}
        people.append(person)
        if os.path.exists(clone):
            continue
        os.makedirs(clone)
        git(person, "init", "-q", "-b", "main")
        git(person, "remote", "add", "origin", hub)
        if WAY == "git" and i and git(person, "ls-remote", "origin", "refs/heads/main"):
            git(person, "pull", "-q", "origin", "main")
        else:
            with open(os.path.join(clone, "study.recipe"), "w") as f:
                f.write(RECIPE)
            git(person, "add", "study.recipe")
            git(person, "commit", "-q", "-m", "study")
            if WAY == "git":
                git(person, "push", "-q", "origin", "HEAD:main")
    return people[:-1], people[-1]


def play(honest, mallory):
    actions = [(run_some, 5), (push, 4), (pull, 4), (commit_and_rebase, 2), (killed_in_the_middle, 3), (dirty, 1),
               (remove_or_restore, 2)]
    names, weights = zip(*actions)
    for _ in range(ROUNDS):
        for student in rng.sample(honest, len(honest)):
            action = rng.choices(names, weights)[0]
            if action in (push, pull):
                untouched(student, action)
            else:
                if action is commit_and_rebase:
                    git(student, "checkout", "-q", "--", ".")
                    if os.path.exists(os.path.join(student["clone"], "scribble.txt")):
                        os.unlink(os.path.join(student["clone"], "scribble.txt"))
                action(student)
        hostile(mallory)


def settle(honest):
    """All send what they have, then all fetch: nothing more is needed."""
    clones = {s["clone"]: s for s in honest}
    for student in clones.values():  # what a kill left behind is closed first
        do(student, ORCH, "run", "study.recipe", "-q", "--yes", allowed=(0, 1))
        note_runs(student)
    for student in clones.values():
        push(student)
    for student in clones.values():
        pull(student)
    return clones.values()


def check(honest):
    digests, hidden = {}, {}
    for student in honest:
        info = json.loads(do(student, ORCH, "db", "info", "--json"))
        digests[student["clone"]] = info["digest"]
        do(student, ORCH, "db", "check")
        db = sqlite3.connect(os.path.join(student["clone"], ".orch/results.db"))
        here = dict(db.execute("SELECT key, digest FROM run"))
        apart = set(db.execute("SELECT key, digest FROM conflict"))
        hidden[student["clone"]] = sorted(key for key, in db.execute(HIDDEN))
        if len(hidden[student["clone"]]) != info["removed"]:
            fail(f"{student['name']}: {info['removed']} removed, by the page {len(hidden[student['clone']])}")
        for key, digest in ended.items():
            if here.get(key) != digest and (key, digest) not in apart:
                fail(f"run {key} is not in the store of {student['name']} as it was recorded")
            if key not in forged and here.get(key) != digest:
                fail(f"run {key} was replaced in the store of {student['name']}")
        if not os.path.realpath(student["clone"]).startswith(os.path.realpath(scratch)):
            fail("not a clone of ours")
    if len(set(digests.values())) != 1:
        fail("the digests differ", *digests.items())
    if any(keys != hidden[honest[0]["clone"]] for keys in hidden.values()):
        fail("other runs are removed here than there", *hidden.items())
    return digests


ended, forged = {}, set()
began = time.monotonic()
honest, mallory = set_up()
play(honest, mallory)
stores = list(settle(honest))
digests = check(stores)
own_files = {"post-checkout", "owned"}
for folder, _, files in os.walk(scratch):
    if own_files & set(files) and not folder.startswith(os.path.join(scratch, MALLORY)) and "hooks" not in folder:
        fail("a file of the hostile member's was written", folder)
print(f"{WAY}: {STUDENTS} students in {CLONES} clones, {ROUNDS} rounds, seed {SEED}: {len(ended)} runs, digest "
      f"{next(iter(digests.values()))[:8]} everywhere, {time.monotonic() - began:.0f} s; "
      + ", ".join(f"{n} x {what}" for what, n in sorted(tally.items())))
shutil.rmtree(scratch)
