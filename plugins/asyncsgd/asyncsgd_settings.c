/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/asyncsgd/asyncsgd_settings.h"

#include "lib/base/error.h"

#include <string.h>

struct orch_training orch_asyncsgd_training(const struct asyncsgd_params *p)
{
    struct orch_training t = p->t;
    t.optimizer = "sgd";
    t.device = "cpu";
    t.precision = "fp32";
    t.layout = "plain";
    t.data_path = "cpu";
    t.graphs = "off";
    return t;
}

bool orch_asyncsgd_check(const struct asyncsgd_params *p, GError **error)
{
    if (!p->slowdown.count || (int64_t)p->slowdown.count == p->learners)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "give one factor for each learner; 1 is full speed",
                   "slowdown has %zu values for %d learners", p->slowdown.count, (int)p->learners);
    return false;
}

int orch_asyncsgd_ranks(const struct asyncsgd_params *p)
{
    return (int)(p->servers + p->learners);
}

bool orch_asyncsgd_is_synchronous(const struct asyncsgd_params *p)
{
    return strcmp(p->mode, "synchronous") == 0;
}
