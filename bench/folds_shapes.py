# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench/folds.py leaves out: the shapes of questions. A shape makes groups of rows; whole groups are asked.

random   rows drawn at random
net      networks                              family   networks whose names begin alike (all resnets)
gpu      boards                                chip     all boards of a chip
forward  a chip, from chips of earlier years   line     all of a line of products (data centre, workstation, gaming, AMD)
count    the largest number of GPUs, from the smaller ones
one      a chip from each other one                    two      a chip from each pair of others
"""
import hashlib
import itertools
import re

import numpy

SHAPES = ["random", "net", "family", "gpu", "chip", "forward", "line", "count", "one", "two"]
# boards of one chip: whoever leaves a chip out leaves all of them out
CHIPS = {
    "A100": ["A100-PCIE-40GB", "A100-PCIE-80GB", "A100-SXM4-40GB", "A100 40GB PCIe", "A100 80GB PCIe", "A100 80GB SXM4"],
    "V100": ["V100 16GB"],
    "MI210": ["MI250"],
    "GP102": ["GTX 1080 Ti", "TITAN Xp", "TITAN X Pascal"],
    "TU102": ["RTX 2080 Ti", "TITAN RTX", "Quadro RTX 8000"],
    "GA102": ["RTX 3090", "RTX A6000", "A10"],
}
OF_CHIP = {board: chip for chip, boards in CHIPS.items() for board in boards}
# where weights come from, before the network's own name
TRAINED_BY = re.compile("^(tf|gluon|swsl|ssl|adv|ens|ig|tv|hf|dm|legacy|nf|test)_")


def chip_of(gpu):
    return OF_CHIP.get(gpu, gpu)


def line_of(gpu):
    if gpu.startswith("MI"):
        return "AMD"
    if re.match("GTX|TITAN|RTX [2-5]0|[12]080|Titan", gpu):
        return "gaming"
    if re.match("Quadro|RTX|A[45]000|A6000", gpu):
        return "workstation"
    return "data centre" if re.match("[KMPTVALH][0-9]", gpu) else ""


def family_of(net):
    return re.match("[A-Za-z]*", TRAINED_BY.sub("", net)).group().lower()


def by_hash(names):
    return sorted(names, key=lambda g: hashlib.md5(g.encode()).hexdigest())


def forward_folds(chips, years):
    """each chip from those of earlier years; chips of the first year are only learned from"""
    folds = []
    for chip in by_hash(set(chips)):
        mine = chips == chip
        year = years[mine].min()
        if (years[~mine] < year).any():
            folds.append((numpy.flatnonzero(years < year), numpy.flatnonzero(mine)))
    return folds


def count_folds(gpus):
    counts = sorted(set(gpus[numpy.isfinite(gpus)]))
    return [(numpy.flatnonzero(gpus < c), numpy.flatnonzero(gpus == c)) for c in counts[1:]]


def from_few_folds(chips, known):
    """each chip from so many others, in all ways"""
    names = by_hash(set(chips))
    return [(numpy.flatnonzero(numpy.isin(chips, few)), numpy.flatnonzero(chips == chip))
            for chip in names for few in itertools.combinations([n for n in names if n != chip], known)]


def groups_of(rows, shape, net, gpu):
    if shape in ("net", "family"):
        return net and numpy.array([r[net] if shape == "net" else family_of(r[net]) for r in rows])
    of = {"gpu": str, "chip": chip_of, "one": chip_of, "two": chip_of, "forward": chip_of, "line": line_of}.get(shape)
    return gpu and of and numpy.array([of(r[gpu]) for r in rows])


def folds_of(rows, shape, spec, count, year_of):
    """(train, test, groups) of each fold; `year_of`: a GPU's year, NaN: unknown"""
    n, groups = len(rows), groups_of(rows, shape, spec[1], spec[2])
    if shape == "random":
        part = numpy.random.RandomState(2).permutation(n) % 5
        pairs = [(numpy.flatnonzero(part != k), numpy.flatnonzero(part == k)) for k in range(5)]
    elif shape == "count":
        if "gpus" not in rows[0]:
            return []
        gpus = numpy.array([float(r["gpus"] or "nan") for r in rows])
        groups, pairs = numpy.array([r["gpus"] for r in rows]), count_folds(gpus)
    elif groups is None or len(set(groups)) < 2:
        return []
    elif shape == "forward":
        pairs = forward_folds(groups, numpy.array([year_of(r[spec[2]]) for r in rows]))
    elif shape in ("one", "two"):
        pairs = from_few_folds(groups, 1 if shape == "one" else 2)
    else:
        names = by_hash(set(groups) - {""})
        whole = shape in ("gpu", "chip", "line") or len(names) < 8
        parts = [{g} for g in names] if whole else [set(names[k::5]) for k in range(5)]
        inside = [numpy.array([g in p for g in groups]) for p in parts]
        pairs = [(numpy.flatnonzero(~i), numpy.flatnonzero(i)) for i in inside]
    pairs = [(train, test) for train, test in pairs if len(test) >= 3 and len(train) >= 10]
    if n > 400 and shape in ("random", "net", "family"):
        pairs = pairs[:count]
    return [(train, test, groups) for train, test in pairs]
