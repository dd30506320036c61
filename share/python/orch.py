# SPDX-License-Identifier: MIT
"""Makes a Python script an orch plugin. One file, no dependencies, Python 3.6 or later.

    import orch

    trial = orch.start(lr=0.1, epochs=5)            # defaults; orch gives the trial's own values
    for epoch in trial.steps(trial.epochs):         # ends early when the trial is cancelled
        loss, accuracy = train(trial.lr)
        trial.metrics(epoch, loss=loss, accuracy=accuracy)
    trial.result("final_accuracy", accuracy)
    trial.artifact("weights", "weights.pt")

Run by orch (through a NAME.plugin with `metrics_from: protocol`) the values go to its host; run by
hand (`python3 train.py`) the same script works with its defaults and prints them. The end of the
script is the end of the trial: ok, or failed with the exception's text. See docs/plugins.md.
"""
import atexit
import hashlib
import json
import math
import os
import struct
import sys
import threading
import time
import traceback

__all__ = ["start", "Trial"]

_LINE_MAX = 65536  # bytes of a line with its end, the protocol's limit
_FLUSH_S = 0.05  # points wait at most this long for company
_SMOKE_STEPS = 2


def start(**defaults):
    """Begins the trial and returns it. Call it once, before anything that takes long."""
    return Trial(defaults)


class Trial:
    """A trial: its parameters are attributes (`trial.lr`) and items of `trial.params`."""

    def __init__(self, defaults):
        self.params = dict(defaults)
        self.seed = 0  # 0 to 2**31 - 1: any library takes it
        self.seed64 = 0  # the whole of it
        self.smoke = False  # True: two steps on little data, nothing more
        self._folder = None
        self._cancelled = False
        self._error = None
        self._status = None  # set by skip, fail and diverged
        self._ended = False
        self._listens = True
        self._pid = os.getpid()
        self._points = []
        self._points_bytes = 0
        self._progress = None
        self._last_flush = 0.0
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._link = _connect()
        if self._link:
            self._begin()
        sys.excepthook = self._hook(sys.excepthook)
        atexit.register(self.end)

    def __getattr__(self, name):
        # only called for what is no attribute: the parameters
        params = self.__dict__.get("params", {})
        if name in params:
            return params[name]
        known = ", ".join(sorted(params)) or "none"
        raise AttributeError("no parameter '%s'; known: %s" % (name, known))

    # ---- what a script asks -----------------------------------------------------------------

    @property
    def cancelled(self):
        """True once the trial should end: save what is worth saving, and return soon."""
        return self._cancelled

    @property
    def checkpoint_dir(self):
        """A folder that survives the attempts of this trial (by hand: ./checkpoint)."""
        if self._folder is None:
            self._folder = os.path.abspath("checkpoint")
        if not os.path.isdir(self._folder):
            os.makedirs(self._folder)
        return self._folder

    def derive_seed(self, stream):
        """The seed (64 bits) of a named stream: the same for the same trial seed and name, here
        and in compiled plugins. NumPy wants 32 bits: `% 2**32`."""
        text = struct.pack("<Q", self.seed64) + stream.encode("utf-8")
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "little")

    def seed_all(self):
        """Seeds `random`, and NumPy and PyTorch where they are imported already."""
        import random

        random.seed(self.derive_seed("random"))
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if numpy:
            numpy.random.seed(self.derive_seed("numpy") % 2**32)
        if torch:
            torch.manual_seed(self.derive_seed("torch"))

    def steps(self, count, start=0):
        """Yields start, ..., count - 1; tells the progress; stops when the trial is cancelled, and
        after two in a smoke run."""
        count = int(count)
        if self.smoke:
            count = min(count, start + _SMOKE_STEPS)
        for step in range(start, count):
            if self._cancelled:
                return
            yield step
            self.progress(step + 1, count)

    # ---- what a script tells ----------------------------------------------------------------

    def metric(self, name, step, value):
        """A point of a declared metric; a later value of the same step replaces it. NaN and
        infinities are kept."""
        self._add_points(int(step), {name: float(value)})

    def metrics(self, step, **values):
        """Points of several metrics at one step."""
        self._add_points(int(step), {name: float(value) for name, value in values.items()})

    def result(self, name, value):
        """The value of a declared result, one a trial; a later one replaces it."""
        value = float(value)
        shown = "%s = %.6g" % (name, value)
        self._tell("result", shown, {"name": name, "value": _number(value)})

    def artifact(self, name, path):
        """Hands over a file under a declared name, as it is when the script ends."""
        path = os.path.abspath(os.fspath(path))
        self._tell("artifact", "%s: %s" % (name, path), {"name": name, "path": path})

    def note(self, text):
        """A sentence that a reader of the trial's record should see."""
        self._tell("note", text, {"text": str(text)})

    def log(self, text, level="info"):
        """A line for the trial's log; level debug, info or warning."""
        self._tell("log", text, {"text": str(text), "level": level})

    def phase(self, name):
        """Names what happens now ("loading data"); shown live, not recorded."""
        self._tell("phase", name, {"name": str(name)})

    def progress(self, done, total=0):
        """How far; shown live, not recorded."""
        if not self._link or os.getpid() != self._pid:
            return
        with self._lock:
            self._progress = {"event": "progress", "done": done, "total": total}
            self._flush_soon()

    def skip(self, why):
        """Ends the script: it cannot run here (no GPU, no data). Recorded as skipped, not failed."""
        self._stop("skipped", why, 0)

    def fail(self, why):
        """Ends the script as failed."""
        self._stop("failed", why, 1)

    def diverged(self, why="the loss is not finite"):
        """Ends the script: the training diverged, which is a result and not a fault."""
        self._stop("diverged", why, 0)

    def end(self):
        """Ends the trial, once; the end of the script and of a `with` block do it too."""
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        status = self._status or ("failed" if self._error else None)
        if status is None:
            status = "cancelled" if self._cancelled else "ok"
        if not self._link:
            if status != "ok":
                print("%s%s" % (status, ": " + self._error if self._error else ""), flush=True)
            return
        if self._error:
            self._send({"event": "error", "text": self._error})
        self._send({"event": "done", "status": status})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self._remember(kind, value)
        self.end()
        return False

    # ---- within -----------------------------------------------------------------------------

    def _begin(self):
        message = self._link.receive_run()
        if message is None:  # metrics_from is not protocol: no commands come on stdin
            message = _environment()
            self._listens = False
        self.params.update(message.get("params") or {})
        self.seed64 = int(message.get("seed64") or message.get("seed") or 0)
        self.seed = self.seed64 % 2**31
        self.smoke = bool(message.get("smoke"))
        self._folder = message.get("checkpoint_dir")
        threading.Thread(target=self._flush_late, daemon=True).start()
        if self._listens:
            threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        """Thread: waits for a cancel; the host's end counts as one."""
        while True:
            message = self._link.receive()
            if message is None or message.get("do") == "cancel":
                self._cancelled = True
                return

    def _flush_late(self):
        """Thread: sends points that waited long enough."""
        while True:
            self._wake.wait()
            time.sleep(_FLUSH_S)
            with self._lock:
                self._wake.clear()
                self._flush()

    def _add_points(self, step, values):
        if not self._link:
            texts = ("%s=%.6g" % pair for pair in values.items())
            print("step %d: %s" % (step, " ".join(texts)), flush=True)
            return
        if os.getpid() != self._pid:  # a forked worker: the trial is its parent's
            return
        with self._lock:
            for name, value in values.items():
                text = json.dumps([name, step, None, _number(value)])
                if self._points_bytes + len(text) + 64 > _LINE_MAX:
                    self._flush()
                self._points.append(text)
                self._points_bytes += len(text) + 1
            self._flush_soon()

    def _flush_soon(self):
        """Sends what waits, now after a silence, else with what comes next. The lock is held."""
        if time.monotonic() - self._last_flush >= _FLUSH_S:
            self._flush()
        else:
            self._wake.set()

    def _flush(self):
        """Sends the waiting points as one line, and the newest progress. The lock is held."""
        self._last_flush = time.monotonic()
        if self._points:
            line = '{"event":"metrics","points":[%s]}\n' % ",".join(self._points)
            self._write(line.encode("ascii"))
        if self._progress:
            self._write(json.dumps(self._progress).encode("ascii") + b"\n")
        self._points = []
        self._points_bytes = 0
        self._progress = None

    def _tell(self, event, shown, fields):
        if not self._link:
            print("%s %s" % (event, shown), flush=True)
            return
        fields["event"] = event
        self._send(fields)

    def _send(self, message):
        if os.getpid() != self._pid:
            return
        line = json.dumps(message)
        if len(line) >= _LINE_MAX and "text" in message:  # ASCII, at most 12 bytes a character
            message["text"] = message["text"][: _LINE_MAX // 12 - 100] + "..."
            line = json.dumps(message)
        with self._lock:
            self._flush()
            self._write(line.encode("ascii") + b"\n")

    def _write(self, line):
        if not self._link.send(line):
            self._cancelled = True  # nobody listens any more

    def _stop(self, status, why, code):
        self._status = status
        self._error = str(why)
        self.end()
        sys.exit(code)

    def _remember(self, kind, value):
        if kind is None or self._error or self._status:
            return
        if issubclass(kind, SystemExit):
            if value.code not in (None, 0):
                self._error = "exit status %s" % (value.code,)
        elif issubclass(kind, KeyboardInterrupt):
            self._status = "cancelled"
        else:
            self._error = "".join(traceback.format_exception_only(kind, value)).strip()

    def _hook(self, previous):
        def hook(kind, value, trace):
            self._remember(kind, value)
            previous(kind, value, trace)

        return hook


class _Link:
    """The two ends of the protocol, on descriptors that no child process inherits."""

    def __init__(self, events):
        os.set_inheritable(events, False)
        self._events = events
        self._commands = os.dup(0)
        self._rest = b""
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)  # what reads stdin from here on does not swallow the host's commands
        os.close(null)

    def receive(self):
        """The next message; None when there will be none."""
        while b"\n" not in self._rest:
            try:
                chunk = os.read(self._commands, _LINE_MAX)
            except OSError:
                return None
            if not chunk:
                return None
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        try:
            message = json.loads(line.decode("utf-8"))
        except ValueError:
            return {}
        return message if isinstance(message, dict) else {}

    def receive_run(self):
        """Waits for `run`; None when it does not come."""
        while True:
            message = self.receive()
            if message is None or message.get("do") == "run":
                return message

    def send(self, line):
        """Writes the whole line; False when the host is gone."""
        try:
            while line:
                line = line[os.write(self._events, line) :]
        except OSError:
            return False
        return True


def _connect():
    """The link to the host, or None when there is none: the script was started by hand."""
    number = os.environ.pop("ORCH_EVENTS", "")
    return _Link(int(number)) if number.isdigit() else None


def _environment():
    """What `run` says, as the host's environment variables have it."""
    get = os.environ.get
    try:
        params = json.loads(get("ORCH_PARAMS", "{}"))
    except ValueError:
        params = {}
    return {"params": params, "seed": get("ORCH_SEED", "0"), "seed64": get("ORCH_SEED64"),
            "smoke": get("ORCH_SMOKE"), "checkpoint_dir": get("ORCH_CHECKPOINT_DIR")}


def _number(value):
    """A number as JSON has it; what JSON has not, as text."""
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
