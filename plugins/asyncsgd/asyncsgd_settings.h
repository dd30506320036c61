/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of plugin asyncsgd. */
#ifndef ORCH_PLUGINS_ASYNCSGD_SETTINGS_H
#define ORCH_PLUGINS_ASYNCSGD_SETTINGS_H

#include "plugins/common/training/training.h"

#include <glib.h>

struct asyncsgd_params {
    struct orch_training t;
    int64_t learners, servers;
    struct orch_list slowdown; /* double, >= 1, by learner */
    const char *mode;          /* asynchronous, synchronous */
    const char *lr_rule;       /* constant, by_staleness */
};

/** The training of the parameters: what the plugin has no parameter for is set. */
struct orch_training orch_asyncsgd_training(const struct asyncsgd_params *params);
/** Fails with ORCH_ERROR_RECIPE if slowdown has another number of learners. */
bool orch_asyncsgd_check(const struct asyncsgd_params *params, GError **error);
/** Ranks: servers first, then learners. */
int orch_asyncsgd_ranks(const struct asyncsgd_params *params);
bool orch_asyncsgd_is_synchronous(const struct asyncsgd_params *params);

#endif
