# SPDX-License-Identifier: GPL-3.0-or-later
"""The posterior that LC-PFN was trained to give (Adriaensen et al. 2023, with the prior of Domhan et al. 2015), by Markov chains (emcee) instead of a
network, whose weights were not to be had: a sum of three weighted curves (pow3, ilog2, Janoschek) of values between 0 and 1 that end above their
start, over positions 1 to 100, with normal noise whose logarithm has mean -4 and deviation 1. A loss becomes such a value as LC-PFN's examples do it.
"""
import emcee
import numpy as np

WALKERS, STEPS, BURN, DRAWS = 52, 3000, 1500, 20000
GRID = np.geomspace(1, 100, 25)
UNIFORM = ((0, 1), (0, 1), (0, 1), (-0.6, 0.6), (0, 1.25), (-0.5, 0.5), (0, 1), (0, 1), (0, 2))  # three weights; a, c; a, c; a, beta
NORMAL = ((0, 2), (-2, 1), (0, 0.5), (-4, 1))  # logarithms of pow3's exponent, Janoschek's k and delta, and the noise
LOW, HIGH = np.array(UNIFORM).T
MEAN, DEVIATION = np.array(NORMAL).T


def value(p, x):
    """The curves of parameters p[..., 13] at positions x: [..., positions]."""
    w0, w1, w2, a, c, ia, ic, ja, jb, power, k, delta, _ = np.moveaxis(p[..., None], -2, 0)
    with np.errstate(all="ignore"):
        return (w0 * (c - a * x ** -np.exp(power)) + w1 * (ic - ia / np.log(x + 1))
                + w2 * (ja - (ja - jb) * np.exp(-np.exp(k) * x ** np.exp(delta))))


def log_posterior(p, x, y):
    on_grid = value(p, GRID)
    with np.errstate(all="ignore"):
        ok = (((p[:, :9] >= LOW) & (p[:, :9] <= HIGH)).all(1) & (on_grid >= 0).all(1) & (on_grid <= 1).all(1) & (on_grid[:, -1] > on_grid[:, 0]))
        noise = p[:, 12]
        log = (-0.5 * (((p[:, 9:] - MEAN) / DEVIATION) ** 2).sum(1) - len(y) * noise
               - 0.5 * ((value(p, x) - y) ** 2).sum(1) * np.exp(-2 * noise))
    return np.where(ok & np.isfinite(log), log, -np.inf)


def forecast(k, y, ends, last, seed=0):
    """Medians and 90 % bounds of the losses at steps `ends`, from losses y at steps k of a training that ends at step `last`: [3, ends]."""
    scale = max(y)
    sigma = lambda z: 1 / (1 + np.exp(-z))
    top = 1 / (1 - sigma(-1.0))
    values = top * (1 - sigma(2 * np.array(y) / scale - 1))
    x = np.maximum(1, 100 * np.array(k) / last)
    rng = np.random.default_rng(seed)
    draws = np.hstack([rng.uniform(LOW, HIGH, (DRAWS, 9)), rng.normal(MEAN, DEVIATION, (DRAWS, 4))])
    best = draws[np.argsort(log_posterior(draws, x, values))[-WALKERS:]]
    sampler = emcee.EnsembleSampler(WALKERS, 13, log_posterior, args=(x, values), vectorize=True,
                                    moves=[(emcee.moves.DEMove(), 0.7), (emcee.moves.DESnookerMove(), 0.1), (emcee.moves.StretchMove(), 0.2)])
    sampler.random_state = np.random.RandomState(seed).get_state()
    sampler.run_mcmc(best, STEPS, skip_initial_state_check=True)
    chain = sampler.get_chain(discard=BURN, thin=30, flat=True)
    at = np.maximum(1, 100 * np.array(ends) / last)
    noisy = value(chain, at) + rng.normal(size=(len(chain), 1)) * np.exp(chain[:, 12:])
    levels = np.clip(np.quantile(noisy, (0.5, 0.95, 0.05), axis=0), 1e-9, top * (1 - sigma(-1.0)) - 1e-9)
    share = 1 - levels / top
    return scale * (np.log(share / (1 - share)) + 1) / 2
