/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/declared_cost.h"

#include "lib/base/json.h"

#include <math.h>

double orch_cost_number(const json_t *cost, const char *name)
{
    double value;
    return orch_json_get_real(json_object_get(cost, name), &value) && value > 0 ? value
                                                                                : (double)NAN;
}

bool orch_cost_is_training(const json_t *cost)
{
    const json_t *training = json_object_get(cost, "training");
    return json_is_true(training) || json_integer_value(training) > 0;
}

/* A declared number, or 1 when it is absent. */
static double or_one(const json_t *cost, const char *name)
{
    double value = orch_cost_number(cost, name);
    return isnan(value) ? 1 : value;
}

double orch_cost_workers(const json_t *cost)
{
    return or_one(cost, "workers");
}

double orch_cost_step_samples(const json_t *cost)
{
    double batch = orch_cost_number(cost, "batch");
    return (isnan(batch) ? orch_cost_number(cost, "samples") : batch) * or_one(cost, "copies");
}

double orch_cost_epoch_samples(const json_t *cost)
{
    return orch_cost_number(cost, "images") * or_one(cost, "copies");
}

double orch_cost_all_samples(const json_t *cost)
{
    double by_epochs = orch_cost_epoch_samples(cost) * or_one(cost, "epochs");
    double by_steps =
        orch_cost_number(cost, "steps") * orch_cost_step_samples(cost) * orch_cost_workers(cost);
    bool has_epochs = !isnan(by_epochs) && !isnan(orch_cost_number(cost, "epochs"));
    return has_epochs || isnan(by_steps) ? by_epochs : by_steps;
}
