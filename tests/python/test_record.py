# SPDX-License-Identifier: MIT
"""The Python package by hand, under no runner: each script becomes a run in the store."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ.get("ORCH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("ORCH_BUILD_DIR", os.path.join(SOURCE, "build"))


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.env = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "share", "python"),
                        PYTHONDONTWRITEBYTECODE="1", PATH=BUILD + os.pathsep + os.environ["PATH"],
                        ORCH_USER="tester", HOME=self.folder, GIT_CONFIG_NOSYSTEM="1")
        for name in ("ORCH_DB", "ORCH_RUN", "ORCH_RECORD", "RANK", "SLURM_PROCID"):
            self.env.pop(name, None)
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work)
        subprocess.run(["git", "init", "-q", self.work], check=True)

    def script(self, text, **env):
        """Runs train.py; its status and stderr."""
        with open(os.path.join(self.work, "train.py"), "w") as file:
            file.write(text)
        done = subprocess.run([sys.executable, "train.py"], cwd=self.work, env=dict(self.env, **env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.output, self.errors = done.stdout.decode(), done.stderr.decode()
        return done.returncode

    def orch(self, *words):
        done = subprocess.run(["orch", *words, "--json"], cwd=self.work, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return json.loads(done.stdout.decode() or "{}")

    def runs(self):
        until = time.monotonic() + 20  # a recorder outlives a program that was killed
        while True:
            listed = self.orch("ls", "-n", "0").get("runs", [])
            if not any(run["state"] in ("running", "interrupted") for run in listed):
                return [self.orch("show", run["key"]) for run in listed]
            if time.monotonic() > until:
                self.fail("still running: %s" % listed)
            time.sleep(0.05)

    def only(self):
        runs = self.runs()
        self.assertEqual(len(runs), 1, runs)
        return runs[0]

    def points(self, run, metric):
        store = sqlite3.connect(os.path.join(self.work, ".orch", "results.db"))
        self.addCleanup(store.close)
        return store.execute(
            "SELECT m.step, m.value FROM metric m JOIN metric_name n ON n.id = m.name_id"
            " JOIN run r ON r.id = m.run WHERE r.key = ? AND n.name = ? ORDER BY m.step",
            (run["key"], metric)).fetchall()

    def test_two_lines(self):
        status = self.script("""
import orch
run = orch.start(lr=0.1, optimizer={"name": "sgd", "momentum": 0.9}, sizes=[1, 2])
for epoch in range(3):
    run.log(loss=1 / (epoch + 1), val={"acc": epoch})
run.log({"train/loss": float("nan")}, step=7)
run.result("final", 2)
run.note("a sentence")
open("out.txt", "w").write("weights")
run.artifact("out.txt")
open("out.txt", "w").write("changed later")
run.end()
""")
        self.assertEqual(status, 0, self.errors)
        self.assertIn("recorded by orch as run", self.errors)
        run = self.only()
        self.assertEqual((run["state"], run["experiment"]), ("ok", "train"))
        self.assertEqual(run["params"], {"lr": 0.1, "optimizer.name": "sgd", "optimizer.momentum": 0.9,
                                         "sizes": [1, 2]})
        self.assertEqual(self.points(run, "loss"), [(0, 1.0), (1, 0.5), (2, 1 / 3)])
        self.assertEqual(self.points(run, "val.acc"), [(0, 0.0), (1, 1.0), (2, 2.0)])
        self.assertEqual(self.points(run, "train/loss"), [(7, None)])
        self.assertEqual(len(run["tree"]), 40)
        self.assertEqual(run["argv"][-1], "train.py")
        artifact = [a for a in run["artifacts"] if a["name"] == "out.txt"]
        self.assertEqual(artifact[0]["bytes"], len("weights"))

    def test_end_of_the_script_is_the_end(self):
        self.script("import orch\nrun = orch.start()\nrun.log(a=1)\n")
        self.assertEqual(self.only()["state"], "ok")

    def test_exception(self):
        self.assertEqual(self.script("import orch\nwith orch.start() as run:\n    run.log(a=1)\n    1 / 0\n"), 1)
        run = self.only()
        self.assertEqual((run["state"], run["reason"]), ("failed", "ZeroDivisionError: division by zero"))

    def test_exit_status(self):
        self.assertEqual(self.script("import orch, sys\nrun = orch.start()\nsys.exit(3)\n"), 3)
        run = self.only()
        self.assertEqual((run["state"], run["reason"]), ("failed", "exit status 3"))

    def test_killed_keeps_all_points(self):
        status = self.killed()
        self.assertEqual(status, -signal.SIGKILL)
        run = self.only()
        self.assertEqual(run["state"], "crashed")
        self.assertIn("killed", run["reason"])
        self.assertEqual(len(self.points(run, "a")), 5000)

    def killed(self):
        with open(os.path.join(self.work, "train.py"), "w") as file:
            file.write("""
import orch, os, signal, time
run = orch.start()
for i in range(5000):
    run.log(a=i)
if os.fork() == 0:  # a worker that lives on and holds the pipe open
    os.close(1), os.close(2)
    time.sleep(30)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
""")
        process = subprocess.Popen([sys.executable, "train.py"], cwd=self.work, env=self.env,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(lambda: os.killpg(process.pid, signal.SIGKILL))
        return process.wait()

    def test_interrupted(self):
        with open(os.path.join(self.work, "train.py"), "w") as file:
            file.write("import orch, time\nrun = orch.start()\nrun.log(a=1)\nprint('on', flush=True)\n"
                       "time.sleep(30)\n")
        process = subprocess.Popen([sys.executable, "train.py"], cwd=self.work, env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        process.communicate()
        run = self.only()
        self.assertEqual((run["state"], run["reason"]), ("cancelled", "interrupted from the keyboard"))

    def test_workers_neither_end_nor_double_the_run(self):
        self.script("""
import multiprocessing, os, orch
def work(n):
    orch.start(n=n).log(b=n)
if __name__ == "__main__":
    run = orch.start(lr=1)
    pid = os.fork()
    if pid == 0:
        run.log(a=9); run.note("x"); run.end(); raise SystemExit(0)
    os.waitpid(pid, 0)
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(1,))
    worker.start(); worker.join()
    run.log(a=1)
""")
        run = self.only()
        self.assertEqual(run["state"], "ok")
        self.assertEqual(self.points(run, "a"), [(0, 1.0)])

    def log(self, run, stream):
        done = subprocess.run(["orch", "log", run["key"], "--" + stream], cwd=self.work, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stdout.decode()

    def test_output_is_kept(self):
        """What Python code prints is the run's log, and the streams stay what they are."""
        status = self.script(r"""
import logging, os, subprocess, sys
before = [(id(s), type(s), s.fileno(), s.isatty(), s.encoding) for s in (sys.stdout, sys.stderr)]
logging.basicConfig(level="INFO", format="%(message)s")
print("before")
import orch
run = orch.start()
assert before == [(id(s), type(s), s.fileno(), s.isatty(), s.encoding) for s in (sys.stdout, sys.stderr)]
print("one", 1); print("two", end=""); print("h\u00e4", file=sys.stderr); logging.info("logged")
assert sys.stdout.write("abc") == 3
sys.stdout.writelines(["x\n", "y"])
for k in range(3): sys.stderr.write("\r%d" % k)
sys.stdout.flush()
subprocess.run(["echo", "of a child"])
run.end()
print("after")
""")
        self.assertEqual(status, 0, self.errors)
        self.assertEqual(self.output, "before\none 1\ntwoabcx\nyof a child\nafter\n")
        run = self.only()
        self.assertEqual(self.log(run, "stdout"), "one 1\ntwoabcx\ny")
        self.assertEqual(self.log(run, "stderr"), "h\u00e4\nlogged\n\r0\r1\r2")
        self.assertIn("h\u00e4\nlogged\n\r0\r1\r2", self.errors)

    def test_output_of_what_fails(self):
        self.script("import orch\nrun = orch.start()\nprint('x')\ndef f():\n    1 / 0\nf()\n")
        run = self.only()
        self.assertIn("in f\n    1 / 0", self.log(run, "stderr"))
        self.assertEqual(self.errors.count("in f\n"), 1)
        self.assertNotIn("log", [a["name"] for a in run["artifacts"]])  # the trace is there once
        self.assertIn("ZeroDivisionError", run["facts"]["stderr_tail"])

    def test_output_of_several_runs(self):
        """Each run has what was printed while it was open, or what its own thread printed."""
        self.script("""
import threading
import orch
for k in (1, 2):
    run = orch.start(k=k)
    print("of", k)
run.end()
def work(k):
    run = orch.start(k=k)
    print("of", k)
    run.end()
threads = [threading.Thread(target=work, args=(k,)) for k in (3, 4)]
[t.start() for t in threads]; [t.join() for t in threads]
a = orch.start(k=5); b = orch.start(k=6)
print("of both")
""")
        said = {run["params"]["k"]: self.log(run, "stdout") for run in self.runs()}
        self.assertEqual(said, {1: "of 1\n", 2: "of 2\n", 3: "of 3\n", 4: "of 4\n", 5: "of both\n",
                                6: "of both\n"})

    def test_much_output(self):
        """The first and the last half of 16 MiB are kept, and every point."""
        status = self.script(r"""
import orch
run = orch.start()
for k in range(20):
    print((str(k % 10) * 63 + "\n") * (1 << 14), end="")
    run.log(a=k)
""")
        self.assertEqual(status, 0)
        run = self.only()
        text = self.log(run, "stdout")
        self.assertLessEqual(len(text), (16 << 20) + 100)
        self.assertTrue(text.startswith("0" * 63 + "\n") and text.endswith("9" * 63 + "\n"))
        self.assertIn("dropped here]", text)
        self.assertEqual(len(self.points(run, "a")), 20)

    def test_second_process_joins(self):
        self.script("""
import os, orch, subprocess, sys
run = orch.start()
run.log(a=1)
subprocess.run([sys.executable, "-c", "import orch; run = orch.start(x=2); run.log(b=2, step=5)"],
               env=dict(os.environ, **run.environment), check=True)
""")
        run = self.only()
        self.assertEqual(self.points(run, "b"), [(5, 2.0)])
        self.assertEqual(run["params"], {})

    def test_only_rank_0_records(self):
        self.script("import orch\norch.start().log(a=1)\n", RANK="1")
        self.assertEqual(self.runs(), [])
        self.script("import orch\norch.start().log(a=1)\n", RANK="0")
        self.assertEqual(self.only()["state"], "ok")

    def test_no_program(self):
        self.assertEqual(self.script("import orch\norch.start()\n", ORCH_PROGRAM="/no/orch"), 1)
        self.assertIn("cannot start '/no/orch'", self.errors)
        self.assertIn("ORCH_RECORD=off", self.errors)

    def test_refused_start_says_why(self):
        self.assertEqual(self.script("import orch\norch.start(tags=['two words'])\n"), 1)
        self.assertIn("tag 'two words'", self.errors)
        self.assertEqual(self.runs(), [])

    def test_dead_recorder_warns_once(self):
        status = self.script("""
import orch, os, signal, time
run = orch.start()
run._link._process.send_signal(signal.SIGSTOP)
children = "/proc/%d/task/%d/children" % (run._link._process.pid, run._link._process.pid)
for pid in open(children).read().split():
    os.kill(int(pid), signal.SIGKILL)
time.sleep(0.2)
for i in range(100):
    run.log(a=i)
run._link._process.send_signal(signal.SIGKILL)
print("went on")
run.end()
""")
        self.assertEqual((status, self.output), (0, "went on\n"), self.errors)
        self.assertEqual(self.errors.count("the recorder is gone"), 1)
        self.orch("plan", "none.recipe")  # any command that begins a run closes it; ls shows it
        self.assertEqual(self.orch("ls")["runs"][0]["state"], "interrupted")
        self.script("import orch\norch.start(lr=2).end()\n")
        self.assertEqual(sorted(run["state"] for run in self.runs()), ["lost", "ok"])

    def test_bad_values_warn_once(self):
        self.script("import orch\nrun = orch.start()\nfor i in range(9): run.log(a='x', b=i)\n")
        self.assertEqual(self.errors.count("str is not a number"), 1)
        self.assertEqual(len(self.points(self.only(), "b")), 9)

    def test_next_start_ends_the_last(self):
        self.script("import orch\nfor lr in (1, 2, 3):\n    run = orch.start(lr=lr)\n    run.log(a=lr)\n")
        self.assertEqual(sorted((r["state"], r["params"]["lr"]) for r in self.runs()),
                         [("ok", 1), ("ok", 2), ("ok", 3)])

    def test_joins_a_trial(self):
        self.script("import orch\nrun = orch.start(lr=1.0)\nrun.log(loss=run.lr)\n")
        done = subprocess.run(["orch", "try", "-x", "lr=0.5", "--", sys.executable, "train.py", "{lr}"],
                              cwd=self.work, env=self.env, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = {run["plugin"]: run for run in self.runs()}
        self.assertEqual(sorted(runs), ["record", "train"])
        self.assertEqual(self.points(runs["train"], "loss"), [(0, 0.5)])

    def test_shell(self):
        done = subprocess.run(
            ["sh", "-c", """for i in 1 2 3; do
  echo "{\\"event\\":\\"metric\\",\\"name\\":\\"loss\\",\\"step\\":$i,\\"value\\":0.$i}"
done | (cat; echo nonsense; echo '{"event":"done","status":"ok"}') | orch record -e loop -s lr=0.1"""],
            cwd=self.work, env=self.env, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.only()
        self.assertEqual((run["experiment"], run["params"]), ("loop", {"lr": 0.1}))
        self.assertEqual(len(self.points(run, "loss")), 3)


if __name__ == "__main__":
    unittest.main()
