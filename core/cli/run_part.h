/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a feature does while `orch run`, `orch plan` or `orch try` plans and runs a recipe. Its
 * struct orch_command_part of these commands (core/cli/parts.h), which has the options, names one.
 * The functions are called in the order of this struct; one that is NULL is left out, but `begin`
 * and `close` are required. Parts are called in the order of the rows of features/feature_table.c.
 */
#ifndef ORCH_CORE_CLI_RUN_PART_H
#define ORCH_CORE_CLI_RUN_PART_H

#include "core/cli/cli.h"
#include "core/plan/plan_forecast.h"
#include "core/schedule/schedule.h"
#include "lib/devices/rate.h"

/** A plan with what is known of it before it runs. */
struct orch_run_outlook {
    struct orch_plan *plan;
    const struct orch_forecaster *forecaster;
    const struct orch_rate *price; /* of a device of the plan */
    bool is_price_given;           /* by --price */
    struct orch_limits *limits;    /* may be lowered; NULL: nothing will run */
};

struct orch_run_part {
    /** Checks the options and opens what the others need, in `*out_state`; NULL: they are not
     * called. The store is open when the plan will be run. `only_plans`: it will not be run. */
    bool (*begin)(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error);
    /** Marks trials of a new plan that others run as HELD. */
    void (*mark)(void *state, struct orch_plan *plan);
    /** Leaves trials out of the plan, or lowers its limits, and says so. */
    bool (*limit)(void *state, const struct orch_run_outlook *outlook, GError **error);
    /** Gives the hooks that share the run; their messages go to `listener`. False: there are none.
     */
    bool (*share)(void *state, struct orch_plan *plan, const struct orch_listener *listener,
                  struct orch_sharing *out);
    /** Gives what chooses the values of the plan's searches. False: it has none. */
    bool (*choose)(void *state, struct orch_plan *plan, const struct orch_listener *listener,
                   struct orch_chooser *out);
    /** Called when the trials have ended and the listener is closed. `totals` is NULL when the run
     * failed. */
    bool (*ended)(void *state, struct orch_plan *plan, const struct orch_totals *totals,
                  GError **error);
    /** Prints who runs the trials that were held. False: it is not known. */
    bool (*print_held)(void *state, const struct orch_plan *plan);
    void (*close)(void *state);
};

#endif
