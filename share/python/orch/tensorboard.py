# SPDX-License-Identifier: MIT
"""TensorBoard's SummaryWriter, recorded by orch: replace its import by `from orch import SummaryWriter`."""
import os

import orch

_INSTEAD = {
    "add_graph": "orch.export_ops(model, inputs, 'model.jsonl') keeps its operators",
    "add_embedding": "keep the vectors as a table: run.table(name, rows)",
    "add_video": "keep the file: run.artifact(path)",
    "add_audio": "keep the file: run.artifact(path)",
    "add_pr_curve": "keep it as a table: run.table(name, rows)",
    "add_mesh": "keep the file: run.artifact(path)",
    "add_custom_scalars": "'orch plot' and the page draw several metrics in one chart",
}

_writers = []  # those that are open: the first one began the run, or joined one that the script began


class SummaryWriter:
    """Scalars are metrics with their step; hyperparameters, pictures, figures, histograms and texts
    are kept, too. It writes into the run that orch.start() opened last, or begins one. Another
    writer's folder below or beside the first one's stands before its names (`validation/loss`)."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120,
                 filename_suffix="", run=None, **_):
        self.log_dir = os.path.normpath(log_dir or "runs")
        first = _writers[0] if _writers else None
        current = run or (first.run if first else orch._current)
        self._is_own = current is None or current._ended
        self.run = orch.start() if self._is_own else current
        self._is_own = self._is_own or bool(first and first._is_own and first.run is self.run)
        self._prefix = ""
        if first and first.run is self.run and self.log_dir != first.log_dir:
            below = os.path.relpath(self.log_dir, first.log_dir)
            name = below if not below.startswith("..") else os.path.basename(self.log_dir)
            self._prefix = name + "/"
        self._counts = {}
        _writers.append(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self._is_own:
            self.run._remember(kind, value, trace)
        self.close()

    def __getattr__(self, name):
        if name in _INSTEAD:
            raise orch.Error("orch: orch.SummaryWriter has no '%s'\n  hint: %s" % (name, _INSTEAD[name]))
        raise AttributeError("orch.SummaryWriter has no '%s'" % name)

    def get_logdir(self):
        return self.log_dir

    def _step(self, tag, step):
        """The step; without one TensorBoard's writers say 0, which would keep one value."""
        self._counts[tag] = self._counts.get(tag, -1) + 1
        return self._counts[tag] if step is None else step

    def _at(self, tag, step):
        return "%s%s-%d" % (self._prefix, tag, self._step(tag, step))

    def add_scalar(self, tag, scalar_value, global_step=None, *_, **__):
        self.run.log({self._prefix + tag: scalar_value}, step=self._step(tag, global_step))

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, *_):
        step = self._step(main_tag, global_step)
        for tag, value in tag_scalar_dict.items():
            self.run.log({"%s%s/%s" % (self._prefix, main_tag, tag): value}, step=step)

    def add_hparams(self, hparam_dict, metric_dict, *_, **__):
        self.run.log_settings(hparam_dict)
        for name, value in metric_dict.items():
            self.run.result(self._prefix + name, value)

    def add_text(self, tag, text_string, global_step=None, *_):
        self.run.log("%s: %s" % (self._prefix + tag, text_string))

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        import numpy

        array = img_tensor.detach().cpu().numpy() if hasattr(img_tensor, "detach") else numpy.asarray(img_tensor)
        order = [dataformats.upper().index(axis) for axis in "HWC" if axis in dataformats.upper()]
        self.run.image(self._at(tag, global_step), array.transpose(order))

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        at, step = dataformats.upper().index("N"), self._step(tag, global_step)
        rest = dataformats.upper().replace("N", "")
        for number in range(img_tensor.shape[at]):
            one = img_tensor[(slice(None),) * at + (number,)]
            self.add_image("%s.%d" % (tag, number), one, step, dataformats=rest)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        figures = figure if isinstance(figure, list) else [figure]
        step = self._step(tag, global_step)
        for number, one in enumerate(figures):
            name = "%s%s-%d" % (self._prefix, tag, step)
            self.run.figure("%s.%d" % (name, number) if len(figures) > 1 else name, one)
            if close:
                import matplotlib.pyplot

                matplotlib.pyplot.close(one)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", *_, **__):
        from orch.wandb import Histogram

        Histogram(values, num_bins=30)._keep_in(self.run, self._at(tag, global_step))

    def flush(self):
        pass

    def close(self):
        """Ends the run that the writers began, with the last of them."""
        if self not in _writers:
            return
        _writers.remove(self)
        if self._is_own and not any(one.run is self.run for one in _writers):
            self.run.end()
