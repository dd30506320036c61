/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running and planning an expanded recipe, as `run`, `plan` and `try` do it. */
#ifndef ORCH_CORE_CLI_EXECUTE_H
#define ORCH_CORE_CLI_EXECUTE_H

#include "core/cli/cli.h"
#include "core/cli/sharing.h"
#include "core/run/plan.h"

struct orch_execute_options {
    struct orch_variant variant;
    int jobs;
    const char *gpus, *require;
    const char *price, *budget, *deadline, *learn, *notify;
    bool over_allowance;
    struct sharing_options sharing;
    bool any_slots, reads_only; /* of the plan's options: to look at what is there */
    bool force, fail_fast, require_clean, dry_run, yes, sign, no_progress, all, exit_code, trust;
};

/** Runs it with progress on stderr; the answers of its report go to stdout. Returns the exit
 * status, -1 with an error. */
int orch_execute(struct orch_cli *cli, const struct orch_expansion *expansion,
                 const struct orch_execute_options *options, GError **error);
/** Prints the plan. */
int orch_execute_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, GError **error);

/** The plan of a recipe, with as many trials at once as the options or the GPUs (0: all of the
 * machine) say. Prints warnings. NULL with an error. The caller frees. */
struct orch_plan *orch_execute_make_plan(struct orch_cli *cli,
                                         const struct orch_expansion *expansion,
                                         const struct orch_execute_options *options,
                                         unsigned gpu_count, GError **error);

/** Prints the report of what the plan was asked for (answers.c). */
void orch_execute_answers(struct orch_cli *cli, struct orch_plan *plan,
                          const struct orch_variant *variant);

#endif
