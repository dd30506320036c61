# SPDX-License-Identifier: GPL-3.0-or-later
"""The searches that bench/search.py and bench/search_replay.py compare: one interface over orch's samplers and rules, Optuna, scikit-optimize, SMAC 3, HEBO, BoTorch.

make(method, build, space, seed, direction, cost_power, epochs) gives one. `method` is PACKAGE:SAMPLER[+RULE]: `orch:auto+asha(min=1, factor=3)`,
`optuna:tpe+median`. `orch:auto^1` divides what a point promises
by its expected cost. A search has next() -> (handle, values), report(handle, n, value) -> whether the trial stops, end(handle, value, seconds),
stop(handle, value, seconds) for a trial that was stopped, promote() -> the handle of a stopped trial that goes on or None, and close(). An ImportError says that the package is not there.
"""
import os
import subprocess

from search_tasks import range_of


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Orch:
    """predictors/ as a filter: bench/search_ask.c."""
    def __init__(self, build, sampler, rule, space, seed, direction, cost_power=0, epochs=27):
        self.p = subprocess.Popen([f'{build}/bench_search_ask'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.space, self.sampler, self.seed, self.n, self.rule = space, sampler, seed, 0, rule
        self.sign, self.cost_power = -1 if direction == 'max' else 1, cost_power
        self.say('space', *(word for pair in space.items() for word in pair))
        if rule:
            self.say('rule', rule)

    def say(self, *words):
        self.p.stdin.write('\t'.join(map(str, words)) + '\n')

    def answer(self):
        self.p.stdin.flush()
        line = self.p.stdout.readline()
        if not line:
            raise RuntimeError('bench_search_ask has ended')
        return line.rstrip('\n')

    def next(self):
        self.say('next', self.sampler, self.seed, self.cost_power)
        words = self.answer().split('\t')
        self.n += 1
        return self.n - 1, {k: number(w) for k, w in zip(self.space, words) if w}

    def report(self, which, n, value):
        if not self.rule:
            return False
        self.say('report', which, repr(self.sign * value))
        return self.answer() != ''

    def end(self, which, value, seconds=1):
        values = value if isinstance(value, list) else [value]
        self.say('end', which, ','.join(repr(self.sign * v) for v in values), repr(seconds))

    def stop(self, which, value, seconds=1):
        self.say('stop', which)

    def promote(self):
        if not self.rule:
            return None
        self.say('promote')
        return int(word) if (word := self.answer()) else None

    def close(self):
        self.p.stdin.close()
        self.p.wait()
        self.p.stdout.close()


class Optuna:
    def __init__(self, build, sampler, rule, space, seed, direction, cost_power=0, epochs=27, objectives=1):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        s, p = optuna.samplers, optuna.pruners
        made = {'tpe': lambda: s.TPESampler(seed=seed), 'tpe-liar': lambda: s.TPESampler(seed=seed, constant_liar=True),
                'tpe-multivariate': lambda: s.TPESampler(seed=seed, multivariate=True, group=True),
                'gp': lambda: s.GPSampler(seed=seed), 'nsga2': lambda: s.NSGAIISampler(seed=seed), 'cmaes': lambda: s.CmaEsSampler(seed=seed),
                'random': lambda: s.RandomSampler(seed=seed), 'auto': lambda: self.auto(seed)}[sampler]()
        pruner = {'': p.NopPruner, 'median': p.MedianPruner, 'asha': lambda: p.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
                  'asha-default': p.SuccessiveHalvingPruner,
                  'hyperband': lambda: p.HyperbandPruner(min_resource=1, max_resource=epochs, reduction_factor=3)}[rule]()
        self.pruned = optuna.trial.TrialState.PRUNED
        # HyperbandPruner draws a trial's bracket from the study's name
        self.study = optuna.create_study(sampler=made, pruner=pruner, study_name=str(seed), directions=['maximize' if direction == 'max' else 'minimize'] * objectives)
        self.space, self.has_rule = space, rule

    @staticmethod
    def auto(seed):
        """OptunaHub's AutoSampler; OPTUNAHUB is the folder `package` of a clone of optuna/optunahub-registry, where there is one."""
        import optunahub
        folder, name = os.environ.get('OPTUNAHUB'), 'samplers/auto_sampler'
        module = optunahub.load_local_module(name, registry_root=folder) if folder else optunahub.load_module(name)
        return module.AutoSampler(seed=seed)

    def next(self):
        t = self.study.ask()
        got = {}
        for name, text in self.space.items():
            word, args, condition = range_of(text)
            if condition and got.get(condition[0]) not in condition[1]:
                continue
            if word == 'choice':
                got[name] = t.suggest_categorical(name, args)
            elif word == 'int':
                got[name] = t.suggest_int(name, int(args[0]), int(args[1]), log=args[2:] == ['log'])
            else:
                got[name] = t.suggest_float(name, float(args[0]), float(args[1]), log=word == 'loguniform')
        return t, got

    def report(self, which, n, value):
        if not self.has_rule:
            return False
        which.report(value, n)
        return which.should_prune()

    def end(self, which, value, seconds=1):
        self.study.tell(which, value)

    def stop(self, which, value, seconds=1):
        self.study.tell(which, state=self.pruned)

    def promote(self):
        return None

    def close(self):
        pass


class NoRule:
    def report(self, which, n, value):
        return False

    def promote(self):
        return None

    def close(self):
        pass


class Skopt(NoRule):
    """scikit-optimize has no conditions: every parameter always exists for it."""
    def __init__(self, build, sampler, rule, space, seed, direction, cost_power=0, epochs=27):
        import numpy
        for old in ('int', 'float', 'bool'):  # names that NumPy has removed
            if old not in numpy.__dict__:
                setattr(numpy, old, {'int': int, 'float': float, 'bool': bool}[old])
        import warnings
        warnings.filterwarnings('ignore')
        from skopt import Optimizer
        from skopt.space import Categorical, Integer, Real
        dims = []
        for text in space.values():
            word, args, _ = range_of(text)
            if word == 'choice':
                dims.append(Categorical(args))
            elif word == 'int':
                dims.append(Integer(int(args[0]), int(args[1]), prior='log-uniform' if args[2:] == ['log'] else 'uniform'))
            else:
                dims.append(Real(float(args[0]), float(args[1]), prior='log-uniform' if word == 'loguniform' else 'uniform'))
        self.o, self.space, self.sign = Optimizer(dims, base_estimator=sampler.upper(), random_state=seed), space, -1 if direction == 'max' else 1

    def next(self):
        x = self.o.ask()
        got = {}
        for (name, text), value in zip(self.space.items(), x):
            condition = range_of(text)[2]
            if not condition or got.get(condition[0]) in condition[1]:
                got[name] = value
        return x, got

    def end(self, which, value, seconds=1):
        self.o.tell(which, self.sign * value)


class Smac(NoRule):
    """SMAC 3's facade for hyperparameters (random forest), with conditions; `smac:bb` is that for black boxes (Gaussian process)."""
    def __init__(self, build, sampler, rule, space, seed, direction, cost_power=0, epochs=27):
        import logging
        import tempfile
        from ConfigSpace import Categorical, ConfigurationSpace, Float, InCondition, Integer
        from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
        config = ConfigurationSpace(seed=seed)
        made, self.sign = {}, -1 if direction == 'max' else 1
        for name, text in space.items():
            word, args, condition = range_of(text)
            if word == 'choice':
                made[name] = Categorical(name, args)
            elif word == 'int':
                made[name] = Integer(name, (int(args[0]), int(args[1])), log=args[2:] == ['log'])
            else:
                made[name] = Float(name, (float(args[0]), float(args[1])), log=word == 'loguniform')
            config.add(made[name])
            if condition:
                config.add(InCondition(made[name], made[condition[0]], condition[1]))
        self.folder = tempfile.TemporaryDirectory()
        facade = BlackBoxFacade if sampler == 'bb' else HyperparameterOptimizationFacade
        scenario = Scenario(config, deterministic=True, n_trials=1000, seed=seed, output_directory=self.folder.name)
        self.o = facade(scenario, lambda config, seed=0: 0, logging_level=logging.ERROR, overwrite=True)

    def next(self):
        info = self.o.ask()
        return info, {k: v if isinstance(v, str) else v.item() if hasattr(v, 'item') else v for k, v in dict(info.config).items()}

    def end(self, which, value, seconds=1):
        from smac.runhistory.dataclasses import TrialValue
        self.o.tell(which, TrialValue(cost=self.sign * value, time=seconds))

    def close(self):
        self.folder.cleanup()


class Hebo(NoRule):
    """HEBO has no conditions: every parameter always exists for it."""
    def __init__(self, build, sampler, rule, space, seed, direction, cost_power=0, epochs=27):
        import numpy
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        numpy.random.seed(seed)
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        rows = []
        for name, text in space.items():
            word, args, _ = range_of(text)
            if word == 'choice':
                rows.append({'name': name, 'type': 'cat', 'categories': args})
            elif word == 'int':
                rows.append({'name': name, 'type': 'pow_int' if args[2:] == ['log'] else 'int', 'lb': int(args[0]), 'ub': int(args[1])})
            else:
                rows.append({'name': name, 'type': 'pow' if word == 'loguniform' else 'num', 'lb': float(args[0]), 'ub': float(args[1])})
        self.o, self.space, self.sign = HEBO(DesignSpace().parse(rows), scramble_seed=seed), space, -1 if direction == 'max' else 1

    def next(self):
        rows = self.o.suggest(n_suggestions=1)
        got = {}
        for name, text in self.space.items():
            condition, value = range_of(text)[2], rows[name].iloc[0]
            if not condition or got.get(condition[0]) in condition[1]:
                got[name] = value.item() if hasattr(value, 'item') else value
        return rows, got

    def end(self, which, value, seconds=1):
        import numpy
        self.o.observe(which, numpy.array([[self.sign * value]]))


class Botorch(NoRule):
    """A Gaussian process and the logarithm of the noisy expected improvement, after five points of Sobol's sequence as in Ax 1.0; one number for each choice.
    BoTorch has no conditions: every parameter always exists for it."""
    def __init__(self, build, sampler, rule, space, seed, direction, cost_power=0, epochs=27):
        import torch
        import warnings
        import botorch
        warnings.filterwarnings('ignore')
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self.torch, self.botorch, self.space, self.sign = torch, botorch, space, -1 if direction == 'max' else 1
        self.count = sum(len(range_of(text)[1]) if range_of(text)[0] == 'choice' else 1 for text in space.values())
        self.x, self.y = torch.empty(0, self.count, dtype=torch.double), []
        self.sobol = torch.quasirandom.SobolEngine(self.count, scramble=True, seed=seed)

    def promising(self):
        from botorch.models.transforms import Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood
        values = -self.torch.tensor(self.y, dtype=self.torch.double)[:, None]
        model = self.botorch.models.SingleTaskGP(self.x, values, outcome_transform=Standardize(1))
        self.botorch.fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        gain = self.botorch.acquisition.logei.qLogNoisyExpectedImprovement(model, self.x, prune_baseline=True)
        ends = self.torch.tensor([[0.0] * self.count, [1.0] * self.count], dtype=self.torch.double)
        return self.botorch.optim.optimize_acqf(gain, ends, q=1, num_restarts=8, raw_samples=256)[0][0]

    def next(self):
        import math
        row = self.sobol.draw(1)[0].double() if len(self.y) < 5 else self.promising()
        got, at = {}, 0
        for name, text in self.space.items():
            word, args, condition = range_of(text)
            width = len(args) if word == 'choice' else 1
            if word == 'choice':
                best = int(row[at:at + width].argmax())
                row[at:at + width] = self.torch.eye(width)[best]
                value = args[best]
            else:
                low, high, is_int = float(args[0]), float(args[1]), word == 'int'
                is_log = word == 'loguniform' or args[2:] == ['log']
                low, high = (math.log(low), math.log(high)) if is_log else (low, high)
                value = low + float(row[at]) * (high - low)
                value = math.exp(value) if is_log else value
                value = min(max(round(value), int(args[0])), int(args[1])) if is_int else min(max(value, float(args[0])), float(args[1]))
                row[at] = ((math.log(value) if is_log else value) - low) / (high - low)
            at += width
            if not condition or got.get(condition[0]) in condition[1]:
                got[name] = value
        return row, got

    def end(self, which, value, seconds=1):
        self.x = self.torch.cat([self.x, which[None]])
        self.y.append(self.sign * value)


PACKAGES = {'orch': Orch, 'optuna': Optuna, 'skopt': Skopt, 'smac': Smac, 'hebo': Hebo, 'botorch': Botorch}


def make(method, build, space, seed, direction='min', cost_power=0, epochs=27, objectives=1):
    package, _, rest = method.partition(':')
    sampler, _, rule = rest.partition('+')
    sampler, _, power = sampler.partition('^')
    more = {'objectives': objectives} if package == 'optuna' else {}  # orch is told with the values
    return PACKAGES[package](build, sampler, rule, space, seed, direction, float(power or cost_power), epochs, **more)
