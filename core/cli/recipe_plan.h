/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of a recipe that a command names, and the report on it. */
#ifndef ORCH_CORE_CLI_RECIPE_PLAN_H
#define ORCH_CORE_CLI_RECIPE_PLAN_H

#include "core/cli/cli.h"
#include "core/plan/plan.h"
#include "core/render/show_text.h"
#include "core/report/sections.h"

/** Makes the plan of a recipe as `options` say; `options.slots` 0: the recipe's own number of
 * trials at once, or one for each of `gpu_count` GPUs (0: all of the machine). Prints warnings.
 * NULL with an error. The caller frees. */
struct orch_plan *orch_cli_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                struct orch_plan_options options, unsigned gpu_count,
                                GError **error);
/** Marks trials of a plan that is only looked at as UNUSED that its results make unneeded. */
void orch_cli_plan_leave_out(struct orch_plan *plan);
/** Makes the plan of the requested trials from the store's current content, as 'orch run' with
 * `jobs` jobs (0: its default) would see it. Changes nothing. NULL with an error. The caller
 * frees. */
struct orch_plan *orch_cli_report_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       int jobs, GError **error);
/** Formats the settings that the variant adds to its profile, as options: "-s epochs=3 --part 1/2";
 * NULL: none. The caller frees. */
char *orch_cli_settings_words(const struct orch_variant *variant);
/** Formats the recipe and its variant as a user would type them: "hw4.recipe -p course". The caller
 * frees. */
char *orch_cli_recipe_words(const struct orch_cli *cli, const struct orch_variant *variant);
/** Prints a document to stdout in the terminal's width and colours. */
void orch_cli_show_document(const struct orch_cli *cli, const struct orch_document *document,
                            struct orch_show_text how);

/** Prints what the report says of the trials that the plan was asked for, in at most ten lines (all
 * of it for a command line's own recipe); nothing before any trial has ended well. */
void orch_cli_report_requested(struct orch_cli *cli, struct orch_plan *plan,
                               const struct orch_variant *variant);

#endif
