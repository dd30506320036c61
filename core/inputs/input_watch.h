/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices when the inputs of trials that run in the user's folder change after they were captured:
 * the files that a command provably uses or that `inputs:` names, those that a trial's parameters
 * name, and those that runs of the experiment have read, of this command or of earlier ones. */
#ifndef ORCH_CORE_INPUTS_INPUT_WATCH_H
#define ORCH_CORE_INPUTS_INPUT_WATCH_H

#include "core/inputs/opened.h"

struct orch_input_watch;

/** Watches the inputs of trials, which must outlive it, as they were captured. Reads nothing yet.
 */
struct orch_input_watch *orch_input_watch_new(struct orch_inputs *all);
void orch_input_watch_free(struct orch_input_watch *watch);

/** What changed before a trial starts. */
struct orch_input_change {
    char *names;      /* "a.py and 2 more"; NULL: nothing. The caller frees */
    bool is_captured; /* at least one of these files can be had as it was captured */
    bool is_code;     /* at least one is no data, which trials may write */
};
/** Before a trial starts: compares its inputs with the captured ones. `*out_stamp` is passed to
 * orch_input_watch_after. A file whose stat data changed but not its content counts as the same.
 * False on error. */
bool orch_input_watch_before(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                             uint64_t *out_stamp, struct orch_input_change *out, GError **error);
/** Takes the inputs of the trial that are not captured as they are now. */
void orch_input_watch_take_new(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial);

enum orch_trial_stage {
    ORCH_TRIAL_RUNS,  /* data that changed may be its output: that is known when it has ended */
    ORCH_TRIAL_NOTED, /* ended, and all that it opened is known: only what is named is looked at */
    ORCH_TRIAL_IN_PART, /* ended */
};
/** Appends the inputs that changed while a trial ran to `code` or `data` (char *, which they own;
 * names that are there are not added again). A file that was written counts as changed whatever its
 * content, because the trial may have read another one. Data also counts when it changed while an
 * earlier trial ran. */
void orch_input_watch_after(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            uint64_t stamp, enum orch_trial_stage stage, GPtrArray *code,
                            GPtrArray *data);

/** Names (char *, owned by the lists). */
struct orch_input_judgement {
    GPtrArray *code, *data; /* what orch_input_watch_after has found */
    GHashTable *outputs;    /* gets, out of them, what the trial has written itself */
    GPtrArray *others;      /* gets data that somebody else has changed while trials ran */
};
/** Decides about a trial that has ended in the user's folder. When all that it opened was noted,
 * `code` gets the captured files that it read and that were not, or are not any more, as they were
 * captured, and `data` becomes empty: orch_reads_keep looks at what the trial has read. Else a
 * change of the data is accepted from now on. */
void orch_input_watch_judge(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            const struct orch_opened *opened, int64_t started_ns,
                            const struct orch_input_judgement *out);
/** A trial of the experiment has ended: what it has read is watched from now on, and what it has
 * written is not. */
void orch_input_watch_learn(struct orch_input_watch *watch, const struct orch_trial_inputs *trial,
                            const struct orch_opened *opened, int64_t started_ns);

#endif
