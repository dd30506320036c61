/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules that keep learning stable while several learners work at once (Nair et al. 2015, arXiv
 * 1507.04296): old gradients and gradients of extreme losses are dropped, and the target network
 * follows by the parameter server's count of updates. */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_GORILA_RULES_H
#define ORCH_PLUGINS_REPLAY_GORILA_GORILA_RULES_H

#include <stdbool.h>
#include <stdint.h>

/** Whether a gradient is too old: more than `most` updates were made since the parameters that it
 * was computed with, which had `version` updates. `most` 0: no gradient is. */
bool orch_gorila_is_stale(int64_t version, int64_t updates, int64_t most);

/** Whether the target network is to follow: the parameters of `version` updates passed a multiple
 * of `period` since those of `followed` updates, after which it followed last (-1: never). */
bool orch_gorila_target_is_due(int64_t followed, int64_t version, int64_t period);

/** Losses before the rule drops any, and the weight of the newest loss in the running mean. */
enum { ORCH_GORILA_LOSSES_FIRST = 100 };
#define ORCH_GORILA_LOSS_SHARE 0.01

/** Running mean and variance of a learner's losses. Start with zeros and `deviations`. */
struct orch_gorila_losses {
    double deviations; /* 0: no loss is extreme */
    double mean, variance;
    int64_t seen;
};

/** Whether a loss is at most the running mean plus `deviations` standard deviations. The loss then
 * counts in the mean, accepted or not, so that a lasting rise is followed. */
bool orch_gorila_losses_accept(struct orch_gorila_losses *losses, double loss);

#endif
