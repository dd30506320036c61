/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices when the inputs of trials that run in the user's folder change after they were captured.
 * The inputs are those of the fingerprint: the files that a command provably uses or that `inputs:`
 * names, and the files that a trial's parameters name. */
#ifndef ORCH_CORE_INPUTS_INPUT_WATCH_H
#define ORCH_CORE_INPUTS_INPUT_WATCH_H

#include "core/inputs/inputs.h"

struct orch_input_watch;

/** Watches the inputs of trials, which must outlive it, as they were captured. Reads nothing yet.
 */
struct orch_input_watch *orch_input_watch_new(struct orch_inputs *all);
void orch_input_watch_free(struct orch_input_watch *watch);

/** Before a trial starts: compares its inputs with the captured ones. `*out_changed`: NULL when
 * they are the same, else what changed ("a.py and 2 more"; the caller frees). `*out_stamp` is
 * passed to orch_input_watch_after. A file whose stat data changed but not its content counts as
 * the same. False on error. */
bool orch_input_watch_before(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                             uint64_t *out_stamp, char **out_changed, GError **error);

/** After a trial has ended: appends the inputs that changed while it ran to `code` or `data` (char
 * *, which they own; names that are there are not added again). A file that was written counts as
 * changed whatever its content, because the trial may have read another one. Data also counts when
 * it changed while an earlier trial ran: then it was accepted, because trials may write it. */
void orch_input_watch_after(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            uint64_t stamp, GPtrArray *code, GPtrArray *data);

/** From now on a change of this input does not move trials apart: a trial has written it. */
void orch_input_watch_accept(struct orch_input_watch *watch, const char *name);

#endif
