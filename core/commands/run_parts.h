/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls what features do while a recipe is planned and run (core/cli/run_part.h). */
#ifndef ORCH_CORE_COMMANDS_RUN_PARTS_H
#define ORCH_CORE_COMMANDS_RUN_PARTS_H

#include "core/cli/run_part.h"

struct orch_run_parts;
/** Begins the parts of the running command. NULL with an error. The caller frees. */
struct orch_run_parts *orch_run_parts_begin(struct orch_cli *cli,
                                            const struct orch_expansion *expansion, bool only_plans,
                                            GError **error);
void orch_run_parts_free(struct orch_run_parts *parts);
/* Each calls the function of that name of all parts. */
void orch_run_parts_mark(const struct orch_run_parts *parts, struct orch_plan *plan);
bool orch_run_parts_limit(const struct orch_run_parts *parts,
                          const struct orch_run_outlook *outlook, GError **error);
bool orch_run_parts_ended(const struct orch_run_parts *parts, struct orch_plan *plan,
                          const struct orch_totals *totals, GError **error);
/* Each calls the function of that name until a part gives true. */
bool orch_run_parts_share(const struct orch_run_parts *parts, struct orch_plan *plan,
                          const struct orch_listener *listener, struct orch_sharing *out);
bool orch_run_parts_choose(const struct orch_run_parts *parts, struct orch_plan *plan,
                           const struct orch_listener *listener, struct orch_chooser *out);
bool orch_run_parts_print_held(const struct orch_run_parts *parts, const struct orch_plan *plan);

#endif
