/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices when the inputs of trials that run in the user's folder change after they were captured.
 * The inputs are those of the fingerprint: the files that a command provably uses or that `inputs:`
 * names, and the files that a trial's parameters name. */
#ifndef ORCH_CORE_RUN_INPUT_WATCH_H
#define ORCH_CORE_RUN_INPUT_WATCH_H

#include "core/run/plan.h"

struct orch_input_watch;

/** Watches the inputs of the plan's trials, which must outlive it, as they were captured for the
 * plan. Reads nothing yet. */
struct orch_input_watch *orch_input_watch_new(struct orch_plan *plan);
void orch_input_watch_free(struct orch_input_watch *watch);

/** Before a trial starts: compares its inputs with the captured ones. `*out_changed`: NULL when
 * they are the same, else what changed ("a.py and 2 more"; the caller frees). `*out_stamp` is
 * passed to orch_input_watch_after. A file whose stat data changed but not its content counts as
 * the same. False on error. */
bool orch_input_watch_before(struct orch_input_watch *watch, const struct orch_plan_item *item,
                             uint64_t *out_stamp, char **out_changed, GError **error);

/** After a trial has ended: names the code that changed while it ran, or NULL; the caller frees.
 * Data files that changed, while this trial or an earlier one ran, are appended to `rewritten`
 * (char
 * *, which it owns) unless they are in it: the trials themselves may have written them. From then
 * on they do not count as inputs that changed before a trial. A file that was written counts as
 * changed whatever its content, because the trial may have read another one. */
char *orch_input_watch_after(struct orch_input_watch *watch, const struct orch_plan_item *item,
                             uint64_t stamp, GPtrArray *rewritten);

#endif
