# SPDX-License-Identifier: MIT
"""What a script uses of W&B, recorded by orch: replace `import wandb` by

    import orch.wandb as wandb

init, config, log, summary, define_metric, Image, Table, Histogram, Artifact, save, alert, finish. What
is not here raises orch.Error, which says what to do instead. Metrics have W&B's names and steps: a
step is counted by call, and commit=False adds to the next one."""
import copy
import os
import sys

import orch

__all__ = ["init", "log", "finish", "define_metric", "watch", "unwatch", "save", "log_artifact",
           "alert", "login", "setup", "termlog", "termwarn", "termerror", "Settings", "Image", "Table",
           "Histogram", "Artifact", "Run"]

_INSTEAD = {
    "sweep": "a search is a recipe or 'orch try --search' ('orch help search')",
    "agent": "a search is a recipe or 'orch try --search' ('orch help search')",
    "Api": "orch.runs() and orch.best() read what was recorded ('orch help python')",
    "restore": "read the artifact with 'orch show RUN --artifact NAME'",
    "use_artifact": "read the artifact with 'orch show RUN --artifact NAME'",
    "plot": "log a figure of Matplotlib, or a Table, which the page shows",
    "plots": "log a figure of Matplotlib, or a Table, which the page shows",
    "keras": "use orch.callbacks ('orch help python')",
    "integration": "use orch.callbacks ('orch help python')",
    "sklearn": "use orch.callbacks.log_search ('orch help python')",
    "xgboost": "use orch.callbacks.XGBoost ('orch help python')",
    "lightgbm": "use orch.callbacks.LightGBM ('orch help python')",
}
_FILES = ("Audio", "Video", "Html", "Object3D", "Molecule", "JoinedTable", "Plotly")
_ALONE = ("entity", "dir", "job_type", "group", "anonymous", "save_code", "settings", "force", "magic",
          "sync_tensorboard", "monitor_gym", "allow_val_change", "fork_from", "resume_from",
          "config_exclude_keys", "config_include_keys")

_run = None


def _lacks(name):
    hint = _INSTEAD.get(name) or ("keep it with wandb.save(path)" if name in _FILES else
                                  "record that run with W&B itself ('import wandb'): 'orch try' and "
                                  "'orch import --runs' read what it writes")
    return orch.Error("orch: orch.wandb has no '%s'\n  hint: %s" % (name, hint))


def __getattr__(name):
    if name == "run":
        return _run
    if name in ("config", "summary"):
        return getattr(_opened(name), name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise _lacks(name)


def _opened(name):
    if _run is None:
        raise orch.Error("orch: wandb.%s needs a run\n  hint: call wandb.init() first" % name)
    return _run


def init(project=None, config=None, name=None, tags=None, notes=None, mode=None, reinit=None,
         id=None, resume=None, **others):
    """Begins a run: orch.start() with the config, in the experiment that `project` names. An open
    run is returned as it is, unless reinit is true. mode="disabled" records nothing."""
    global _run
    for other in others:
        if other not in _ALONE:
            raise _lacks("init(%s=...)" % other)
    if resume == "must" or (id is not None and resume is True):
        raise orch.Error("orch: orch.wandb cannot continue a run that has ended\n  hint: leave out resume=")
    if _run is not None and not reinit:
        return _run
    if _run is not None and reinit != "create_new":
        _run.finish()
    _run = Run(project, config, name, tags, notes, mode)
    return _run


class Config(dict):
    """The settings, by item and by attribute. One that is set after init() is a logged setting, and
    not one that identifies the run."""

    def __init__(self, values, tell):
        super().__init__(values)
        object.__setattr__(self, "_tell", tell)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError("the config has no '%s'; it has %s"
                                 % (name, ", ".join(map(str, self)) or "nothing")) from None

    def __setitem__(self, name, value):
        if name not in self or self[name] != value:
            super().__setitem__(name, value)
            self._tell({name: value})

    __setattr__ = __setitem__

    def update(self, *what, allow_val_change=None, **values):
        for more in what + (values,):
            for name, value in orch._settings_of(more).items():
                self[name] = value

    def setdefaults(self, values):
        for name, value in orch._settings_of(values).items():
            if name not in self:
                self[name] = value

    def as_dict(self):
        return dict(self)


class Summary(dict):
    """The last value of each metric, and what the script sets, which becomes a result of the run."""

    def __init__(self, run):
        super().__init__()
        object.__setattr__(self, "_run", run)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        self._run._result(name, value)

    __setattr__ = __setitem__

    def update(self, *what, **values):
        for more in what + (values,):
            for name, value in dict(more).items():
                self[name] = value


class Run:
    """A run as W&B has it."""

    def __init__(self, project, config, name, tags, notes, mode):
        given = {} if config is None else orch._settings_of(config)
        is_off = mode == "disabled" or os.environ.get("WANDB_MODE") == "disabled"
        self._run = None if is_off else orch.start(given, experiment=project, tags=tags or (), name=name)
        values = copy.deepcopy(given)
        for path, value in (self._run.params if self._run else {}).items():
            _set(values, path, value)
        self.config = Config(values, self._settings)
        self.summary = Summary(self)
        self.step, self._waiting, self._has_step = 0, {}, False
        self._defined = []  # (pattern, its step's metric, kinds of summary)
        self._bests = {}
        self.name, self.project, self.tags, self.notes = name, project, tuple(tags or ()), notes
        self.id = self._run.key if self._run and self._run.key else "unrecorded"
        self.entity = self.group = self.job_type = self.url = None
        self.resumed = self.disabled = False
        if notes and self._run:
            self._run.note(notes)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self._commit()
        if self._run:
            self._run._remember(kind, value, trace)
        self.finish()
        return False

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise _lacks(name)

    @property
    def dir(self):
        return self._run.checkpoint_dir if self._run else os.getcwd()

    def log(self, data, step=None, commit=None, sync=None):
        """The values of a step. Numbers are metrics; pictures and tables are artifacts."""
        if step is not None:
            if step < self.step:
                self._warn("step %d is not recorded, because the current step is %d already" % (step, self.step), "step")
                return
            if step > self.step:
                self._commit()
                self.step = step
        self._waiting.update(data)
        self._has_step = True
        if commit or (commit is None and step is None):
            self._commit()
            self.step += 1

    def define_metric(self, name, step_metric=None, step_sync=None, hidden=None, summary=None,
                      goal=None, overwrite=None):
        """Metrics of that name (`train/*`) have the value of another one as their step; `summary`
        ("min", "max", "mean", "best") makes that a result, `NAME.min`."""
        kinds = [kind.strip() for kind in (summary or "").split(",") if kind.strip()]
        kinds = [goal[:3] if kind == "best" and goal else "min" if kind == "best" else kind for kind in kinds]
        for kind in kinds:
            if kind not in ("min", "max", "mean", "last", "first", "none", "copy"):
                raise _lacks("define_metric(summary='%s')" % kind)
        self._defined.append((name, getattr(step_metric, "name", step_metric), kinds))
        return _Metric(name)

    def watch(self, models=None, *_, **__):
        self._warn("wandb.watch() does nothing in orch: log the gradient norms that you want to see", "watch")

    def unwatch(self, *_, **__):
        pass

    def log_code(self, *_, **__):
        """The source tree is recorded anyway."""

    def save(self, glob_str=None, base_path=None, policy=None):
        import glob

        for path in sorted(glob.glob(os.fspath(glob_str))):
            if self._run:
                self._run.artifact(os.path.relpath(path, base_path) if base_path else
                                   os.path.basename(path), path)

    def log_artifact(self, artifact_or_path, name=None, type=None, aliases=None, tags=None):
        if not isinstance(artifact_or_path, Artifact):
            path = os.fspath(artifact_or_path)
            artifact = Artifact(name or os.path.basename(os.path.normpath(path)), type)
            artifact._files.append((None, path))
        else:
            artifact = artifact_or_path
        for inner, path in artifact._files if self._run else ():
            self._run.artifact("%s.%s" % (artifact.name, inner) if inner else artifact.name, path)
        return artifact

    log_model = link_model = log_artifact

    def alert(self, title, text="", level="WARN", wait_duration=None):
        if self._run:
            self._run.log("%s: %s" % (title, text), level="info" if str(level) == "INFO" else "warning")

    def finish(self, exit_code=None, quiet=None):
        global _run
        self._commit()
        for name, kinds in self._bests.items():
            for kind, value in kinds.items():
                if kind != "sum":
                    self._result("%s.%s" % (name, kind), value[0] / value[1] if kind == "mean" else value)
        if self._run:
            if exit_code:
                self._run._status, self._run._error = "failed", "exit code %s" % exit_code
            self._run.end()
        if _run is self:
            _run = None

    # ---- within ---------------------------------------------------------------------------------

    def _warn(self, text, about):
        if self._run:
            self._run._warn(text, "wandb " + about)

    def _settings(self, values):
        if self._run:
            self._run.log_settings(values)

    def _result(self, name, value):
        if isinstance(value, dict):
            for inner, one in value.items():
                self._result("%s.%s" % (name, inner), one)
        elif self._run:
            try:
                self._run.result(str(name), value)
            except (TypeError, ValueError):
                self._warn("summary '%s' is not recorded, because it is not a number" % name, "summary " + str(name))

    def _commit(self):
        """Records the values that wait, at the current step."""
        values, self._waiting = self._waiting, {}
        if not values or not self._run:
            return
        numbers, flat = {}, {}
        orch._flatten({name: value for name, value in values.items() if not self._keep(name, value)}, "", flat)
        for name, value in flat.items():
            if value is None or isinstance(value, str):
                self._warn("'%s' is not recorded, because it is not a number" % name, "value " + name)
                continue
            numbers[name] = value
        for name, value in numbers.items():
            dict.__setitem__(self.summary, name, value)
            step, kinds = self.step, ()
            for pattern, of, its in self._defined:
                if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
                    kinds = its or kinds
                    whole = orch._whole(self.summary.get(of)) if of and of != name else None
                    step = whole if whole is not None and whole >= 0 else step
            self._run.log({name: value}, step=step)
            self._note(name, kinds, value)

    def _note(self, name, kinds, value):
        if not kinds:
            return
        try:
            value = float(value)
        except (TypeError, ValueError):
            return
        known = self._bests.setdefault(name, {})
        for kind in kinds:
            if kind in ("min", "max"):
                known[kind] = {"min": min, "max": max}[kind](known.get(kind, value), value)
            elif kind == "mean":
                total, count = known.get(kind, (0.0, 0))
                known[kind] = (total + value, count + 1)
            elif kind in ("last", "first"):
                known[kind] = value if kind == "last" else known.get(kind, value)

    def _keep(self, name, value):
        """True for a value that is an artifact, which it keeps."""
        if isinstance(value, (list, tuple)) and value and all(hasattr(one, "_keep_in") for one in value):
            for at, one in enumerate(value):
                one._keep_in(self._run, "%s-%d-%d" % (name, self.step, at))
            return True
        if hasattr(value, "_keep_in"):
            value._keep_in(self._run, "%s-%d" % (name, self.step))
        elif hasattr(value, "savefig") or hasattr(getattr(value, "figure", None), "savefig"):
            self._run.figure("%s-%d" % (name, self.step), value)
        elif hasattr(value, "itertuples"):
            self._run.table("%s-%d" % (name, self.step), value)
        else:
            return False
        return True


class _Metric:
    def __init__(self, name):
        self.name = name


class Image:
    """A picture: a file, a PIL image, a figure, an array of height x width (x 3 or 4), a tensor with
    the channels first."""

    def __init__(self, data_or_path, mode=None, caption=None, grouping=None, classes=None, boxes=None,
                 masks=None, file_type=None, normalize=True):
        self.image, self.caption = data_or_path, caption

    def _keep_in(self, run, name):
        image = getattr(self.image, "image", self.image)
        if hasattr(image, "savefig"):
            run.figure(name, image)
            return
        if hasattr(image, "detach"):  # of torch: channels first
            image = image.detach().cpu()
            image = image.permute(1, 2, 0) if image.dim() == 3 else image
            image = image.float() if image.dtype.is_floating_point else image
        run.image(name, image)


class Table:
    """A table: columns and rows."""

    def __init__(self, columns=None, data=None, rows=None, dataframe=None, dtype=None, optional=None,
                 allow_mixed_types=None, log_mode=None):
        if dataframe is None and hasattr(data, "itertuples"):
            dataframe = data
        if dataframe is not None:
            self.columns, self.data = orch._table_of(dataframe, None)
        else:
            given = data if data is not None else rows
            self.data = [list(row) for row in (given if given is not None else [])]
            width = len(self.data[0]) if self.data else 3
            self.columns = list(columns or (["Input", "Output", "Expected"][:width] if width <= 3 else range(width)))

    def add_data(self, *row):
        if len(row) != len(self.columns):
            raise ValueError("the row has %d values, the table %d columns" % (len(row), len(self.columns)))
        self.data.append(list(row))

    def add_column(self, name, data, optional=False):
        if self.data and len(data) != len(self.data):
            raise ValueError("the column has %d values, the table %d rows" % (len(data), len(self.data)))
        self.data = self.data or [[] for _ in data]
        self.columns.append(name)
        for row, value in zip(self.data, data):
            row.append(value)

    def get_column(self, name, convert_to=None):
        at = self.columns.index(name)
        return [row[at] for row in self.data]

    def iterrows(self):
        return iter(enumerate(self.data))

    def get_dataframe(self):
        import pandas

        return pandas.DataFrame(self.data, columns=self.columns)

    def _keep_in(self, run, name):
        def shown(value):
            return getattr(value, "caption", None) or type(value).__name__ if hasattr(value, "_keep_in") else value

        run.table(name, [[shown(value) for value in row] for row in self.data], self.columns)


class Histogram:
    """Counts of values in equal intervals, kept as a table: low, high, count."""

    def __init__(self, sequence=None, np_histogram=None, num_bins=64):
        if np_histogram:
            counts, edges = np_histogram
        else:
            counts, edges = _histogram(sequence, min(512, num_bins))
        self.histogram = [int(n) if float(n).is_integer() else float(n) for n in counts]
        self.bins = [float(edge) for edge in edges]

    def _keep_in(self, run, name):
        run.table(name, list(zip(self.bins, self.bins[1:], self.histogram)), ["low", "high", "count"])


def _histogram(values, count):
    """Counts and edges as numpy.histogram() has them."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().flatten().tolist()
    import numpy

    return numpy.histogram(values, bins=count)


class Artifact:
    """Files that are kept under one name."""

    def __init__(self, name, type=None, description=None, metadata=None, **_):
        self.name, self.type, self._files = name, type, []

    def add_file(self, local_path, name=None, **_):
        self._files.append((name or os.path.basename(local_path), local_path))

    def add_dir(self, local_path, name=None, **_):
        self._files.append((name, local_path))


class Settings:
    """Settings of W&B's client, which has no part in this."""

    def __init__(self, **values):
        self.__dict__.update(values)


def _set(values, path, value):
    """Puts the value of a parameter where a nested config has it."""
    at, parts = values, str(path).split(".")
    for part in parts[:-1]:
        if not isinstance(at, dict) or part not in at:
            values[path] = value
            return
        at = at[part]
    if len(parts) == 1 or (isinstance(at, dict) and parts[-1] in at):
        at[parts[-1]] = value
    else:
        values[path] = value


def log(data, step=None, commit=None, sync=None):
    _opened("log").log(data, step=step, commit=commit)


def finish(exit_code=None, quiet=None):
    if _run is not None:
        _run.finish(exit_code)


def _of_run(name):
    def call(*args, **kwargs):
        return getattr(_opened(name), name)(*args, **kwargs)

    call.__name__ = name
    return call


define_metric, watch, save, log_artifact, log_model, alert = map(
    _of_run, ("define_metric", "watch", "save", "log_artifact", "log_model", "alert"))


def unwatch(*_, **__):
    pass


def login(*_, **__):
    """Nothing to log in to."""
    return True


def setup(*_, **__):
    pass


def termlog(text="", *_, **__):
    print("orch: %s" % text, file=sys.stderr)


termwarn = termerror = termlog
