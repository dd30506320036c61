# SPDX-License-Identifier: MIT
"""The Python helper, against a host that is played here: what it says for what a script does."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ.get("ORCH_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
HELPER = os.path.join(SOURCE, "share", "python")
RUN = {"do": "run", "params": {"lr": 0.5, "epochs": 3}, "seed": "18446744073709551615", "smoke": False}


def environment():
    return dict(os.environ, PYTHONPATH=HELPER, PYTHONDONTWRITEBYTECODE="1")


class Host:
    """Runs a script as orch-host does: commands on stdin, events on a descriptor of their own."""

    def __init__(self, script):
        reader, writer = os.pipe()
        env = dict(environment(), ORCH_EVENTS=str(writer), ORCH_RUN="a key")
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, pass_fds=[writer], env=env, cwd=self.folder.name)
        os.close(writer)
        self.events = os.fdopen(reader, "rb")

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def finish(self, close=True):
        """All events, stdout and the exit status."""
        lines = self.events.read().splitlines(keepends=True)
        self.events.close()
        if close:
            self.process.stdin.close()
        output = self.process.stdout.read().decode()
        self.process.stdout.close()
        status = self.process.wait()
        self.folder.cleanup()
        assert all(line.endswith(b"\n") and len(line) <= 65536 for line in lines)
        return [json.loads(line.decode()) for line in lines], output, status


def run(script, message=RUN):
    host = Host(script)
    host.send(message)
    return host.finish()


def points(events):
    return [point for event in events if event["event"] == "metrics" for point in event["points"]]


class TestHelper(unittest.TestCase):
    def test_whole(self):
        events, output, status = run("""
import orch
trial = orch.start(lr=0.1, epochs=5, other="x")
assert trial.other == "x" and trial.params["epochs"] == 3
for epoch in trial.steps(trial.epochs):
    trial.metrics(epoch, loss=1 / (epoch + 1), accuracy=epoch)
trial.metric("loss", 9, float("nan"))
trial.metric("step", 9, float("-inf"))
trial.result("final", trial.lr)
trial.artifact("weights", "w.pt")
trial.phase("p"); trial.note("n\\u00e4"); trial.log("l", "warning")
""")
        self.assertEqual(status, 0)
        self.assertEqual(output, "")
        self.assertEqual(points(events)[:2], [["loss", 0, None, 1.0], ["accuracy", 0, None, 0.0]])
        self.assertEqual(points(events)[-2:], [["loss", 9, None, "nan"], ["step", 9, None, "-inf"]])
        self.assertEqual(len(points(events)), 8)
        by_kind = {event["event"]: event for event in events}
        self.assertEqual(by_kind["result"]["value"], 0.5)
        self.assertTrue(os.path.isabs(by_kind["artifact"]["path"]))
        self.assertEqual(by_kind["note"]["text"], "n\u00e4")
        self.assertEqual(by_kind["log"]["level"], "warning")
        self.assertEqual(by_kind["progress"]["total"], 3)
        self.assertEqual(events[-1], {"event": "done", "status": "ok"})

    def test_points_come_before_what_follows(self):
        events, _, _ = run("""
import orch
trial = orch.start()
trial.metric("a", 0, 1); trial.metric("a", 1, 2)
trial.result("r", 1)
""")
        kinds = [event["event"] for event in events]
        self.assertLess(max(i for i, k in enumerate(kinds) if k == "metrics"), kinds.index("result"))

    def test_many_points_in_few_lines(self):
        events, _, status = run("""
import orch
trial = orch.start()
for i in range(20000):
    trial.metric("loss", i, i / 3)
""")
        self.assertEqual(status, 0)
        self.assertEqual([point[1] for point in points(events)], list(range(20000)))
        self.assertLess(len(events), 200)

    def test_a_lone_point_does_not_wait(self):
        host = Host("""
import orch, time
trial = orch.start()
trial.metric("a", 0, 1)
trial.metric("a", 1, 1)
time.sleep(60)
""")
        host.send(RUN)
        host.events.readline()
        start = time.monotonic()
        self.assertEqual(json.loads(host.events.readline().decode())["points"][0][1], 1)
        self.assertLess(time.monotonic() - start, 30)
        host.process.kill()
        host.finish()

    def test_exception(self):
        events, _, status = run("import orch\ntrial = orch.start()\nraise ValueError('bad data')\n")
        self.assertEqual(status, 1)
        self.assertEqual(events[-2], {"event": "error", "text": "ValueError: bad data"})
        self.assertEqual(events[-1]["status"], "failed")

    def test_exception_in_with(self):
        events, _, status = run("import orch\nwith orch.start() as trial:\n    1 / 0\n")
        self.assertEqual(status, 1)
        self.assertEqual([event["event"] for event in events], ["error", "done"])

    def test_long_error_fits_a_line(self):
        events, _, _ = run("import orch\ntrial = orch.start()\nraise ValueError('\\u00e4' * 100000)\n")
        self.assertTrue(events[-2]["text"].endswith("..."))
        self.assertEqual(events[-1]["status"], "failed")

    def test_skip_fail_diverged(self):
        for call, status, code in (("skip", "skipped", 0), ("fail", "failed", 1), ("diverged", "diverged", 0)):
            events, _, exit_code = run("import orch\ntrial = orch.start()\ntrial.%s('why')\nraise 1\n" % call)
            self.assertEqual([event["event"] for event in events], ["error", "done"])
            self.assertEqual(events[0]["text"], "why")
            self.assertEqual((events[1]["status"], exit_code), (status, code))

    def test_cancel(self):
        host = Host("""
import orch, time
trial = orch.start()
for step in trial.steps(10**9):
    trial.metric("a", step, 0)
    time.sleep(0.01)
assert trial.cancelled
""")
        host.send(RUN)
        host.events.readline()
        host.send({"do": "cancel"})
        events, _, status = host.finish(close=False)
        host.process.stdin.close()
        self.assertEqual((status, events[-1]["status"]), (0, "cancelled"))

    def test_should_stop(self):
        host = Host("""
import orch, time
trial = orch.start()
while not trial.should_stop():
    trial.metric("a", trial._step, 0)
    time.sleep(0.01)
trial.note("saved")
""")
        host.send(RUN)
        host.events.readline()
        host.send({"do": "cancel", "why": "pruned"})
        events, _, status = host.finish(close=False)
        host.process.stdin.close()
        self.assertEqual((status, events[-2]["text"], events[-1]["status"]), (0, "saved", "cancelled"))

    def test_should_stop_by_signal(self):
        """No message comes where metrics are read from the output."""
        host = Host("""
import orch, time
trial = orch.start()
assert not trial.should_stop()
trial.metric("a", 0, 0)
while not trial.should_stop():
    time.sleep(0.01)
trial.note("saved")
""")
        host.process.stdin.close()
        host.events.readline()
        os.kill(host.process.pid, signal.SIGTERM)
        events, _, status = host.finish(close=False)
        self.assertEqual((status, events[-2]["text"], events[-1]["status"]), (0, "saved", "cancelled"))

    def test_end_of_the_host_cancels(self):
        host = Host("import orch\ntrial = orch.start()\nfor s in trial.steps(10**12): pass\n")
        host.send(RUN)
        host.process.stdin.close()
        events, _, _ = host.finish(close=False)
        self.assertEqual(events[-1]["status"], "cancelled")

    def test_smoke(self):
        events, _, _ = run("import orch\nt = orch.start()\nfor s in t.steps(100): t.metric('a', s, 0)\n",
                           dict(RUN, smoke=True))
        self.assertEqual(len(points(events)), 2)

    def test_seeds(self):
        expected = int.from_bytes(hashlib.sha256(b"\xff" * 8 + b"init").digest()[:8], "little")
        events, _, _ = run("import orch\nt = orch.start()\nt.note(str(t.derive_seed('init')))\n")
        self.assertEqual(events[0]["text"], str(expected))
        script = "import orch, random\nt = orch.start()\nt.seed_all()\nt.note(str(random.random()))\n"
        self.assertEqual(run(script)[0][0], run(script)[0][0])
        self.assertNotEqual(run(script)[0][0], run(script, dict(RUN, seed="1"))[0][0])

    def test_seed_fits_numpy(self):
        """The seed of a host that sends 64 bits only, and of one that sends both."""
        script = "import orch\nt = orch.start()\nt.note('%d %d' % (t.seed, t.seed64))\n"
        whole = str(2**63 + 2**31 + 9)
        self.assertEqual(run(script, dict(RUN, seed=whole))[0][0]["text"], "9 " + whole)
        self.assertEqual(run(script, dict(RUN, seed="9", seed64=whole))[0][0]["text"], "9 " + whole)

    def test_children_say_nothing(self):
        events, output, _ = run("""
import orch, os, subprocess, sys
trial = orch.start()
trial.metric("a", 0, 1)
pid = os.fork()
if pid == 0:
    trial.metric("a", 1, 1); trial.note("from the child"); sys.exit(0)
os.waitpid(pid, 0)
print(subprocess.run([sys.executable, "-c", "import orch, sys; t = orch.start(x=1); t.result('r', 2); "
      "print(len(sys.stdin.read()))"], stdout=subprocess.PIPE).stdout.decode())
""")
        self.assertEqual(points(events), [["a", 0, None, 1.0]])
        self.assertEqual([event["event"] for event in events].count("done"), 1)
        self.assertNotIn("note", [event["event"] for event in events])
        self.assertIn("result r = 2", output)
        self.assertIn("0\n", output)  # the host's commands are not theirs to read

    def test_without_run_message(self):
        """A program whose manifest says `lines`: its values come by the environment."""
        values = {"ORCH_PARAMS": '{"lr": 0.25}', "ORCH_SEED": "9", "ORCH_SMOKE": "1"}
        script = """
import orch
trial = orch.start(lr=1.0)
for step in trial.steps(100):
    trial.metric("a", step, trial.lr * trial.seed)
"""
        os.environ.update(values)
        try:
            host = Host(script)
            host.process.stdin.close()
            events, _, status = host.finish(close=False)
        finally:
            for name in values:
                del os.environ[name]
        self.assertEqual(points(events), [["a", 0, None, 2.25], ["a", 1, None, 2.25]])
        self.assertEqual((status, events[-1]["status"]), (0, "ok"))

    def test_unknown_parameter(self):
        events, _, status = run("import orch\ntrial = orch.start(lr=1)\ntrial.learning\n")
        self.assertEqual(status, 1)
        self.assertIn("known: epochs, lr", events[0]["text"])

    def test_by_hand_unrecorded(self):
        with tempfile.TemporaryDirectory() as folder:
            output = subprocess.run(
                [sys.executable, "-c", """
import orch
trial = orch.start(lr=0.1, epochs=2)
for epoch in trial.steps(trial.epochs):
    trial.metrics(epoch, loss=trial.lr)
trial.result("final", 3)
open(trial.checkpoint_dir + "/x", "w").close()
"""], env=dict(environment(), ORCH_RECORD="off"), cwd=folder, stdout=subprocess.PIPE, check=True).stdout.decode()
            self.assertTrue(os.path.exists(os.path.join(folder, "checkpoint", "x")))
        self.assertEqual(output, "step 0: loss=0.1\nstep 1: loss=0.1\nresult final = 3\n")


if __name__ == "__main__":
    unittest.main()
