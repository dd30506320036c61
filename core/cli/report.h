/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What commands that show reports share. */
#ifndef ORCH_CORE_CLI_REPORT_H
#define ORCH_CORE_CLI_REPORT_H

#include "core/answer/answer.h"
#include "core/answer/points.h"
#include "core/cli/cli.h"
#include "core/report/show_text.h"

/** The recipe's plan as it lies in the store, of the trials that are asked for, as 'orch run' with
 * that many jobs (0: its default) has it; nothing is changed. NULL with an error. The caller frees.
 */
struct orch_plan *orch_cli_report_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       int jobs, GError **error);
/** The recipe and its variant as one would type them: "hw4.recipe -p course". The caller frees. */
char *orch_cli_recipe_words(const struct orch_cli *cli, const struct orch_variant *variant);
/** Prints a document to stdout, in the terminal's width and colours. */
void orch_cli_show_document(const struct orch_cli *cli, const struct orch_document *document,
                            struct orch_show_text how);

/** Prints what each part of the assignment stands at, and the totals; --json as an object. The
 * document must be whole. */
void orch_cli_show_points(struct orch_cli *cli, const struct orch_document *document);

/** Prints the sums of points: what 'orch report --points' and 'orch submit' both say. */
void orch_cli_say_points(const struct orch_document *document, const GPtrArray *parts);

#endif
