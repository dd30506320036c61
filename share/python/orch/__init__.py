# SPDX-License-Identifier: MIT
"""Records a Python program as a run of orch. No dependencies, Python 3.8 or later.

By hand, in a script or a notebook ('orch help python'):

    import orch

    run = orch.start(lr=0.1)
    for epoch in range(5):
        run.log(loss=train(run.lr))
    run.end()                                       # or: with orch.start(lr=0.1) as run:

orch stores the run with the source tree, the arguments and the machine. The same script can be a trial
('orch help plugins'): when `orch run` or `orch try` starts it, start() gives the trial's parameters:

    trial = orch.start(lr=0.1, epochs=5)            # defaults; orch gives the trial's own values
    for epoch in trial.steps(trial.epochs):         # ends early when the trial is cancelled
        loss, accuracy = train(trial.lr)
        trial.metrics(epoch, loss=loss, accuracy=accuracy)
    trial.result("final_accuracy", accuracy)
    trial.artifact("weights", "weights.pt")

The run ends with the script: as ok, or as failed with the exception's text.

Recorded runs are read by orch.runs(where="lr > 0.01"), orch.best("accuracy") and run.series("loss").

orch.export_ops(model, inputs, "model.jsonl") writes the operators of a PyTorch model for a forecast:
orch predict --net model.jsonl --gpu H100.
"""
import atexit
import base64
import collections.abc
import functools
import hashlib
import html
import itertools
import json
import math
import os
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import weakref
import zlib

__all__ = ["start", "study", "runs", "best", "report", "export_ops", "Trial", "Study", "Run", "Error"]
__version__ = "0.1.0"  # of the program, too: CMakeLists.txt and packaging/ read it here

_LINE_MAX = 65536  # bytes of a line with its end, the protocol's limit
_JOIN_LINE_MAX = 4096  # what a pipe takes whole when several processes write (PIPE_BUF)
_BACKLOG_MAX = 64 << 20  # bytes kept while the recorder is slower than the program
_FLUSH_S = 0.05  # points of a plugin wait at most this long for company
_BEGIN_S, _END_S = 120, 30  # how long start() and end() wait for the recorder
_SMOKE_STEPS = 2
_NESTED_MAX = 16  # mappings within mappings
_LABEL_BYTES = 200  # of a name, and the numbers below: what orch-host takes
_NAMES_MAX = 1000  # metrics and results of a run
_STEP_MAX = 9 * 10**15
_SETTING_CHARS = 300  # of log_settings()
_RUNS_MAX = 10000  # of a trial
_WITHOUT_METRIC = 3  # runs of a search may end before one that lacks its metric is an error
_PRINTED_MAX = 16 << 20  # bytes of output that a further run of a trial keeps
_PRINTED_WAITING = 1 << 20  # bytes waiting for the recorder from which on output waits here
_PRINTED_LATE = 8 << 20  # characters that wait; the oldest beyond them are left out
_SERIES_MAX = 1000000  # points of a metric that series() has before the end
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
_OFF = ("0", "off", "no", "false")

_current = None  # the run that start() opened last in the main thread: it lasts without a name
_open = {}  # the runs that have not ended, in the order of their beginning: id -> weak reference
_stop = threading.Event()  # the trial of this process is to end


def __getattr__(name):
    if name == "SummaryWriter":
        from orch.tensorboard import SummaryWriter  # pylint: disable=import-outside-toplevel

        return SummaryWriter
    if name == "callbacks":
        import importlib

        return importlib.import_module("orch.callbacks")
    raise AttributeError("module 'orch' has no attribute '%s'" % name)


class Error(RuntimeError):
    """An error of orch. Its text says what to do."""

    def __init__(self, text):
        super().__init__(text)
        _install_hooks()


def start(*configs, experiment=None, tags=(), name=None, **params):
    """Begins a run and returns it. Call it once for each run, before anything that takes long.

    Give the parameters by name, or as a dict, a dataclass, a named tuple or argparse's namespace.
    Nested parameters are recorded as `optimizer.lr`. `seed=` is the run's seed. `experiment` names
    the run's experiment (default: the script's name). If `orch run` or `orch try` started the
    script, the trial's values replace those given here.

    A run ends when no variable refers to it any more, for example when the next start() in a loop
    is assigned to the same variable."""
    global _current
    values = {}
    for config in configs:
        values.update(_settings_of(config))
    values.update(params)
    run = Trial(values, experiment, tags, name)
    frame = sys._getframe(1)
    run._begun_in = (id(frame), frame.f_code)
    if threading.current_thread() is threading.main_thread() and not _is_child():
        _current = run
    return run


class Trial:
    """A run: its parameters are attributes (`run.lr`) and items of `run.params`."""

    def __init__(self, defaults, experiment=None, tags=(), name=None):
        about = {"tags": [tags] if isinstance(tags, str) else [str(tag) for tag in tags],
                 "name": None if name is None else str(name)}
        self.params = dict(defaults)
        given = _whole(defaults.get("seed"))
        self.seed = 0 if given is None else given  # of a trial 0 to 2**31 - 1
        self.seed64 = self.seed % 2**64  # the whole of it
        self.smoke = False  # True: two steps on little data, nothing more
        self.key = None  # of a run that is recorded by hand
        self._step = 0  # of the next log() without a step
        self._x = None  # the last step, once they are no whole numbers; then points are numbered
        self._labels = {}  # kind, name of a metric, result or artifact -> as it is recorded
        self._taken = set()  # kind and label of each
        self._series = {}  # by hand: name of a metric -> its steps and values, for series()
        self._thread = threading.current_thread()
        self._begun_in = (0, None)  # the frame that called start(): its id and code
        self._warned = set()
        self._folder = None
        self._error = None
        self._status = None  # set by skip, fail and diverged
        self._exit_status = None  # that sys.exit was given
        self._ended = False
        self._listens = True
        self._pid = os.getpid()
        self._points = []
        self._points_bytes = 0
        self._progress = None
        self._last_flush = 0.0
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._is_silent = False
        self._printed = {}  # stream -> what was printed and waits for the end of its line
        self._printed_late = collections.deque()  # (stream, text) that has no room yet
        self._printed_bytes = self._printed_lost = self._printed_late_chars = 0
        self._link = None
        _install_hooks()
        if _is_worker():
            self._is_silent = True  # rank 0, or the process that began the run, records
            _say_silent()
        elif os.environ.get("ORCH_JOIN"):
            self._link = _Join(os.environ["ORCH_JOIN"])
        elif _is_in_trial():
            self._begin(experiment, about)
        elif not _is_off():
            self._record(experiment, about)
        if self._is_owner() and self.key:
            os.environ["ORCH_OPEN_RUN"] = self.key
        if isinstance(self._link, (_Recorder, _Spool)):
            _watch_output()
        _open[id(self)] = weakref.ref(self)

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
        """True when the trial should end: save your work, and return soon."""
        return _stop.is_set()

    def should_stop(self):
        """True when a search stopped the trial ('orch help search'), or it was cancelled: save your work,
        and return within the trial's grace period. After the first call in the main thread, SIGTERM no
        longer ends a program whose metrics are read from its output."""
        if (isinstance(self._link, (_Link, _Spool)) and not self._listens
                and os.getpid() == self._pid):
            if (threading.current_thread() is threading.main_thread()
                    and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL):
                signal.signal(signal.SIGTERM, lambda *_: _stop.set())
        return _stop.is_set()

    @property
    def checkpoint_dir(self):
        """A folder for checkpoints, which is still there when the trial is tried again after a crash."""
        if self._folder is None:
            self._folder = os.path.abspath("checkpoint")
        if not os.path.isdir(self._folder):
            os.makedirs(self._folder)
        return self._folder

    @property
    def environment(self):
        """Environment variables with which another process adds to this run by its own start():
        `subprocess.run(..., env=dict(os.environ, **run.environment))`."""
        return {"ORCH_JOIN": self._link.join} if self._is_owner() and self._link.join else {}

    def derive_seed(self, stream):
        """A 64-bit seed made of the trial's seed and a name, for example "init". NumPy takes 32 bits:
        `% 2**32`."""
        text = struct.pack("<Q", self.seed64) + stream.encode("utf-8")
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "little")

    def seed_all(self):
        """Seeds `random`, and NumPy and PyTorch if they are imported already."""
        import random

        random.seed(self.derive_seed("random"))
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if numpy:
            numpy.random.seed(self.derive_seed("numpy") % 2**32)
        if torch:
            torch.manual_seed(self.derive_seed("torch"))

    def steps(self, count, start=0):
        """Yields start, ..., count - 1, and reports the progress. Stops when the trial is cancelled, and
        in a smoke run after two steps."""
        count = int(count)
        if self.smoke:
            count = min(count, start + _SMOKE_STEPS)
        for step in range(start, count):
            if _stop.is_set():
                return
            yield step
            self.progress(step + 1, count)

    # ---- what a script tells ----------------------------------------------------------------

    def log(self, *what, step=None, level="info", **values):
        """Records metrics: `run.log(loss=0.3)`, `run.log({"train/loss": 0.3}, step=100)`. Without a step,
        each call is the next step, from 0. Nested dicts give `val.loss`. Numbers may be of NumPy or
        PyTorch, also NaN; texts and other objects are left out with a warning. `run.log("restarted")`
        writes a line to the run's log."""
        if what and isinstance(what[0], str):
            level = what[1] if len(what) > 1 else level
            self._tell("log", what[0], {"text": what[0], "level": str(level)})
            return
        points = {}
        for more in what + (values,):
            _flatten(more, "", points)
        numbers = {}
        for metric, value in points.items():
            try:
                numbers[metric] = float(value)
            except (TypeError, ValueError, RuntimeError, OverflowError):
                kind = type(value).__name__
                self._warn("metric '%s': %s is not a number" % (metric, kind), metric)
        self._add_points(self._whole_step(step, numbers), numbers)

    def metric(self, name, step, value):
        """Records a value of a metric. A later value of the same step replaces it."""
        numbers = {name: float(value)}
        self._add_points(self._whole_step(step, numbers), numbers)

    def metrics(self, step, **values):
        """Records values of several metrics at one step."""
        numbers = {name: float(value) for name, value in values.items()}
        self._add_points(self._whole_step(step, numbers), numbers)

    def result(self, name, value):
        """Records a result: one value for the run. A later value replaces it."""
        value = float(value)
        label = self._name_of("result", name)
        if label is not None:
            self._tell("result", "%s = %.6g" % (name, value),
                       {"name": label, "value": _number(value)})

    def artifact(self, name, path=None):
        """Stores a copy of a file: `artifact("weights", "weights.pt")`, or its path alone. A later file
        of the same name replaces it. Of a folder, each file is stored as `folder.file`."""
        if path is None:
            path = os.fspath(name)
            name = os.path.basename(os.path.normpath(path))
        path = os.path.abspath(os.fspath(path))
        if os.path.isdir(path):
            for folder, _, files in os.walk(path):
                for file in sorted(files):
                    inner = os.path.join(folder, file)
                    self.artifact("%s.%s" % (name, os.path.relpath(inner, path)), inner)
            return
        if self._is_silent or self._ended or os.getpid() != self._pid:
            return
        name = self._name_of("artifact", name)
        if self._link:
            try:
                path = self._link.keep(path, name)
            except OSError as error:
                self._warn("artifact '%s' is not kept: %s" % (name, error), "artifact " + name)
                if isinstance(self._link, _Sender):
                    return  # of a trial the host says what it means that the file is missing
        self._tell("artifact", "%s: %s" % (name, path), {"name": name, "path": path})

    def image(self, name, picture):
        """Stores a picture: the path of a PNG or JPEG file, a PIL image, or an array of
        height x width (x 3 or 4) with values of 0 to 255, or 0 to 1 as floats."""
        if isinstance(picture, (str, os.PathLike)):
            suffix = os.path.splitext(os.fspath(picture))[1].lower()
            self.artifact(_with_suffix(name, suffix or ".png"), picture)
            return
        save = getattr(picture, "save", None)
        self._keep_written(name, ".png", lambda path: save(path, format="PNG") if callable(save)
                           else _write_png(path, picture))

    def figure(self, name, figure=None):
        """Stores a figure of Matplotlib as a picture (default: the current figure)."""
        if figure is None:
            figure = sys.modules["matplotlib.pyplot"].gcf()
        figure = getattr(figure, "figure", figure)  # of axes, or of a seaborn grid
        self._keep_written(name, ".png", lambda path: figure.savefig(path, format="png"))

    def table(self, name, rows, columns=None):
        """Stores a table as CSV: a DataFrame, a list of dicts, a dict of columns, or a list of rows with
        the names of the columns."""
        header, lines = _table_of(rows, columns)
        self._keep_written(name, ".csv", lambda path: _write_csv(path, header, lines))

    def series(self, name):
        """The points of a metric so far, as a list of (step, value)."""
        label = self._labels.get(("metric", name)) or _label(name)
        if label in self._series:
            steps, values = self._series[label]
            return list(zip(steps, values))
        return Run(key=self.key).series(label) if self.key and self._ended else []

    def note(self, text):
        """Records a note, which `orch show` prints."""
        self._tell("note", text, {"text": str(text)})

    def log_settings(self, *what, **values):
        """Records settings that the script knows only after start(). Filters name them `logged.lr`."""
        known = {}
        for more in what + (values,):
            known.update(_recordable(_settings_of(more)))
        for name, value in known.items():
            value = value if isinstance(value, (bool, int, float)) else str(value)[:_SETTING_CHARS]
            self._tell("run", "%s=%s" % (name, value), {"settings": {name: value}})

    def phase(self, name):
        """Shows what happens now ("loading data") in the live display. It is not recorded."""
        self._tell("phase", name, {"name": str(name)})

    def progress(self, done, total=0):
        """Shows the progress in the live display. It is not recorded."""
        if not self._link or os.getpid() != self._pid or self._ended:
            return
        with self._lock:
            self._progress = {"event": "progress", "done": _number(float(done)),
                              "total": _number(float(total or 0))}
            if not isinstance(self._link, _Sender):
                self._flush_soon()
            elif time.monotonic() - self._last_flush >= 0.5:
                self._flush()

    def skip(self, why):
        """Ends the script as skipped, because it cannot run here (for example without a GPU)."""
        self._stop("skipped", why, 0)

    def fail(self, why):
        """Ends the script as failed."""
        self._stop("failed", why, 1)

    def diverged(self, why="the loss is not finite"):
        """Ends the script as diverged, which is a result and not a failure."""
        self._stop("diverged", why, 0)

    def end(self):
        """Ends the run. The end of the script or of a `with` block does so, too."""
        if self._ended or os.getpid() != self._pid:
            return
        if self._exit_status not in (None, 0) and self._is_owner():
            self._remember(SystemExit, SystemExit(self._exit_status))
        status = self._status or ("failed" if self._error else None)
        if status is None:
            status = "cancelled" if _stop.is_set() else "ok"
        if self._is_owner():
            self._print_rest()
            if self._error:
                self._send({"event": "error", "text": self._error})
            self._send({"event": "done", "status": status})
        self._ended = True
        _open.pop(id(self), None)
        _note_open()
        if isinstance(self._link, _Sender):
            self._warn(self._link.close(status), "link")
        elif not self._link and status != "ok" and not self._is_silent:
            print("%s%s" % (status, ": " + self._error if self._error else ""), flush=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self._remember(kind, value, trace)
        self.end()
        return False

    # ---- within -----------------------------------------------------------------------------

    def _is_owner(self):
        """True for the process that began the run, which ends it, too."""
        return self._link is not None and not isinstance(self._link, _Join)

    def __del__(self):
        """Nothing refers to the run any more: so it has ended, well unless it was left by an
        exception."""
        try:
            if (self._ended or os.getpid() != self._pid or not self._begun_in[0]
                    or not self._is_owner()):
                return
            kind, value, trace = sys.exc_info()
            if kind and (self._was_left_by(trace) or (trace is None and _is_child())):
                self._remember(kind, value, trace)
            self._remember(*_cell_error[0])
            self.end()
        except Exception:  # the interpreter may be ending
            pass

    def _was_left_by(self, trace):
        """Has the exception of this trace left the function that called start()?"""
        while trace is not None:
            if (id(trace.tb_frame), trace.tb_frame.f_code) == self._begun_in:
                return True
            trace = trace.tb_next
        return False

    def _whole_step(self, step, points):
        """The step as the store has it, a whole number from 0. Points at other steps are numbered,
        and their step is the metric `step` beside them."""
        if step is None and self._x is None:
            step = self._step
        x = self._step if step is None else step
        whole = _whole(x)
        if self._x is None and whole is not None and 0 <= whole <= _STEP_MAX:
            self._step = whole + 1
            return whole
        try:
            x = float(x)
        except (TypeError, ValueError):
            self._warn("step %r is not a number, so orch numbers the points" % (x,), "step")
            x = float(self._step)
        self._warn("steps must be whole numbers from 0: from %g on, orch numbers the points and records "
                   "their step as the metric 'step'" % x, "step")
        if self._x != x:
            if self._x is None and self._step:
                before = float(self._step - 1)
                self._add_points(self._step - 1, {"step": before})
            self._x = x
            self._step += 1
        points.setdefault("step", x)
        return self._step - 1

    def _name_of(self, kind, name):
        """The name of a metric, result or artifact as the store takes it; None for one too many.
        Two names that would become one are kept apart."""
        label = self._labels.get((kind, name))
        if label is not None:
            return label
        if kind != "artifact" and sum(key[0] != "artifact" for key in self._labels) >= _NAMES_MAX:
            self._warn("a run has at most %d metrics and results: '%s' and other new names are not "
                       "recorded" % (_NAMES_MAX, name), "names")
            return None
        label = base = _label(name)
        if kind == "artifact":
            label = base = base.replace("/", ".").lstrip(".") or "_"
            if base in ("stdout", "stderr", "log"):  # the run's own
                label = base + "_2"
        number = 2
        while (kind, label) in self._taken:
            label = "%s_%d" % (_label(base, _LABEL_BYTES - 10), number)
            number += 1
        if label != base:
            self._warn("%s '%s' is recorded as '%s', because another one has the name '%s'" %
                       (kind, name, label, base), (kind, label))
        if len(self._labels) < 10 * _NAMES_MAX:
            self._labels[kind, name] = label
            self._taken.add((kind, label))
        return label

    def _print(self, stream, text):
        """Adds what the program printed to the run's log, in whole lines."""
        if self._ended:
            return
        if self._lock._is_owned():  # a warning of the module's own, or a signal's handler
            self._printed[stream] = self._printed.get(stream, "") + text
            return
        with self._lock:
            text = self._printed.pop(stream, "") + text
            cut = max(text.rfind("\n"), text.rfind("\r")) + 1
            cut = len(text) if len(text) - cut > 4096 else cut
            self._printed[stream] = text[cut:]
            self._send_printed(stream, text[:cut])

    def _print_rest(self):
        with self._lock:
            until = time.monotonic() + _END_S
            for stream, text in list(self._printed.items()) or [("stdout", "")]:
                self._send_printed(stream, text, until)
            self._printed = {}

    def _send_printed(self, stream, text, until=0.0):
        """The lock is held. Output never keeps points from being recorded: what has no room waits,
        at the run's end until then, and the oldest of much is left out."""
        late = self._printed_late
        if text:
            late.append((stream, text))
            self._printed_late_chars += len(text)
        while len(late) > 1 and self._printed_late_chars > _PRINTED_LATE:
            lost = len(late.popleft()[1])
            self._printed_lost += lost
            self._printed_late_chars -= lost
        while late and self._link.has_room_for_output(self._printed_bytes, until):
            stream, text = late.popleft()
            self._printed_late_chars -= len(text)
            if self._printed_lost:
                text = "\n[orch: %d characters were dropped here]\n%s" % (self._printed_lost, text)
                self._printed_lost = 0
            self._printed_bytes += len(text)
            most = self._link.line_max // 12 - 100
            for at in range(0, len(text), most):  # ASCII, at most 12 bytes a character
                self._send({"event": "output", "stream": stream, "text": _utf8(text[at:at + most])})

    def _keep_written(self, name, suffix, write):
        """Hands over a file that is written for it. A failure to write it is a warning."""
        if self._is_silent or self._ended or os.getpid() != self._pid:
            return
        is_copied = self._link is not None and self._link.copies
        folder = tempfile.mkdtemp(prefix="orch-") if is_copied else os.getcwd()
        path = os.path.join(folder, _with_suffix(os.path.basename(str(name)), suffix))
        try:
            write(path)
            self.artifact(_with_suffix(name, suffix), path)
        except Exception as error:
            self._warn("'%s' is not kept: %s" % (name, error), "kept " + str(name))
        finally:
            if is_copied:
                shutil.rmtree(folder, ignore_errors=True)

    def _begin(self, experiment, about):
        """Under orch: takes the trial's values. A second run is one of its own."""
        about["params"] = _recordable(self.params)
        self._link, number = _connect()
        message = self._link.receive_run() if self._link else None
        if message is None:  # no commands come on stdin: printed values are read, or a second run
            message = _environment()
            self._listens = False
        trial = _recordable(message.get("params") or {})
        self._take_values(message)
        self.key = os.environ.get("ORCH_RUN")
        if self._link:
            about["params"] = {name: value for name, value in about["params"].items()
                               if name not in trial and name != "seed"}
            threading.Thread(target=self._flush_late, daemon=True).start()
            if self._listens:
                threading.Thread(target=self._listen, daemon=True).start()
            self._tell_about(about)
            return
        about["params"].update(trial)
        given = _whole(self.params.get("seed"))
        if given is not None:  # what tells this run from the others of the trial
            self.seed64 = given % 2**64
            self.seed = self.seed64 % 2**31
        if experiment is not None:
            about["experiment"] = _experiment_name(experiment)
        self._link = _Spool(number, _begin_line(about))
        self.key = self._link.key
        if self._folder:
            self._folder = os.path.join(self._folder, "run-%d" % number)
        print("orch: this further start() of the trial begins a run of its own, %s, which is stored when "
              "the trial ends" % self.key[-8:], file=sys.stderr, flush=True)

    def _tell_about(self, about):
        """What start() was given and the trial does not know."""
        known = {name: value for name, value in about.items() if value}
        if not known:
            return
        if len(json.dumps(known)) > self._link.line_max - 100:
            known.pop("params", None)
            self._warn("start() got more parameters than a message can hold: none of them is recorded",
                       "start")
        self._send(dict(known, event="run"))

    def _take_values(self, message):
        """The parameters, the seed and the folder of a trial."""
        for name, value in (message.get("params") or {}).items():
            typed = os.environ.get("ORCH_PARAM_" + name)
            is_text = isinstance(self.params.get(name), str) and not isinstance(value, str)
            self.params[name] = typed if is_text and typed is not None else value
        self.seed64 = int(message.get("seed64") or message.get("seed") or 0)
        self.seed = self.seed64 % 2**31
        self.smoke = bool(message.get("smoke"))
        self._folder = message.get("checkpoint_dir")

    def _record(self, experiment, about):
        """By hand: starts the recorder."""
        about["params"] = _recordable(self.params)
        about["experiment"] = _experiment_name(experiment)
        self._link = _Recorder(dict(_begin_line(about), pid=os.getpid()))
        self.key = self._link.key
        self._folder = self._link.checkpoint_dir
        _watch_cells()

    def _at_exit(self):
        """The interpreter ends. A notebook that is closed or restarted has not finished its run."""
        if isinstance(self._link, _Recorder) and _is_interactive():
            self._remember(*_cell_error[0])
            if not self._status and not self._error:
                self._status = "cancelled"
                self._error = "the notebook was closed or restarted before run.end()"
        kind, value, trace = sys.exc_info()
        if kind and self._was_left_by(trace):
            self._remember(kind, value, trace)
        is_cut = self._thread is not threading.main_thread() and self._thread.is_alive()
        if is_cut and not self._status and not self._error and self._is_owner():
            self._status = "cancelled"
            self._error = "the program ended while the thread of this run was still running"
        self.end()

    def _warn(self, text, about):
        """Once for each thing, on stderr: a loop that trains goes on."""
        if text and about not in self._warned and len(self._warned) < 20:
            self._warned.add(about)
            print("orch: warning: " + text, file=sys.stderr, flush=True)

    def _listen(self):
        """Thread: waits for a cancel; the host's end counts as one."""
        while True:
            message = self._link.receive()
            if message is None or message.get("do") == "cancel":
                _stop.set()
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
        if self._is_silent or os.getpid() != self._pid:  # a worker: the run is its parent's
            return
        if self._ended:
            self._warn("the run has ended: what is logged now is not recorded", "ended")
            return
        if not self._link:
            texts = ("%s=%.6g" % pair for pair in values.items())
            print("step %d: %s" % (step, " ".join(texts)), flush=True)
            return
        with self._lock:
            values = {self._name_of("metric", name): value for name, value in values.items()}
            values.pop(None, None)
            self._remember_points(step, values)
            if isinstance(self._link, _Sender):
                for line in _point_lines(step, values, self._link.line_max, self._link.t_ms()):
                    self._write(line)
                return
            for name, value in values.items():
                text = json.dumps([name, step, None, _number(value)])
                if self._points_bytes + len(text) + 64 > self._link.line_max:
                    self._flush()
                self._points.append(text)
                self._points_bytes += len(text) + 1
            self._flush_soon()

    def _remember_points(self, step, values):
        for name, value in values.items():
            steps, kept = self._series.setdefault(name, ([], []))
            if steps and steps[-1] == step:
                kept[-1] = value
            elif len(steps) < _SERIES_MAX:
                steps.append(step)
                kept.append(value)

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
        if self._is_silent or self._ended or os.getpid() != self._pid:
            return
        if not self._link:
            print("%s %s" % (event, shown), flush=True)
            return
        fields = {name: _utf8(text) if isinstance(text, str) else text
                  for name, text in fields.items()}
        self._send(dict(fields, event=event))

    def _send(self, message):
        if os.getpid() != self._pid:
            return
        line = json.dumps(message)
        line_max = self._link.line_max
        if len(line) >= line_max and "text" in message:  # ASCII, at most 12 bytes a character
            message["text"] = message["text"][: line_max // 12 - 100] + "..."
            line = json.dumps(message)
        with self._lock:
            self._flush()
            self._write(line.encode("ascii") + b"\n")

    def _write(self, line):
        if self._link.send(line):
            return
        if isinstance(self._link, _Sender):
            self._warn(self._link.problem, "link")
        else:
            _stop.set()  # nobody listens any more

    def _stop(self, status, why, code):
        self._status = status
        self._error = _utf8(why)
        self.end()
        sys.exit(code)

    def _remember(self, kind, value=None, trace=None):
        """How the script ended, if it was by an exception."""
        if kind is None or self._error or self._status:
            return
        by_hand = isinstance(self._link, (_Recorder, _Spool))
        if issubclass(kind, SystemExit):
            if value.code not in (None, 0):
                self._error = "exit status %s" % (value.code,)
        elif issubclass(kind, KeyboardInterrupt):
            self._status = "cancelled"
            self._error = "interrupted from the keyboard" if by_hand else None
        else:
            self._error = _utf8("".join(traceback.format_exception_only(kind, value)).strip())
            if trace is not None and by_hand:
                text = "".join(traceback.format_exception(kind, value, trace))[-5000:]
                self._tell("log", text, {"text": text, "level": "warning"})


# ---- the ends of the protocol ---------------------------------------------------------------------


class _Link:
    """Under orch: the two ends of the protocol, on descriptors that no child process inherits."""

    line_max = _LINE_MAX
    problem = ""

    def __init__(self, events, line_max=_LINE_MAX):
        os.set_inheritable(events, False)
        self.line_max = line_max
        self.join = _trial_join()
        self.copies = _trial_runs() is not None
        self._kept = {}
        self._events = events
        self._rest = b""
        self._commands = None
        if self.copies and os.environ.pop("ORCH_COMMANDS", "") != "stdin":
            return  # what reads printed values sends no commands, and stdin is the program's own
        self._commands = os.dup(0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)  # what reads stdin from here on does not swallow the host's commands
        os.close(null)

    def receive(self):
        """The next message; None when there will be none."""
        while b"\n" not in self._rest:
            try:
                chunk = b"" if self._commands is None else os.read(self._commands, _LINE_MAX)
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

    def keep(self, path, name):
        """Copies a file into the trial's folder, over an earlier one of that name."""
        if not self.copies:
            return path
        number = self._kept.setdefault(name, len(self._kept) + 1)
        return _copied(path, os.path.join(_trial_runs(), "handed"), number)

    def has_room_for_output(self, _bytes, _until):
        """None: the host has the output."""
        return False


class _Sender:
    """By hand: writes lines and never waits. What the pipe has no room for is kept, up to a
    bound."""

    line_max = _LINE_MAX
    copies = True
    problem = ""  # why nothing more is sent

    def __init__(self, fd, join):
        self.join = join  # the run's pipe for other processes, in the trial's folder
        self._fd = fd
        self._backlog = b""
        self._kept = 0
        os.set_blocking(fd, False)
        try:
            import fcntl

            fcntl.fcntl(fd, 1031, 1 << 20)  # F_SETPIPE_SZ
        except (ImportError, OSError):
            pass

    def send(self, line):
        if self.problem:
            return False
        if self._backlog:
            if len(self._backlog) + len(line) > _BACKLOG_MAX:
                self.problem = "the recorder does not answer: the rest of the run is not recorded"
                return False
            line = self._backlog + line
        written = 0
        try:
            written = os.write(self._fd, line)
        except BlockingIOError:
            pass
        except OSError as error:
            self.problem = "the recorder is gone (%s): the rest of the run is not recorded" % (
                error.strerror)
            return False
        self._backlog = line[written:] if written < len(line) else b""
        return True

    def keep(self, path, _):
        """Copies a file to where the recorder takes it from."""
        self._kept += 1
        return _copied(path, os.path.join(os.path.dirname(self.join), "handed"), self._kept)

    def t_ms(self):
        """The time of a point now, in JSON; null: the host's."""
        return "null"

    def has_room_for_output(self, _bytes, until):
        """May output be sent now, or when the recorder has read more, until then?"""
        while not self.problem and len(self._backlog) >= _PRINTED_WAITING:
            if time.monotonic() >= until:
                return False
            select.select([], [self._fd], [], 0.1)
            self.send(b"")
        return not self.problem

    def close(self, _status, until=0.0):
        """Writes what is left. Returns what is wrong, or nothing."""
        until = until or time.monotonic() + 1
        while self._backlog and time.monotonic() < until and self.send(b""):
            select.select([], [self._fd], [], 0.1)
        os.close(self._fd)
        return self.problem


def _copied(path, folder, number):
    """Copies a file, and returns the path of the copy. Another process may do it at once."""
    os.makedirs(folder, exist_ok=True)
    copy = os.path.join(folder, "%d-%d" % (os.getpid(), number))
    try:
        shutil.copyfile(path, copy + ".part")
        os.replace(copy + ".part", copy)
    except OSError:
        if os.path.exists(copy + ".part"):
            os.remove(copy + ".part")
        raise
    return copy


def _program():
    """The program: $ORCH_PROGRAM, the one that pip installed with this module, else that of the PATH."""
    own = os.path.join(os.path.dirname(os.path.abspath(__path__[0])), "orch_run", "bin", "orch")
    return os.environ.get("ORCH_PROGRAM") or (own if os.access(own, os.X_OK) else shutil.which("orch"))


class _Recorder(_Sender):
    """`orch record`: a process that lives on after this one until the run is in the store. Ctrl-C
    does not reach it."""

    def __init__(self, begin):
        program = _program()
        if not program:
            raise Error(
                "orch: no program 'orch' on the PATH to record this run with\n"
                "  hint: put its folder on the PATH, or set ORCH_RECORD=off to record nothing")
        try:
            self._process = subprocess.Popen(
                [program, "record", "--begin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True, bufsize=0)
        except OSError as error:
            raise Error(
                "orch: cannot start '%s': %s\n  hint: set ORCH_PROGRAM=/path/to/orch, or "
                "ORCH_RECORD=off to record nothing" % (program, error.strerror)) from None
        answer = None
        try:
            self._process.stdin.write(json.dumps(begin).encode("ascii") + b"\n")
            answer = self._answer(_BEGIN_S)
        except OSError:
            pass
        if answer is None:
            raise Error(self._said(2) or "orch: '%s record' gave no answer" % program)
        self.key, self.checkpoint_dir = answer["run"], answer["checkpoint_dir"]
        super().__init__(os.dup(self._process.stdin.fileno()), answer["join"])
        self._process.stdin.close()
        self._show(self._said(0))
        self._show("recorded by orch as run %s ('orch show %s')" % (self.key[-8:], self.key[-8:]))

    def _answer(self, patience_s):
        """The next line of the recorder, as an object; None: there is none in time."""
        rest, until = b"", time.monotonic() + patience_s
        out = self._process.stdout.fileno()
        while not rest.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                return None
            chunk = os.read(out, 65536)
            if not chunk:
                return None
            rest += chunk
        return json.loads(rest.splitlines()[-1].decode("utf-8"))

    def _said(self, patience_s):
        """What waits on the recorder's stderr; with patience, until its end."""
        errors, text = self._process.stderr.fileno(), b""
        while select.select([errors], [], [], patience_s)[0]:
            chunk = os.read(errors, 65536)
            if not chunk:
                break
            text += chunk
        return text.decode("utf-8", "replace").strip()

    @staticmethod
    def _show(text):
        if text:
            print(text, file=sys.stderr, flush=True)

    def close(self, status, until=0.0):
        """Waits until the run is in the store. Returns what is wrong, or nothing."""
        until = until or time.monotonic() + _END_S
        super().close(status, until)
        try:
            answer = self._answer(max(0.1, until - time.monotonic()))
            if answer is None:
                said = self._said(0.1)
                late = "the recorder has not finished: 'orch ls' shows the run when it has"
                return (self.problem or late) + ("\n" + said if said else "")
            self._show(self._said(1))
            self._process.wait(1)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return self.problem or "the recorder did not end well: 'orch ls' shows the run"
        finally:
            self._process.stdout.close()
            self._process.stderr.close()
        if answer.get("state") != status:
            return "the run is recorded as %s: %s" % (answer.get("state"), answer.get("reason"))
        return ""


class _Join(_Sender):
    """The pipe of a run that another process began, or the file of a further run."""

    line_max = _JOIN_LINE_MAX

    def __init__(self, path):
        self._began = None
        if not os.path.basename(path) == "events":
            super().__init__(_open_pipe(path), path)
            return
        super().__init__(_open_events(path), path)
        with open(path, "rb") as file:
            self._began = json.loads(file.readline().decode("utf-8"))["t_ns"]

    def t_ms(self):
        return "null" if self._began is None else "%.3f" % ((time.time_ns() - self._began) / 1e6)


class _Spool(_Sender):
    """A further run of a trial: a file of its events, with times, in the trial's folder. orch makes
    a run of it when the trial has ended (core/record/further_runs.h)."""

    def __init__(self, number, begin):
        folder = os.path.join(_trial_runs(), "%04d" % number)
        self.join = os.path.join(folder, "events")
        self.key = _new_key()
        self._began = time.time_ns()
        self._backlog, self._kept = b"", 0
        self._fd = os.open(self.join, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                           | os.O_CLOEXEC, 0o600)
        begin = dict(begin, key=self.key, t_ns=self._began)
        self.send(json.dumps(begin).encode("ascii") + b"\n")

    def send(self, line):
        try:
            while line and not self.problem:
                line = line[os.write(self._fd, line):]
        except OSError as error:
            self.problem = "cannot write '%s' (%s): the rest of the run is not recorded" % (
                self.join, error.strerror)
        return not self.problem

    def t_ms(self):
        return "%.3f" % ((time.time_ns() - self._began) / 1e6)

    def has_room_for_output(self, bytes_so_far, _until):
        """The whole output is in the trial's log."""
        return not self.problem and bytes_so_far < _PRINTED_MAX

    def close(self, _status, until=0.0):
        os.close(self._fd)
        return self.problem


def _new_key():
    """A key of a run: a UUID of version 7."""
    raw = bytearray((time.time_ns() // 10**6).to_bytes(6, "big") + os.urandom(10))
    raw[6], raw[8] = raw[6] & 0x0f | 0x70, raw[8] & 0x3f | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _begin_line(about):
    """The first line of a recording, without what is not given."""
    words = getattr(sys, "orig_argv", None) or [sys.executable] + sys.argv
    begin = dict(about, argv=[_utf8(word)[:10000] for word in words[:1000]],
                 facts={"python": sys.version.split()[0], "interpreter": sys.executable})
    return {name: value for name, value in begin.items() if value is not None}


def _open_events(path):
    """The descriptor of the file of a further run, which one of this trial's processes made."""
    if os.path.dirname(os.path.dirname(path)) != _trial_runs():
        raise Error("orch: ORCH_JOIN names '%s', which is no run of this trial\n"
                    "  hint: unset ORCH_JOIN" % path)
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)


def _open_pipe(path, waits=False):
    """The descriptor of the pipe that ORCH_JOIN names. Anything else that the path may name, such
    as a file that would be written over, is not opened, or closed again untouched."""
    try:
        if not _is_own_pipe(os.lstat(path)):
            raise Error(
                "orch: ORCH_JOIN names '%s', which is not a pipe that your own run made\n"
                "  hint: unset ORCH_JOIN" % path)
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, ValueError):
        raise Error(
            "orch: the run to join has ended ('%s')\n  hint: unset ORCH_JOIN" % path) from None
    if not _is_own_pipe(os.fstat(fd)):  # it was exchanged since
        os.close(fd)
        raise Error("orch: the pipe '%s' was replaced\n  hint: unset ORCH_JOIN" % path)
    os.set_blocking(fd, waits)
    return fd


def _is_own_pipe(info):
    return stat.S_ISFIFO(info.st_mode) and info.st_uid == os.geteuid()


def _is_in_trial():
    """Is this process one of a trial's?"""
    return bool(os.environ.get("ORCH_EVENTS")
                or ("ORCH_RUN" in os.environ and _trial_runs() is not None))


def _trial_runs():
    """The folder of the runs of this process's trial; None when it cannot be reached."""
    folder = os.environ.get("ORCH_RUNS", "")
    return folder if folder and os.access(folder, os.W_OK | os.X_OK) else None


def _trial_join():
    """The pipe in it for other processes than the first, if there is one."""
    path = os.path.join(_trial_runs() or "/nowhere", "join")
    try:
        return path if _is_own_pipe(os.lstat(path)) else None
    except OSError:
        return None


def _connect():
    """The link to the host, for the first run of the trial; for each further one None and its
    number, from 2."""
    events = os.environ.pop("ORCH_EVENTS", "")
    problem = _events_problem(events)
    if _trial_runs() is None:
        if problem:
            raise Error(
                "orch: ORCH_EVENTS is '%s', which is %s\n  hint: unset ORCH_EVENTS" % (events[:100], problem))
        return _Link(int(events)), 1
    number = _claim()
    if number > 1:
        return None, number
    if not problem:
        return _Link(int(events)), 1
    join = _trial_join()  # a descendant, to which no descriptor was passed
    return (_Link(_open_pipe(join, True), _JOIN_LINE_MAX), 1) if join else (None, _claim())


def _claim():
    """Takes the next number of a run of this trial, among all processes of the trial."""
    runs = _trial_runs()
    number = sum(name.isdigit() for name in os.listdir(runs)) + 1
    while number <= _RUNS_MAX:
        try:
            os.mkdir(os.path.join(runs, "%04d" % number))
            return number
        except FileExistsError:
            number += 1
    raise Error("orch: a trial has at most %d runs\n  hint: start fewer in one program" % _RUNS_MAX)


def _events_problem(number):
    """What is wrong with the descriptor for events, or nothing."""
    import fcntl

    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return "not the number of a descriptor"
    is_trial = _trial_runs() is not None  # whose descriptor is a pipe; a descendant may have
                                          # another file under its number
    try:
        mode = fcntl.fcntl(int(number), fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR)
        kind = os.fstat(int(number)).st_mode
    except OSError:
        return "not an open descriptor"
    if mode == os.O_RDONLY:
        return "not open for writing"
    if is_trial and not stat.S_ISFIFO(kind):
        return "not a pipe"
    return "a folder" if stat.S_ISDIR(kind) else ""


def _is_off():
    """Nothing is recorded and values are printed: by wish, and in a trial whose folder cannot be
    reached."""
    return "ORCH_RUN" in os.environ or os.environ.get("ORCH_RECORD", "").lower() in _OFF


def _is_child():
    """A process that multiprocessing started."""
    module = sys.modules.get("multiprocessing")  # its children have it loaded
    return bool(module and module.parent_process() is not None)


def _is_worker():
    """A process of several that do one job, and not the first of them. A child of multiprocessing
    is one if its parent records a run; else the run that it begins is its own."""
    if _is_child() and not os.environ.get("ORCH_JOIN"):
        return "ORCH_OPEN_RUN" in os.environ
    outside = os.environ.get("ORCH_OUTER_RANKS", "").split()  # of the job in which orch runs
    ranks = [(name, os.environ.get(name, "")) for name in _RANKS]
    return any(rank.isdigit() and int(rank) > 0 and "%s=%s" % (name, rank) not in outside
               for name, rank in ranks)


def _say_silent():
    """Why a worker's start() records nothing, once a worker."""
    key = os.environ.get("ORCH_OPEN_RUN")
    if key and _is_child() and "silent" not in _hooked:
        _hooked.add("silent")
        print("orch: this worker records nothing, because its parent process records run %s; log in the "
              "parent what the workers return" % key[-8:], file=sys.stderr,
              flush=True)


def _environment():
    """What `run` says, as the host's environment variables have it."""
    get = os.environ.get
    try:
        params = json.loads(get("ORCH_PARAMS", "{}"))
    except ValueError:
        params = {}
    return {"params": params, "seed": get("ORCH_SEED", "0"), "seed64": get("ORCH_SEED64"),
            "smoke": get("ORCH_SMOKE"), "checkpoint_dir": get("ORCH_CHECKPOINT_DIR")}


# ---- the end of the process -----------------------------------------------------------------------

_cell_error = [(None, None, None)]  # of a notebook's last cell: kind, value and trace, if it raised
_hooked = set()
_watched = {}  # id of a stream -> the stream, whose write() tells the runs


def _install_hooks():
    """Remembers an exception that ends the script, and the status that sys.exit is given. An error
    of orch's own is shown without a traceback."""
    if "exit" in _hooked:
        return
    _hooked.add("exit")
    previous_hook, previous_exit = sys.excepthook, sys.exit

    def hook(kind, value, trace):
        if not _is_interactive():
            for run in _open_runs(threading.main_thread()):
                run._remember(kind, value, _unprinted(trace))
        if issubclass(kind, Error):  # its text says what to do; the script has no fault
            print(value, file=sys.stderr, flush=True)
        else:
            previous_hook(kind, value, trace)

    def leave(status=None):
        if threading.current_thread() is threading.main_thread():
            for run in _open_runs(threading.main_thread()):
                run._exit_status = status
        previous_exit(status)

    sys.excepthook, sys.exit = hook, leave
    _install_thread_hook()
    _watch_tasks()
    atexit.register(_end_all)
    if _is_child():  # which ends without atexit
        from multiprocessing import util

        util.Finalize(None, _end_all, exitpriority=100)


def _unprinted(trace):
    """The trace of an exception, unless the run's log has it from stderr."""
    return None if id(sys.stderr) in _watched else trace


def _install_thread_hook():
    """Remembers an exception that ends a thread."""
    previous = threading.excepthook

    def hook(args):
        if args.exc_type is not SystemExit:
            for run in _open_runs(args.thread):
                run._remember(args.exc_type, args.exc_value, _unprinted(args.exc_traceback))
        previous(args)

    threading.excepthook = hook


def _note_failure(error):
    """Remembers an exception that left the function in which a run began."""
    trace = getattr(error, "__traceback__", None)
    for run in _open_runs() if trace is not None else ():
        if run._was_left_by(trace):
            run._remember(type(error), error, trace)
            if _is_child():  # a pool may kill its workers before the run is let go
                run.end()


def _watch_tasks():
    """The task of a pool or an executor ends with its exception as a result, and no thread or
    process ends by it."""
    from concurrent.futures import Future

    def watch(owner, method, error_of):
        previous = getattr(owner, method)

        def watched(self, *args):
            try:
                _note_failure(error_of(args))
            except Exception:  # another Python than those known
                pass
            return previous(self, *args)

        setattr(owner, method, watched)

    watch(Future, "set_exception", lambda args: args[0])
    pool = sys.modules.get("multiprocessing.pool")
    if pool:
        watch(pool.ExceptionWithTraceback, "__init__", lambda args: args[0])
        for kind in (pool.ApplyResult, pool.MapResult, pool.IMapIterator):
            watch(kind, "_set", lambda args: None if args[1][0] else args[1][1])


def _open_runs(thread=None):
    """The runs of this process that have not ended, or those that a thread began."""
    runs = [reference() for reference in list(_open.values())]
    return [run for run in runs if run is not None and run._pid == os.getpid()
            and (thread is None or run._thread is thread)]


def _end_all():
    for run in _open_runs():
        run._at_exit()


def _watch_output():
    """What Python code writes to sys.stdout and sys.stderr is also the log of the runs that are
    open. The streams stay the objects that they are, with their terminal and their descriptors."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or id(stream) in _watched:
            continue

        def write(text, _write=stream.write, _name=name, _tell=_tell_output):
            written = _write(text)
            try:
                _tell(_name, text)
            except Exception:  # the interpreter may be ending
                pass
            return written

        try:
            stream.write = write
        except (AttributeError, TypeError):  # a stream of another kind
            continue
        _watched[id(stream)] = stream


def _tell_output(stream, text):
    """To the runs that this thread began, or to all."""
    runs = _open_runs(threading.current_thread()) or _open_runs()
    for run in runs:
        if isinstance(text, str) and isinstance(run._link, (_Recorder, _Spool)):
            run._print(stream, text)


def _note_open():
    """Tells workers that are started from now on whether this process records a run."""
    keys = [run.key for run in _open_runs() if run.key and run._is_owner() and not run._ended]
    if keys:
        os.environ["ORCH_OPEN_RUN"] = keys[-1]
    else:
        os.environ.pop("ORCH_OPEN_RUN", None)


def _is_interactive():
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules


def _watch_cells():
    """In IPython an exception ends a cell and not the process."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get() if get else None
    if shell is None or "cells" in _hooked:
        return
    _hooked.add("cells")

    def after(result):
        error = result.error_before_exec or result.error_in_exec
        _cell_error[0] = (type(error), error, None) if error else (None, None, None)

    shell.events.register("post_run_cell", after)


# ---- values ---------------------------------------------------------------------------------------

_REPLACED = {ord(c): "_" for c in " \t\n\r\"'`()=<>!~;|&?\\^"}
_quoted = {}  # name of a metric -> as JSON


def _number(value):
    """A number as JSON has it; what JSON has not, as text."""
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _whole(value):
    """A whole number as an int; None for anything else. 2.0 is one, and so are NumPy's."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return None
    try:
        real = float(value)
        return int(value) if real == math.floor(real) and abs(real) < 2**63 else None
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None


def _value_at(mapping, name):
    try:
        return mapping[name]
    except Exception:  # OmegaConf's mandatory value that is missing
        return "???"


def _items(value):
    """The names and values of a mapping of any kind, a dataclass, a named tuple, a namespace; None
    for anything else."""
    kind = type(value)
    if isinstance(value, collections.abc.Mapping):
        return [(name, _value_at(value, name)) for name in value]
    if callable(getattr(value, "flags_by_module_dict", None)):  # absl.flags.FLAGS
        return [(flag.name, flag.value) for module, flags in value.flags_by_module_dict().items()
                if module.split(".")[0] != "absl" for flag in flags]
    for fields in ("__dataclass_fields__", "model_fields", "__fields__", "_fields"):
        names = getattr(kind, fields, None)
        if not isinstance(value, type) and isinstance(names, (dict, tuple)):
            return [(name, getattr(value, name, None)) for name in names]
    if isinstance(getattr(kind, "__attrs_attrs__", None), tuple):
        return [(field.name, getattr(value, field.name, None)) for field in kind.__attrs_attrs__]
    if kind.__name__ in ("Namespace", "SimpleNamespace"):
        return list(vars(value).items())
    if (not isinstance(value, type) and callable(getattr(value, "keys", None))
            and hasattr(kind, "__getitem__") and not hasattr(value, "dtypes")):
        return [(name, _value_at(value, name)) for name in value.keys()]
    return None


def _settings_of(config):
    """The parameters that an argument of start() has, as a dict."""
    items = _items(config)
    if items is None and isinstance(config, type):
        items = [(name, value) for name, value in vars(config).items()
                 if not name.startswith("_") and not callable(value)]
    if items is None and hasattr(config, "__dict__"):
        items = vars(config).items()
    if items is None:
        slots = [name for kind in type(config).__mro__ for name in getattr(kind, "__slots__", ())]
        items = [(name, getattr(config, name, None)) for name in slots] or None
    if items is None:
        raise Error("orch: start() cannot read parameters from a %s\n  hint: give them by name, "
                    "start(lr=0.1), or as a dict" % type(config).__name__)
    return {str(name): value for name, value in items}


def _flatten(values, prefix, out, depth=0):
    """{"a": {"b": 1}} as {"a.b": 1}."""
    for name, value in _items(values) or ():
        name = "%s%s" % (prefix, name)
        inner = _items(value) if depth < _NESTED_MAX else None
        if inner:
            _flatten(value, name + ".", out, depth + 1)
        else:
            out[name] = value


def _label(name, most=_LABEL_BYTES):
    """A name that the store takes: no blanks, quotes and signs of comparison."""
    text = _utf8(name).translate(_REPLACED)
    if not text.isascii() or not text.isprintable():
        text = "".join(c if c.isprintable() and not c.isspace() else "_" for c in text)
    return text.encode("utf-8")[:most].decode("utf-8", "ignore") or "_"


def _utf8(text):
    """A text with a sign in place of what is no character."""
    text = str(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text.replace("\0", "\ufffd")


def _plain(value):
    """A parameter as JSON has it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _utf8(value)[:100000]
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, collections.abc.Sequence) and not isinstance(value, (bytes, bytearray)):
        value = list(value)
    if isinstance(value, collections.abc.Mapping) and not value:
        return "{}"
    if isinstance(value, list) and len(value) <= 1000:
        inner = [_plain(item) for item in value]
        return str(value)[:1000] if any(isinstance(item, list) for item in inner) else inner
    if callable(getattr(value, "item", None)):  # NumPy, torch
        try:
            return _plain(value.item())
        except (TypeError, ValueError, RuntimeError):
            pass
    return str(value)[:1000]


def _recordable(params):
    """The parameters as `orch record` takes them. Names that would become one are kept apart."""
    flat, out = {}, {}
    _flatten(params, "", flat)
    for name, value in flat.items():
        label = base = _label(name)
        number = 2
        while label in out:
            label = "%s_%d" % (base[:90], number)
            number += 1
        if label != base:
            print("orch: warning: parameter '%s' is recorded as '%s', because another one has "
                  "the name '%s'" % (name, label, base), file=sys.stderr, flush=True)
        out[label] = _plain(value)
    if _whole(params.get("seed")) is not None:
        out["seed"] = _whole(params["seed"])
    return out


def _experiment_name(text):
    """The experiment's name as orch has them: as given, or the script's."""
    if text is None:
        script = getattr(sys.modules.get("__main__"), "__file__", None)
        text = os.path.splitext(os.path.basename(script))[0] if script else (
            "notebook" if _is_interactive() else "run")
    kept = (c if c.isalnum() and c.isascii() or c in "_-" else "_" for c in str(text).lower())
    return "".join(kept).lstrip("_-0123456789")[:63] or "run"


def _point_lines(step, values, line_max, t_ms):
    """Lines of the `metrics` event, each short enough."""
    head, tail, texts, length = '{"event":"metrics","points":[', "]}\n", [], 0
    for name, value in values.items():
        quoted = _quoted.get(name)
        if quoted is None:
            quoted = json.dumps(name)
            if len(_quoted) < 10000:
                _quoted[name] = quoted
        number = repr(value) if math.isfinite(value) else '"%s"' % _number(value)
        text = "[%s,%d,%s,%s]" % (quoted, step, t_ms, number)
        if texts and length + len(text) + 64 > line_max:
            yield (head + ",".join(texts) + tail).encode("ascii")
            texts, length = [], 0
        texts.append(text)
        length += len(text) + 1
    if texts:
        yield (head + ",".join(texts) + tail).encode("ascii")


# ---- pictures and tables --------------------------------------------------------------------------


def _with_suffix(name, suffix):
    name = str(name)
    return name if name.lower().endswith(suffix) else name + suffix


def _write_png(path, array):
    """An array of height x width, or height x width x 1, 3 or 4, as a PNG file."""
    rows = array.tolist() if hasattr(array, "tolist") else [list(row) for row in array]
    is_real = any(isinstance(v, float) for row in rows[:8] for v in _numbers_of(row))
    scale = 255 if is_real and max((v for row in rows for v in _numbers_of(row)), default=0) <= 1 else 1
    first = rows[0][0]
    channels = len(first) if isinstance(first, (list, tuple)) else 1
    kind = {1: 0, 3: 2, 4: 6}.get(channels)
    if kind is None:
        raise ValueError("an image has 1, 3 or 4 channels, not %d" % channels)
    lines = b"".join(b"\0" + bytes(min(255, max(0, int(v * scale + 0.5))) if v == v else 0
                                   for v in _numbers_of(row)) for row in rows)

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    size = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, kind, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) +
                   chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def _numbers_of(row):
    for item in row:
        if isinstance(item, (list, tuple)):
            yield from item
        else:
            yield item


def _table_of(rows, columns):
    """The names of the columns and the rows of a table."""
    if hasattr(rows, "columns") and hasattr(rows, "itertuples"):  # pandas
        return [str(name) for name in rows.columns], [list(row) for row in
                                                      rows.itertuples(index=False)]
    if isinstance(rows, collections.abc.Mapping):
        names = list(columns or rows)
        return names, [list(row) for row in zip(*(rows[name] for name in names))]
    rows = list(rows)
    if rows and isinstance(rows[0], collections.abc.Mapping):
        names = list(columns or dict.fromkeys(name for row in rows for name in row))
        return names, [[row.get(name, "") for name in names] for row in rows]
    return list(columns or []), [list(row) for row in rows]


def _write_csv(path, header, lines):
    import csv

    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if header:
            writer.writerow(header)
        writer.writerows(lines)


# ---- reading --------------------------------------------------------------------------------------


class Run(dict):
    """A recorded run: its fields as items (`run["key"]`, `run["state"]`, `run["wall_s"]`), and the
    parameters, results and last values of metrics as `run.params`, `run.results`, `run.metrics`, or
    shorter `run["lr"]`, `run["loss"]`."""

    def __missing__(self, name):
        for scope in ("param", "result", "metric"):
            if "%s.%s" % (scope, name) in self:
                return self["%s.%s" % (scope, name)]
        raise KeyError(name)

    def _of(self, scope):
        head = scope + "."
        return {name[len(head):]: value for name, value in self.items()
                if name.startswith(head) and value is not None}

    @property
    def params(self):
        return self._of("param")

    @property
    def results(self):
        return self._of("result")

    @property
    def metrics(self):
        return self._of("metric")

    def series(self, name):
        """The points of a metric, as a list of (step, value)."""
        shown = _ask("show", self["key"], "--metric", str(name), "--json", db=self.db)
        return [(point["step"], _real(point["value"])) for point in shown["points"]]

    db = None  # the store's file, if it is not that of the current folder


class Runs(list):
    """A list of recorded runs. `to_pandas()` makes a DataFrame of it."""

    def to_pandas(self):
        import pandas

        return pandas.DataFrame([dict(run) for run in self])


def runs(where=None, *, experiment=None, recipe=None, db=None):
    """The recorded runs, oldest first: a list of dicts (Run). `where` is a filter of 'orch help filters':
    runs(where="lr > 0.01 and state = ok")."""
    words = ["export", "--format", "json"]
    for option, value in (("where", where), ("experiment", experiment), ("recipe", recipe)):
        words += ["--%s=%s" % (option, value)] if value is not None else []
    found = Runs(Run(row) for row in _ask(*words, db=db))
    for run in found:
        run.db = db
    return found


def best(metric, *, where=None, by=None, minimize=None, experiment=None, recipe=None, db=None):
    """The settings ranked by a metric, the best one first, as by `orch best`: a list of dicts with
    `settings` (the parameters that vary), `mean`, `n`, `low`, `high`, `runs` and others. Give
    `minimize=True` or `False` if the metric declares no direction."""
    words = ["best", metric, "--json"]
    by = by if by is None or isinstance(by, str) else ",".join(by)
    options = (("where", where), ("by", by), ("experiment", experiment), ("recipe", recipe))
    words += ["--%s=%s" % pair for pair in options if pair[1] is not None]
    words += [] if minimize is None else ["--min" if minimize else "--max"]
    ranked = []
    for ranking in _ask(*words, db=db)["rankings"]:
        for row in ranking["settings"]:
            settings = dict(ranking.get("of") or {}, **(row.pop("by", None) or {}))
            settings = {name: _as_value(text) for name, text in settings.items()}
            ranked.append(dict({"settings": settings}, **row))
    return ranked


class Study:
    """Settings that a search chooses, for a program that runs its trials itself:

        study = orch.study({"lr": "loguniform(1e-4, 1)", "opt": ["sgd", "adam"]}, "max accuracy")
        for _ in range(20):
            with study.trial() as t:
                t.log(accuracy=train(t.lr, t.opt))

    After a crash, start the program again: the search goes on with the runs in the store.

    With `population=8` a trial continues from an earlier one (population-based training): `t.inherited`
    maps the names of that trial's artifacts to their paths. It is empty if the trial begins anew."""

    def __init__(self, space, search, experiment="study", seed=0, sampler=None, population=None):
        self.experiment, self._begun = _experiment_name(experiment), []
        self._names, self._choices = {}, {}  # as recorded -> as typed; -> text -> (recorded, as typed)
        self._words = ["ask", "--json", "--hold", "--search=%s" % search,
                       "--experiment=%s" % self.experiment, "--seed=%d" % seed]
        for name, values in space.items():
            label = _label(name)
            if label in self._names:
                raise Error("orch: parameters '%s' and '%s' would both be recorded as '%s'\n  hint: rename one"
                            % (self._names[label], name, label))
            self._names[label] = name
            if not isinstance(values, str):
                given = [(_choice(value), value) for value in values]
                self._choices[label] = {text: (kept, value) for (text, kept), value in given}
                values = "choice(%s)" % ", ".join(("'%s'" if '"' in text else '"%s"') % text
                                                  for (text, _), _ in given)
            self._words.append("--sweep=%s=%s" % (label, values))
        self._own, self._said = ("member", "parent") if population else (), ""
        self._words += ["--sampler=%s" % sampler] if sampler else []
        self._words += ["--population=%d" % population] if population else []

    def trial(self, **params):
        """Begins the next run. Its parameters are the chosen setting, and `params`."""
        flat = {}
        _flatten(params, "", flat)
        for name in flat:
            if _label(name) in self._names or name in self._own:
                raise Error("orch: the search chooses '%s' itself\n  hint: leave it out of trial(), or out of "
                            "the space" % name)
        if _is_worker():
            raise Error("orch: a trial of a search begins in the first process of a job only\n  hint: send "
                        "its parameters from there to this one")
        open_runs = [(run, text) for run, text in ((run(), text) for run, text in self._begun)
                     if run is not None and not run._ended]
        # the recorder's runs are in the store from their beginning
        pending = ["--pending=" + text for run, text in open_runs if not isinstance(run._link, _Recorder)]
        with subprocess.Popen([_found_program(), *self._words, *pending], bufsize=0, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asking:
            told = json.loads(asking.stdout.read().decode("utf-8") or "{}")
            if "setting" not in told:
                raise Error(asking.stderr.read().decode("utf-8", "replace").strip() or "orch failed")
            if told.get("problem") and len(self._begun) - len(open_runs) >= _WITHOUT_METRIC:
                raise Error("orch: " + told["problem"])
            setting, kept, typed = told["setting"], {}, {}
            for label, text in setting.items():
                known = self._choices.get(label, {}).get(text, (_as_value(text),) * 2)
                kept[label], typed[label] = known
            kept.update((name, told[name]) for name in self._own if told.get(name))
            run = start(dict(params, **kept), experiment=self.experiment)
            try:
                asking.stdin.write(b"\n")  # the next search may ask
            except OSError:
                pass
            said = asking.stderr.read().decode("utf-8", "replace").strip()
        if said != self._said:
            self._said = said
            print(said, file=sys.stderr, flush=True)
        for label, value in typed.items():
            if run.params[label] == kept[label]:  # else that of a trial of `orch run`
                del run.params[label]
                run.params[self._names[label]] = value
        run.inherited = told.get("artifacts", {})
        frame = sys._getframe(1)
        run._begun_in = (id(frame), frame.f_code)
        setting["member"] = told.get("member", 0)
        self._begun.append((weakref.ref(run), ",".join("%s=%s" % pair for pair in setting.items())))
        return run


def _choice(value):
    """One of several values as `orch ask` reads it and as it is recorded."""
    plain = _plain(value)
    if isinstance(plain, (bool, int, float)):
        return json.dumps(plain), plain
    text = plain if isinstance(plain, str) else str(value)[:1000]
    return text, text


def study(space, search, *, experiment="study", seed=0, sampler=None, population=None):
    """Begins a search (Study). `space` maps parameters to ranges, such as "loguniform(1e-4, 1)", or to
    lists of choices. `search` is for example "max accuracy"."""
    return Study(space, search, experiment, seed, sampler, population)


class Table(Runs):
    """A table of a report: a list of dicts. `to_pandas()` makes a DataFrame of it."""

    def __init__(self, block):
        super().__init__(block["rows"])
        self.shown = block["shown"]

    def _repr_html_(self):
        shown, above, below = self.shown, [], []
        groups = shown["groups"] if any(shown["groups"]) else []
        for k, label in enumerate(shown["labels"]):
            if not groups or groups[k]:
                below.append("<th>%s</th>" % html.escape(label))
            if groups and not groups[k]:
                above.append('<th rowspan="2">%s</th>' % html.escape(label))
            elif groups and (k == 0 or groups[k - 1] != groups[k]):
                span = next((n for n, g in enumerate(groups[k:]) if g != groups[k]), len(groups) - k)
                above.append('<th colspan="%d">%s</th>' % (span, html.escape(groups[k])))
        rows = ["".join('<td style="text-align:%s">%s</td>' % ("right" if right else "left", html.escape(cell))
                        for cell, right in zip(row, shown["is_right"])) for row in shown["cells"]]
        head = "".join("<tr>%s</tr>" % "".join(line) for line in (above, below) if line)
        return "<table><thead>%s</thead><tbody>%s</tbody></table>" % (
            head, "".join("<tr>%s</tr>" % row for row in rows))


class Section(dict):
    """A part of a report: question, title, state, blocks and runs, as `orch report --json` has them."""

    @property
    def answer(self):
        """The sentence with which the section begins, or None."""
        return next((b["text"] for b in self["blocks"] if b["kind"] == "answer"), None)

    @property
    def tables(self):
        return [Table(b) for b in self["blocks"] if b.get("shown") and b["kind"] == "table"]

    @property
    def charts(self):
        """The data of the section's charts: title, axes and series with their points."""
        return [b["chart"] for b in self["blocks"] if "chart" in b]

    def _repr_html_(self):
        parts = ["<h4>%s</h4>" % html.escape(" ".join(filter(None, (self["question"], self["title"]))))]
        for block in self["blocks"]:
            text = block.get("text")
            if block["kind"] == "answer":
                parts.append("<p><b>%s</b></p>" % html.escape(text))
            elif block["kind"] == "code":
                parts.append("<pre>%s</pre>" % html.escape(text))
            elif text and block["kind"] != "student":
                before = "missing: " if block["kind"] == "missing" else ""
                parts.append("<p>%s</p>" % html.escape(before + text))
            if block.get("hint"):
                parts.append("<p>get it with: <code>%s</code></p>" % html.escape(block["hint"]))
            if block.get("shown"):
                parts.append(Table(block)._repr_html_())
            if block.get("obstacle"):
                parts.append("<p>not drawn: %s</p>" % html.escape(block["obstacle"]))
            if block.get("svg"):
                parts.append('<div style="max-width:640px">%s</div>' % block["svg"])
            parts += [_picture_html(p) for p in block.get("pictures") or []]
        return "\n".join(parts)


def _picture_html(picture):
    caption = html.escape(picture["caption"] or "picture")
    try:
        with open(picture["path"], "rb") as file:
            data = base64.b64encode(file.read()).decode("ascii")
    except OSError as error:
        return "<p>%s is not shown: %s</p>" % (caption, html.escape(str(error)))
    return ('<figure style="display:inline-block"><img alt="%s" src="data:image/png;base64,%s">'
            "<figcaption>%s</figcaption></figure>" % (caption, data, caption))


class Report(list):
    """The sections of a report. A notebook shows its answers, tables and charts."""

    def __getitem__(self, key):
        """By number, or the sections of a question, or with that title: report["1.1c"]."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        return Report(s for s in self if key in (s["question"], s["title"]))

    def _repr_html_(self):
        return "\n".join(section._repr_html_() for section in self)


def report(recipe, *options, only=None, db=None):
    """Computes a recipe's report from the store: a list of sections (Section). `only` is a question
    or a list of questions ("1.1c"); `options` are those of `orch report` ("-p", "course")."""
    words = ["report", os.fspath(recipe), *options, "--json", "--drawn"]
    for question in [only] if isinstance(only, str) else only or []:
        words += ["--only", question]
    return Report(Section(section) for section in _ask(*words, db=db)["sections"])


def _as_value(text):
    """A number or a truth value that was written as text."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return text
    return value if isinstance(value, (bool, int, float)) else text


def _real(value):
    return float("nan") if value is None else float(value)


def _found_program():
    program = _program()
    if not program:
        raise Error("orch: no program 'orch' on the PATH\n  hint: put its folder on the PATH")
    return program


def _ask(*words, db=None):
    """What a command of orch prints, as JSON."""
    command = [_found_program(), *words] + (["--db", os.fspath(db)] if db is not None else [])
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Error(done.stderr.decode("utf-8", "replace").strip() or "orch failed")
    return json.loads(done.stdout.decode("utf-8"))


# ---- operators of a PyTorch model ---------------------------------------------------------------

# Operators whose result is their input in another shape, beside those whose schema says so.
_VIEWS = {"_unsafe_view", "_reshape_alias", "lift_fresh", "lift_fresh_copy", "detach_", "alias",
          "as_strided_", "t_", "transpose_", "squeeze_", "unsqueeze_", "unsafe_split", "unsafe_chunk",
          "unsafe_split_with_sizes"}
_NO_KERNEL = ("empty", "new_empty", "_local_scalar_dense", "resize_", "set_", "sym_")
_OPS_VERSION = 1
_ATTENTION = "scaled_dot_product_attention"
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_LAYOUTS_MAX = 16


def export_ops(model, inputs, path, *, train=True, batch_axis=None):
    """Writes the operators of a PyTorch model with their shapes, types and parameters, for
    `orch predict --net FILE` and `orch net show FILE`. Nothing is computed, so a model that was made
    with `torch.device("meta")` needs no memory. PyTorch 1.13 or later is needed.

    `inputs` is a tensor, a tuple of the model's arguments, or a dict of its named arguments, with the
    sizes of a step; only shapes and types are read. `path` ends in .jsonl. The model is exported in
    training mode, unless `train=False`. If possible, `orch predict --batch` and `--tokens` can set other
    sizes later; otherwise the file says why not. If the batch is not the first axis, set `batch_axis`:
    an axis, or a tuple with one axis for each tensor (None: it has no batch)."""
    path = os.fspath(path)
    if not path.endswith(".jsonl"):
        raise Error("orch: cannot export to '%s'\n  hint: use a name that ends in .jsonl" % path)
    try:
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.utils._python_dispatch import TorchDispatchMode  # noqa: F401
    except ImportError as problem:
        raise Error("orch: cannot export the operators: %s\n  hint: PyTorch 1.13 or later is needed"
                    % problem) from None
    if any(torch.nn.parameter.is_lazy(x) for x in itertools.chain(model.parameters(), model.buffers())):
        raise Error("orch: the model has lazy modules, which have no sizes yet\n  hint: call the model once, "
                    "then export it")
    given = _example_of(torch, inputs)
    def trace(layout, batch, sequence):
        tensors = functools.partial(given.tensors, torch, layout, batch, sequence)
        return _trace(torch, FakeTensorMode, model, tensors, train), batch, sequence
    traces, layout, fixed = _traces_of(trace, given, batch_axis)
    lines = [{"format": "orch operators", "version": _OPS_VERSION, "model": type(model).__name__,
              "torch": torch.__version__, "training": bool(train), "batch": layout.batch,
              "sequence": layout.sequence, "fixed": fixed}]
    for name, value in model.named_parameters():
        lines.append({"parameter": name, "shape": list(value.shape), "dtype": _dtype(value),
                      "trainable": bool(value.requires_grad)})
    lines += _operator_lines(traces)
    draft = "%s.%d" % (path, os.getpid())
    try:
        with open(draft, "w", encoding="utf-8") as out:
            for line in lines:
                out.write(json.dumps(line, separators=(",", ":")) + "\n")
        os.replace(draft, path)
    except OSError as problem:
        raise Error("orch: cannot write '%s': %s" % (path, problem.strerror)) from None


def _dtype(tensor):
    return str(tensor.dtype).replace("torch.", "")


class _Example:
    """The inputs of a step as shapes: `leaves` are (shape, dtype) of tensors, or other values."""

    def __init__(self, torch, args, kwargs):
        from torch.utils._pytree import tree_flatten

        leaves, self.tree = tree_flatten((args, kwargs))
        self.leaves = [(tuple(x.shape), x.dtype) if isinstance(x, torch.Tensor) else x for x in leaves]
        self.is_tensor = [isinstance(x, torch.Tensor) for x in leaves]
        self.shapes = [leaf[0] for leaf, is_one in zip(self.leaves, self.is_tensor) if is_one]
        if not any(self.shapes):
            raise Error("orch: the inputs have no tensor with a batch axis\n  hint: give the model's "
                        "arguments: a tensor, a tuple of them, or a dict by name")

    def layouts(self, asked):
        """Where the batch may be, the likeliest first: layouts in which a tensor has it where the
        first one has it, on all axes of that size, on another one, or nowhere."""
        first = next(i for i, shape in enumerate(self.shapes) if shape)
        places = range(len(self.shapes[first]))
        if asked is not None and asked not in places:
            asked = asked if isinstance(asked, (list, tuple)) else [asked]
            yield _Layout(self, [() if axis is None else (axis,) for axis in asked])
        for axis in (0, 1) if asked is None else (asked,):
            if axis not in places:
                return
            size = self.shapes[first][axis]
            choices = []
            for i, shape in enumerate(self.shapes):
                fits = sorted((k for k in range(len(shape)) if shape[k] == size), key=lambda k, a=axis: k != a)
                ways = [(k,) for k in fits]
                ways[1:1] = [tuple(fits)] if len(fits) > 1 else []
                choices.append([(axis,)] if i == first else ways + [()])
            for axes in itertools.islice(itertools.product(*choices), _LAYOUTS_MAX):
                yield _Layout(self, axes)

    def tensors(self, torch, layout, batch, sequence):
        """The arguments with another batch and length of sequences."""
        from torch.utils._pytree import tree_unflatten

        made, axes = [], iter(layout.axes)
        for leaf, is_one in zip(self.leaves, self.is_tensor):
            if is_one:
                shape, own = list(leaf[0]), next(axes)
                for axis in own:
                    shape[axis] = batch
                if len(own) == 1 and len(shape) == 2 and shape[1 - own[0]] == layout.sequence:
                    shape[1 - own[0]] = sequence
                leaf = torch.empty(shape, dtype=leaf[1])
            made.append(leaf)
        return tree_unflatten(made, self.tree)


class _Layout:
    """The axes of each tensor that are the batch, as tuples, with its size, and the length of sequences
    of tokens."""

    def __init__(self, given, axes):
        self.axes = axes
        tensors = [leaf for leaf, is_one in zip(given.leaves, given.is_tensor) if is_one]
        where = [(leaf, axis) for leaf, own in zip(tensors, axes) for axis in own]
        sizes = {leaf[0][axis] if axis in range(len(leaf[0])) else None for leaf, axis in where}
        if len(axes) != len(tensors) or len(sizes) != 1 or None in sizes:
            raise Error("orch: batch_axis %s does not fit the inputs: %s\n  hint: give the batch "
                        "axis, or a tuple with one axis for each tensor (None: it has no batch)"
                        % ([axis for own in axes for axis in own or [None]],
                           ", ".join(_by_x(leaf[0]) for leaf in tensors)))
        self.batch, self.axis, self.shape = sizes.pop(), where[0][1], where[0][0][0]
        tokens = [shape[1 - axis] for (shape, kind), axis in where
                  if len(shape) == 2 and not kind.is_floating_point]
        self.sequence = tokens[0] if tokens else None


def _by_x(shape):
    return "x".join(str(size) for size in shape) or "a number"


def _example_of(torch, inputs):
    if isinstance(inputs, collections.abc.Mapping):
        return _Example(torch, (), dict(inputs))
    return _Example(torch, tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,), {})


def _traces_of(trace, given, asked):
    """The operators for the sizes as they are, for twice the batch and for another length of
    sequences, as a list of (operators, batch, sequence); the layout of the inputs; and why a size is
    fixed, by its name."""
    traces, fixed, layout, first = [None, None, None], {}, None, None
    settled = None  # an axis with which the model ran: no other layout has its batch there
    for tried in given.layouts(asked):
        layout = layout or tried
        if tried.axis == settled:
            continue
        # norms over a batch of one image refuse to train, so that an open batch is seen at two
        rows = max(tried.batch, 2)
        try:
            one, two = trace(tried, rows, tried.sequence), trace(tried, 2 * rows, tried.sequence)
            why = _difference(one, two, 0) or (_turned(one, two, tried.axis) if asked is None else None)
            if not why and tried.axis and asked is None and not _has_sequences(one[0]):
                why = "nothing tells that axis %d is the batch" % tried.axis
            settled = tried.axis
        except Error as problem:
            why = _cause_of(problem)
        if not why:
            layout, traces[:2] = tried, (one, two)
            break
        first = first or why
    if not traces[0]:
        fixed["batch"] = first
        traces[0] = trace(layout, layout.batch, layout.sequence)
    elif layout.axis:
        fixed["batch_axis"] = "the batch is axis %d of the inputs, %s" % (layout.axis, _by_x(layout.shape))
    if layout.sequence:
        length = layout.sequence
        length = length // 2 if length % 2 == 0 and length > 2 else 2 * length
        try:
            traces[2] = trace(layout, traces[0][1], length)
            why = _difference(traces[0], traces[2], 1)
        except Error as problem:
            why = _cause_of(problem)
        if why:
            fixed["sequence"] = why
            traces[2] = None
    return traces, layout, fixed


def _cause_of(problem):
    return "another one does not run: " + str(problem.__cause__ or problem).strip().split("\n")[0]


def _shapes_of(operator):
    return [shape for _, shape in operator["in"]] + [operator["out"]]


def _grows(one, other):
    return [a != b for a, b in zip(one, other)]


def _difference(one, other, axis):
    """Why the sizes of two traces are no multiples of the sizes they were made with, or the work of an
    operator is not in proportion to the batch; None if all is as it should be."""
    ratio, size = other[1 + axis] / one[1 + axis], one[1 + axis]
    if len(one[0]) != len(other[0]):
        return "there are %d operators for %d, and %d for %d" % (len(one[0]), size, len(other[0]),
                                                                other[1 + axis])
    for a, b in zip(one[0], other[0]):
        shapes = list(zip(_shapes_of(a), _shapes_of(b)))
        if a["op"] != b["op"] or len(a["in"]) != len(b["in"]) or any(len(x) != len(y) for x, y in shapes):
            return "operator '%s' becomes '%s'" % (a["op"], b["op"])
        for x, y in shapes:
            powers = [_power(i, k, ratio, size) for i, k in zip(x, y)]
            for i, k, power in zip(x, y, powers):
                if power is None:
                    return "a size of operator '%s' is %d for %d, and %d for %d" % (
                        a["op"], i, size, k, other[1 + axis])
            if axis == 0 and sum(powers) > 1:
                return "operator '%s' grows with the batch squared" % a["op"]
        if axis == 0 and a["op"] == _ATTENTION and all(_grows(*shapes[i])[-2] for i in (0, 1)):
            return "operator '%s' grows with the batch squared" % a["op"]
    return None


def _turned(one, other, axis):
    """Why the axis that grows is one of steps or tokens, not the batch; None if nothing tells so."""
    of_inputs = set()
    for a, b in zip(one[0], other[0]):
        sources = [source for source, _ in a["in"]]
        grows = [_grows(x, y) for x, y in zip(_shapes_of(a), _shapes_of(b))]
        if a["op"] == "input" or of_inputs.intersection(s for s in sources if isinstance(s, int)):
            of_inputs.add(a["id"])
        if a["op"] in _RECURRENT and grows[0][1 if a["arguments"]["batch_first"] else 0]:
            return "axis %d of the inputs counts the steps of operator '%s'" % (axis, a["op"])
        is_one = a["op"] == _ATTENTION and (grows[0][-2] or grows[1][-2])
        if a["op"] in ("bmm", "baddbmm") and sources[-1] in of_inputs:  # not by weights
            is_one = not grows[-2][0] and any(grows[-3] + grows[-2])
        if is_one:
            return "axis %d of the inputs counts the tokens of operator '%s'" % (axis, a["op"])
    return None


def _has_sequences(operators):
    return any(a["op"] in _RECURRENT or a["op"] in (_ATTENTION, "bmm", "baddbmm") for a in operators)


def _power(one, other, ratio, size):
    """0, 1 or 2: how a size grows with another one, `size`; None if otherwise."""
    for power in range(3):
        if abs(one * ratio**power - other) < 0.5 and one % size**power == 0:
            return power
    return None


def _open_size(sizes, traces):
    """A size as "12b", 12 for each of the batch, "bs", or a number."""
    factor, letters = sizes[0], ""
    for axis, letter in ((0, "b"), (1, "s")):
        if traces[1 + axis]:
            base = traces[0][1 + axis]
            power = _power(sizes[0], sizes[1 + axis], traces[1 + axis][1 + axis] / base, base)
            letters += letter * power
            factor //= base**power
    return factor if not letters else (str(factor) if factor != 1 else "") + letters


def _operator_lines(traces):
    lines = []
    for at, operator in enumerate(traces[0][0]):
        twins = [trace and trace[0][at] for trace in traces]
        shapes = [twin and _shapes_of(twin) for twin in twins]
        opened = []
        for i, shape in enumerate(shapes[0]):
            opened.append([_open_size([s and s[i][d] for s in shapes], traces)
                           for d in range(len(shape))])
        line = dict(operator, out=opened[-1])
        line["in"] = [[source, shape] for (source, _), shape in zip(operator["in"], opened)]
        lines.append(line)
    return lines


def _trace(torch, fake_mode, model, tensors, train):
    """The operators of one pass, with sizes in numbers: dicts with id, op, in, out, dtype, arguments."""
    modules = list(model.modules())
    modes = [module.training for module in modules]
    held = [(module._parameters, dict(module._parameters)) for module in modules]
    held += [(module._buffers, dict(module._buffers)) for module in modules]
    flat = [(module, module._flat_weights) for module in modules if "_flat_weights" in vars(module)]
    try:
        # the model's device may be CUDA's or none: all fake tensors are on the CPU
        # and gradients are kept as in a training, because products are folded otherwise without them
        with fake_mode(), torch.set_grad_enabled(bool(train)):
            recorder = _recorder_of(torch)(torch)
            names = {id(value): name for name, value in model.named_parameters()}
            made = {}
            for module in modules:
                for values in (module._parameters, module._buffers):
                    for name, value in list(values.items()):
                        if value is not None:
                            if id(value) not in made:
                                made[id(value)] = torch.empty(value.shape, dtype=value.dtype)
                                is_weight = not train and values is module._parameters
                                made[id(value)].requires_grad_(bool(value.requires_grad or (
                                    is_weight and value.dtype.is_floating_point)))
                                recorder.hold(made[id(value)], names.get(id(value)))
                            values[name] = made[id(value)]
            for module, weights in flat:  # recurrent layers have a list beside their parameters
                module._flat_weights = [made.get(id(weight), weight) for weight in weights]
            args, kwargs = tensors()
            recorder.take_inputs(args, kwargs)
            model.train(train)
            with _quiet_fakes(), _fused_functions(torch, recorder), recorder:
                result = model(*args, **kwargs)
            return recorder.finish(result)
    except Error:
        raise
    except Exception as problem:
        if os.environ.get("ORCH_DEBUG"):
            raise
        text = str(problem).strip().split("\n")[0] or type(problem).__name__
        raise Error("orch: the model does not run on tensors without values: %s\n  hint: export it to "
                    "ONNX, which 'orch predict --net model.onnx' reads, too (ORCH_DEBUG=1 shows the "
                    "traceback)" % text) from problem
    finally:
        for values, were in held:
            values.clear()
            values.update(were)
        for module, weights in flat:
            module._flat_weights = weights
        for module, mode in zip(modules, modes):
            module.training = mode


class _quiet_fakes:
    """PyTorch logs a traceback where fake tensors do not fit, as with another length of sequences;
    the error comes as an exception as well."""

    def __enter__(self):
        import logging  # pylint: disable=import-outside-toplevel
        self.log = logging.getLogger("torch._subclasses.fake_tensor")
        self.was = self.log.disabled
        self.log.disabled = not os.environ.get("ORCH_DEBUG")

    def __exit__(self, *_):
        self.log.disabled = self.was


class _fused_functions:
    """Attention, dropout and the layers of recurrent modules are recorded as one operator each: on a
    CPU they would fall apart into others than on a GPU. In inference PyTorch has operators for whole
    layers of a transformer, which fall apart into the others here."""

    def __init__(self, torch, recorder):
        self.torch, self.recorder, self.were = torch, recorder, []

    def replace(self, owner, name, own):
        if hasattr(owner, name):
            self.were.append((owner, name, vars(owner).get(name)))
            setattr(owner, name, own)

    def record(self, name, operands, shape, arguments):
        """One operator with a new value of that shape, which has the type of the first operand."""
        out = self.empty(shape, operands[0])
        self.recorder.add(name, operands, out, arguments)
        return out

    def empty(self, shape, like):
        with self.recorder.pausing():
            return self.torch.empty(tuple(shape), dtype=like.dtype)

    def attention(self, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, **_):
        return self.record(_ATTENTION, [query, key, value], query.shape[:-1] + value.shape[-1:],
                           {"is_causal": bool(is_causal), "dropout_p": float(dropout_p)})

    def dropout(self, input, p=0.5, training=True, inplace=False):
        return self.record("dropout", [input], input.shape, {"p": float(p)}) if training and p else input

    def recurrent(self, name, data, *args):
        # after `data` come: sizes of a packed batch, if it is one; states; weights; settings
        at = 1 if isinstance(args[2], (list, tuple)) else 0
        states, weights = args[at], list(args[at + 1])
        has_bias, layers, drop, training, is_both = args[at + 2:at + 7]
        batch_first, each = bool(not at and args[7]), len(weights) // (layers * (1 + is_both))
        for layer in range(layers):
            outs = []
            for way in range(1 + is_both):
                own, weights = weights[:each], weights[each:]
                biases = [own.pop(2), own.pop(2)] if has_bias else []  # before a projection's matrix
                outs.append(self.record(name, [data] + own + biases, data.shape[:-1] + own[1].shape[1:],
                                        {"batch_first": batch_first, "reverse": way == 1}))
            data = outs[0]
            if is_both:
                data = self.record("cat", outs, data.shape[:-1] + (2 * data.shape[-1],), {})
            data = self.dropout(data, drop, training and layer + 1 < layers)
        states = states if isinstance(states, (list, tuple)) else [states]
        ends = tuple(self.empty(state.shape, state) for state in states)
        for end in ends:
            self.recorder.hold(end, self.recorder.sources[id(data)])
        return (data,) + ends

    def __enter__(self):
        torch = self.torch
        self.replace(torch.nn.functional, _ATTENTION, self.attention)
        self.replace(torch.nn.functional, "dropout", self.dropout)
        for name in _RECURRENT:
            self.replace(torch._VF, name, functools.partial(self.recurrent, name))
        self.mha = getattr(torch.backends, "mha", None)
        if self.mha:
            self.was_fast = self.mha.get_fastpath_enabled()
            self.mha.set_fastpath_enabled(False)
        else:  # older versions: modules with gradients do without them
            self.replace(torch, "is_grad_enabled", lambda: True)
        return self

    def __exit__(self, *_):
        if self.mha:
            self.mha.set_fastpath_enabled(self.was_fast)
        for owner, name, was in self.were:
            if was is None:
                delattr(owner, name)
            else:
                setattr(owner, name, was)


def _recorder_of(torch):
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_flatten

    class Recorder(TorchDispatchMode):
        """Writes down what is dispatched: operators on tensors, after PyTorch has taken compound
        functions apart."""

        def __init__(self, torch):
            super().__init__()
            self.operators, self.sources, self.kept = [], {}, []
            self.is_paused = False

        def hold(self, tensor, source):
            """Says where a tensor's values come from: an operator's id, a parameter's name, or None."""
            self.kept.append(tensor)  # so that no other tensor gets its id
            self.sources[id(tensor)] = source

        def take_inputs(self, args, kwargs):
            for value in tree_flatten((args, kwargs))[0]:
                if isinstance(value, torch.Tensor):
                    self.add("input", [], value, {})

        def pausing(self):
            recorder = self

            class Pause:
                def __enter__(self):
                    self.was, recorder.is_paused = recorder.is_paused, True

                def __exit__(self, *_):
                    recorder.is_paused = self.was

            return Pause()

        def add(self, name, operands, out, arguments):
            outs = [x for x in tree_flatten(out)[0] if isinstance(x, torch.Tensor)]
            if not outs:
                return
            line = {"id": len(self.operators), "op": name, "dtype": _dtype(outs[0]),
                    "in": [[self.sources.get(id(x)), list(x.shape)] for x in operands],
                    "out": list(outs[0].shape)}
            if arguments:
                line["arguments"] = arguments
            for x in outs:
                self.hold(x, line["id"])
            self.operators.append(line)

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            # PyTorch 2 refuses this itself, unless the value is a constant that it knows
            if func._schema.name == "aten::_local_scalar_dense" and torch.__version__.startswith("1."):
                raise RuntimeError("its code reads the value of a tensor")
            out = func(*args, **(kwargs or {}))
            if not self.is_paused:
                self.note(func, args, kwargs or {}, out)
            return out

        def note(self, func, args, kwargs, out):
            schema = func._schema
            name = schema.name[6:] if schema.name.startswith("aten::") else schema.name
            operands = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
            is_view = name in _VIEWS or any(r.alias_info is not None and not r.alias_info.is_write
                                            for r in schema.returns)
            is_weight = operands and isinstance(self.sources.get(id(operands[0])), str)
            is_cast = is_weight and name in ("_to_copy", "clone", "contiguous")
            if name.startswith(_NO_KERNEL) or ((is_view or is_cast) and operands):
                source = self.sources.get(id(operands[0])) if operands else None
                for x in tree_flatten(out)[0]:
                    if isinstance(x, torch.Tensor):
                        self.hold(x, source)
                return
            self.add(name, operands, out, self.arguments_of(schema, args, kwargs))

        @staticmethod
        def arguments_of(schema, args, kwargs):
            given = {a.name: value for a, value in zip(schema.arguments, args)}
            given.update(kwargs)
            def is_plain(value):
                return isinstance(value, (bool, int, float, str))
            out = {}
            for name, value in given.items():
                if is_plain(value) or (isinstance(value, (list, tuple)) and len(value) <= 16 and
                                       all(is_plain(x) for x in value)):
                    if not isinstance(value, float) or math.isfinite(value):
                        out[name] = list(value) if isinstance(value, (list, tuple)) else value
            return out

        def finish(self, result):
            """The operators, with a last line for the output that a loss compares: the first one."""
            values = result
            if isinstance(result, collections.abc.Mapping):
                values = list(result.values())
            found = [x for x in tree_flatten(values)[0] if isinstance(x, torch.Tensor)]
            if found and isinstance(self.sources.get(id(found[0])), int):
                self.operators.append({"id": len(self.operators), "op": "output", "dtype": _dtype(found[0]),
                                       "in": [[self.sources[id(found[0])], list(found[0].shape)]],
                                       "out": list(found[0].shape)})
            return self.operators

    return Recorder
