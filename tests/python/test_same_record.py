# SPDX-License-Identifier: MIT
"""What the Python module accepts by hand it accepts under orch, with the same record: each script runs
by hand, under `orch try` and as `program:` of a recipe, and what is stored of it is compared."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("ORCH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("ORCH_BUILD_DIR", os.path.join(SOURCE, "build"))
WAYS = ("by hand", "orch try", "program")
RECIPE = """format: 1
recipe: own
experiments:
  own:
    program: [%s, script.py]
"""


class Ways(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.env = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "share", "python"),
                        PYTHONDONTWRITEBYTECODE="1", PATH=BUILD + os.pathsep + os.environ["PATH"],
                        ORCH_USER="tester", HOME=self.folder, GIT_CONFIG_NOSYSTEM="1")
        for name in ("ORCH_DB", "ORCH_RUN", "ORCH_RECORD", "RANK", "SLURM_PROCID"):
            self.env.pop(name, None)

    def run_one(self, way, script):
        """Runs a script in a repository of its own; the folder."""
        work = os.path.join(self.folder, way.replace(" ", "_"))
        shutil.rmtree(work, True)
        os.makedirs(work)
        subprocess.run(["git", "init", "-q", work], check=True)
        for name, text in (("script.py", script), ("own.recipe", RECIPE % sys.executable)):
            with open(os.path.join(work, name), "w") as file:
                file.write(text)
        command = {"by hand": [sys.executable, "script.py"],
                   "orch try": ["orch", "try", "--", sys.executable, "script.py"],
                   "program": ["orch", "run", "own.recipe"]}[way]
        done = subprocess.run(command, cwd=work, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.said = (done.stdout + done.stderr).decode("utf-8", "replace")
        return work

    def same(self, script, also_printed=()):
        """Fails unless the three records are the same. Returns that by hand: a list of runs."""
        first = None
        for way in WAYS:
            work = self.run_one(way, script)
            record = sorted(records(work, also_printed), key=lambda run: json.dumps(run, sort_keys=True))
            self.assertTrue(record, "%s: no run\n%s" % (way, self.said))
            calls = os.path.join(work, "calls")
            answers = []
            if os.path.exists(calls):
                with open(calls, encoding="utf-8") as file:
                    answers = file.read().splitlines()
            if first is None:
                first = record, answers
            self.assertEqual([line for line in answers if line not in first[1]],
                             [line for line in first[1] if line not in answers], way)
            self.assertEqual(differing(record, first[0]), differing(first[0], record),
                             "%s\n%s" % (way, self.said))
        return first[0]


def differing(runs, others):
    """What these runs have and the others of their place do not."""
    if len(runs) != len(others):
        return runs
    return [{part: [item for item in items(run[part]) if item not in items(other[part])] for part in run
             if run[part] != other[part]} for run, other in zip(runs, others)]


def items(value):
    return list(value.items()) if isinstance(value, dict) else value if isinstance(value, list) else [value]


def records(work, also_printed):
    """What the store has of the runs of a folder, without what differs for a good reason: who asked,
    times, the machine, and the values that a trial's program printed."""
    store = sqlite3.connect(os.path.join(work, ".orch", "results.db"))
    runs = []
    for run, key, state, reason, facts in store.execute("SELECT id, key, state, reason, facts FROM run"):
        points = {}
        for name, step, value in store.execute(
                "SELECT n.name, m.step, m.value FROM metric m JOIN metric_name n ON n.id = m.name_id"
                " WHERE m.run = ? ORDER BY n.name, m.step", (run,)):
            if not name.startswith("system/") and name not in also_printed:
                points.setdefault(name, []).append([step, repr(value)])
        results = [[n, repr(v)] for n, v in store.execute(
            "SELECT name, value FROM result WHERE run = ? ORDER BY name", (run,))]
        artifacts = dict(store.execute("SELECT name, sha256 FROM artifact WHERE run = ?", (run,)))
        shown = subprocess.run(["orch", "show", key, "--json"], cwd=work, stdout=subprocess.PIPE,
                               env=dict(os.environ, PATH=BUILD + os.pathsep + os.environ["PATH"]))
        shown = json.loads(shown.stdout.decode())
        log = ""
        if "log" in artifacts:
            log = subprocess.run(["orch", "show", key, "--artifact", "log"], cwd=work,
                                 stdout=subprocess.PIPE,
                                 env=dict(os.environ, PATH=BUILD + os.pathsep + os.environ["PATH"])
                                 ).stdout.decode()
            log = log.split("warning: Traceback")[0]  # a trial's stderr has it, and files that lack
            log = "".join(line + "\n" for line in log.splitlines()
                          if not line.startswith("warning: artifact '"))
        runs.append({
            "state": state, "reason": reason, "points": points, "results": results,
            "artifacts": {n: d for n, d in artifacts.items() if n not in ("stdout", "stderr", "log")},
            "left out": json.loads(facts).get("bad_events", 0), "notes": json.loads(facts).get("notes", []), "log": log.splitlines(),
            "name": shown.get("name"), "tags": shown.get("tags")})
    store.close()
    return runs


# A script that calls each public method of a run with many arguments, and writes what each call
# answers or raises. It fails when a method is not in its table.
WALK = r'''
import inspect, math, os, sys
import orch
run = orch.start(lr=0.1, name="base", tags=["a", "b"], note="x y", nested={"a": {"b": [1, 2]}})
open("w.pt", "w").write("weights"); os.makedirs("dir/sub")
open("dir/one", "w").write("1"); open("dir/sub/two", "w").write("2")
NAMES = ["val loss", "timing(s)/gen", "a" * 300, "\u640d\u5931" * 80, "loss,b", "a=b", 'q"u\'o`te', "t\tab", "n\nl", "",
         " ", ".", "..", "/", "a/b", "system/x", "system/cpu", "\u00e9t\u00e9", "\u00a0", "\udc80x", "\x00", "step",
         "epoch", "50%", "\u03bb", "a\\b", "a^b", "stdout", "\u202e"]
VALUES = [0, 1, -1, True, 0.1, 1e300, -1e-300, float("nan"), float("inf"), float("-inf"), 2**63, 10**30,
          "3", None, "x", [1], {}, {"a": {"b": 2}}, object]
STEPS = [None, 0, 5, 5, 3, 10, -1, 0.5, 2.0, "7", "x", 2**53, 2**63, 9 * 10**15, True, float("nan"),
         float("inf"), None]
class Quiet:
    def __repr__(self):
        return type(self).__name__
class Picture(Quiet):
    def save(self, path, format):
        open(path, "wb").write(b"picture")
class Figure(Quiet):
    def savefig(self, path, format):
        open(path, "wb").write(b"figure")
class Broken(Quiet):
    def save(self, path, format):
        raise ValueError("no picture")
def each(values):
    return [((v,), {}) for v in values]
ARGS = {
    "log": [(({n: 0.5},), {}) for n in NAMES] + [((), {"v%d" % i: v}) for i, v in enumerate(VALUES)]
           + [((), {"s": i, "step": s}) for i, s in enumerate(STEPS)] + [((), {}), (({},), {}), ((5,), {}),
              (("a line",), {}), (("a line", "warning"), {}), (("",), {}), (("\udc80\x00",), {}),
              (("x" * 70000,), {}), (("\u640d" * 70000,), {}), (("x",), {"level": "odd"}), (({5: 1, None: 2},), {})],
    "metric": [((n, i, 1.5), {}) for i, n in enumerate(NAMES)] + [(("m", s, 1), {}) for s in STEPS]
              + [(("m%d" % i, 0, v), {}) for i, v in enumerate(VALUES)],
    "metrics": [((3,), {"a": 1, "b": 2}), ((3,), {"a": "x"}), ((None,), {"a": 4}), ((1,), {})],
    "result": [((n, 2.5), {}) for n in NAMES] + [(("r%d" % i, v), {}) for i, v in enumerate(VALUES)]
              + [(("twice", 1), {}), (("twice", 2), {})],
    "artifact": [((n, "w.pt"), {}) for n in NAMES] + each(["w.pt", "dir", "none.pt", "/dev/null/x"])
                + [(("weights", "w.pt"), {}), (("log", "w.pt"), {}), ((5, "w.pt"), {}), (("dir2", "dir"), {})],
    "image": [(("dots", [[0, 255], [10, 20]]), {}), (("real", [[0.0, 0.5]]), {}), (("rgb", [[[1, 2, 3]]]), {}),
              (("five", [[[1, 2, 3, 4, 5]]]), {}), (("pil", Picture()), {}), (("bad", Broken()), {}),
              (("path", "w.pt"), {}), (("empty", []), {}), (("a b/c", [[1]]), {})],
    "figure": [(("fit", Figure()), {}), (("none",), {})],
    "table": [(("scores", [{"a": 1, "b": 2}, {"a": 3}]), {}), (("rows", [[1, 2]], ["x", "y"]), {}),
              (("columns", {"x": [1, 2], "y": [3, 4]}), {}), (("a b", []), {}), (("bad", 5), {})],
    "log_settings": [((), {"lr": 0.1}), (({"a": {"b": 1}, "a b": True},), {}), ((), {"t": "x" * 5000, "n": None}), ((5,), {}),
                     ((), {"v%d" % i: v for i, v in enumerate(VALUES)})],
    "note": each(["a sentence", "", "\u00e9", "\udc80", "\x00", 5, "n" * 70000]),
    "phase": each(["loading", "", 5]),
    "progress": [((1, 10), {}), ((0.5,), {}), ((float("nan"), 3), {}), (("x",), {}), ((3, None), {})],
    "series": each(["m", "val loss", "none", "s"]),
    "steps": each([3, 0, "2", -1]) + [((5,), {"start": 3})],
    "derive_seed": each(["init", ""]) , "seed_all": [((), {})], "should_stop": [((), {})],
    "skip": [], "fail": [], "diverged": [], "end": [],  # scripts of their own
}
calls = open("calls", "w", encoding="utf-8", errors="replace")
methods = [n for n, m in inspect.getmembers(orch.Trial, callable) if not n.startswith("_")]
properties = [n for n, m in inspect.getmembers(orch.Trial) if isinstance(m, property)]
for name in methods:
    for args, kwargs in ARGS[name]:  # a new method has to be in the table
        try:
            answer = getattr(run, name)(*args, **kwargs)
            answer = list(answer) if inspect.isgenerator(answer) else answer
        except Exception as error:
            answer = type(error).__name__
        calls.write("%s %.60r %.60r: %.200r\n" % (name, args, kwargs, answer if "seed" not in name else ""))
for name in properties + ["key"]:
    value = getattr(run, name)
    calls.write("%s: %s\n" % (name, "a value" if value else value))
    if name == "environment":
        assert list(value) == ["ORCH_JOIN"], value
open(os.path.join(run.checkpoint_dir, "x"), "w").close()
os.remove("w.pt")
assert sorted(orch.__all__) == sorted(["start", "study", "runs", "best", "report", "export_ops", "Trial", "Study", "Run", "Error"])
calls.close()
run.end()
'''

# Scripts of one run each, by what they are about.
ONE = {
    "1,001 names": "for i in range(1003): run.log({'m%d' % i: i}, step=0)",
    "an exception": "run.log(a=1)\nraise ValueError('bad d\\u00e4ta')",
    "an exception in with": "with run:\n    run.log(a=1)\n    1 / 0",
    "exit status": "run.log(a=1)\nsys.exit(3)",
    "exit with a text": "sys.exit('bad things')",
    "exit well": "run.log(a=1)\nsys.exit(0)",
    "fail": "run.fail('why not')",
    "skip": "run.skip('no GPU')",
    "diverged": "run.diverged()",
    "no end": "run.log(a=1)",
    "after the end": "run.log(a=1)\nrun.end()\nrun.log(a=2)\nrun.result('r', 1)\nrun.note('x')\nrun.end()",
    "joined": ("subprocess.run([sys.executable, '-c', 'import orch; r = orch.start(x=2); r.log(b=2, step=5); "
               "r.result(\"of child\", 3); open(\"c\", \"w\").write(\"c\"); r.artifact(\"c\"); r.end()'],"
               " env=dict(os.environ, **run.environment), check=True)\nrun.log(a=1)"),
    "threads": ("ts = [threading.Thread(target=lambda k=k: [run.metric('t%d' % k, i, i) for i in range(200)])"
                " for k in range(4)]\n[t.start() for t in ts]\n[t.join() for t in ts]"),
    "a fork": ("pid = os.fork()\nif pid == 0:\n    run.log(a=9); run.note('child'); run.end(); os._exit(0)\n"
               "os.waitpid(pid, 0)\nrun.log(a=1)"),
    "artifacts of a time": ("for text in ('one', 'two'):\n    open('f', 'w').write(text); run.artifact('f')\n"
                            "    run.artifact(text, 'f'); os.remove('f')"),
    "a file twice": "open('f', 'w').write('x')\nrun.artifact('a b', 'f'); run.artifact('a_b', 'f')",
    "many points": "for i in range(20000): run.log(loss=i / 3)",
    "a rank": "os.environ['RANK'] = '1'\norch.start(x=1).log(b=1)\nrun.log(a=1)",
}
HEAD = "import os, subprocess, sys, threading\nimport orch\nrun = orch.start(lr=0.1)\n"

# Scripts of several runs.
SEVERAL = {
    "after each other": (2, """
for fold in (1, 2):
    run = orch.start(fold=fold)
    for i in range(3): run.log(loss=fold * 10 + i)
    run.end()"""),
    "without end": (3, """
for lr in (1, 2, 3):
    run = orch.start(lr=lr)
    run.log(a=lr)
    run.result("r r", lr)"""),
    "side by side": (2, """
a = orch.start(lr=1); b = orch.start(lr=2, name="second", tags="t")
open("f", "w").write("f")
for i in range(3): a.log(loss=i); b.log(loss=100 + i)
a.artifact("f"); b.artifact("g", "f"); b.table("t", [{"x": 1}]); b.log("a line"); b.note("n")
os.remove("f")
a.end(); b.end()"""),
    "the second fails": (2, """
a = orch.start(lr=1); a.log(x=1); a.fail if 0 else None
b = orch.start(lr=2); b.log(x=2)
try:
    b.fail("b is bad")
except SystemExit:
    pass
a.log(x=3)"""),
    "threads": (4, """
def work(k):
    run = orch.start(k=k)
    for i in range(50): run.log(v=k * 1000 + i)
    run.end()
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]"""),
    "a pool": (3, """
import multiprocessing
def work(k):
    with orch.start(k=k) as run:
        run.log(v=k)
if __name__ == "__main__":
    for k in range(3):
        worker = multiprocessing.get_context("fork").Process(target=work, args=(k,))
        worker.start(); worker.join()"""),
    "spawned": (2, """
import multiprocessing
def work(k):
    with orch.start(k=k) as run:
        run.log(v=k)
if __name__ == "__main__":
    for k in range(2):
        worker = multiprocessing.get_context("spawn").Process(target=work, args=(k,))
        worker.start(); worker.join()"""),
    "programs of a program": (2, """
code = "import orch, sys; run = orch.start(x=1); run.log({'a b': float(sys.argv[1])}); run.result('r', 1)"
for k in (1, 2):
    subprocess.run([sys.executable, "-c", code, str(k)], check=True)"""),
    "a program and its own": (2, """
run = orch.start(k=0); run.log(a=1)
subprocess.run([sys.executable, "-c", "import orch; run = orch.start(x=1); run.log(b=2)"], check=True)
run.log(a=2)"""),
    "forked with a run of its own": (2, """
run = orch.start(k=0); run.log(a=1)
pid = os.fork()
if pid == 0:
    own = orch.start(k=1); own.log(b=1); own.end(); os._exit(0)
os.waitpid(pid, 0)"""),
    "a shell": (2, """
code = "import orch, sys; run = orch.start(x=1); run.log(a=float(sys.argv[1])); run.end()"
subprocess.run("for k in 1 2; do '%s' -c \\"%s\\" $k; done" % (sys.executable, code), shell=True,
               close_fds=False, check=True)"""),
}


class SameRecord(Ways):
    def test_walk(self):
        """Each public method with many arguments, of the trial's run and of a further one."""
        runs = self.same(WALK)
        self.assertEqual([run["state"] for run in runs], ["ok"])
        self.assertIn("val_loss", runs[0]["points"])
        self.assertEqual(runs[0]["left out"], 0, runs[0]["log"])
        self.assertGreater(len(runs[0]["results"]), 30)
        self.assertEqual((runs[0]["name"], runs[0]["tags"]), ("base", ["a", "b"]))

    def test_walk_further(self):
        script = WALK.replace("run = orch.start(", "orch.start(first=1).end(); run = orch.start(", 1)
        self.assertEqual(len(self.same(script)), 2)

    def test_printed(self):
        """What a script logs is not replaced by what it prints of it, before, after, or rounded."""
        runs = self.same(HEAD + "for e in range(5):\n    print('epoch %d loss %.1f' % (e + 7, e / 3), flush=True)\n"
                         "    run.log(loss=e / 3)\n    print('loss %.1f' % (e / 3), flush=True)\n", ("other",))
        self.assertEqual(list(runs[0]["points"]), ["loss"])
        self.assertEqual(len(runs[0]["points"]["loss"]), 5)


def add(kind, name, test):
    setattr(SameRecord, "test_%s_%s" % (kind, name.replace(" ", "_").replace(",", "")), test)


for _name, _script in ONE.items():
    def _one(self, script=HEAD + _script):
        self.assertEqual(len(self.same(script)), 1)
    add("one", _name, _one)
for _name, (_count, _script) in SEVERAL.items():
    def _several(self, count=_count, script="import os, subprocess, sys, threading\nimport orch\n" + _script):
        self.assertEqual(len(self.same(script)), count)
    add("several", _name, _several)

if __name__ == "__main__":
    unittest.main()
