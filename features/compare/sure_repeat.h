/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One repeat of a comparison that runs until it is sure: what is missing of its pairs is run, and
 * their values are counted. For until_sure.c. */
#ifndef ORCH_FEATURES_COMPARE_SURE_REPEAT_H
#define ORCH_FEATURES_COMPARE_SURE_REPEAT_H

#include "core/schedule/limit_options.h"
#include "features/compare/interleave.h"
#include "features/compare/until_sure.h"

/* The comparison while it runs. */
struct orch_sure_sampling {
    const struct orch_sure_request *request;
    const struct orch_compare_listener *listener;
    struct orch_store *store; /* the command's; borrowed */
    struct orch_compare_arm arms[2];
    struct orch_interleave interleave;
    struct orch_interleave_end end;
    struct orch_limits limits;
    struct orch_run_options options;
    struct orch_listener listeners[2];
    struct orch_sure *out;
};

enum orch_sure_outcome {
    ORCH_SURE_COUNTS,
    ORCH_SURE_LEFT_OUT,
    ORCH_SURE_STOPPED, /* by an interrupt or a limit; out->stop says which */
};

/** The number of pairs of the same repeat from `first` on. */
unsigned orch_sure_block_size(const struct orch_sure_sampling *s, unsigned first);
/** Whether one of these pairs still has to run. */
bool orch_sure_will_run(const struct orch_sure_sampling *s, unsigned first, unsigned count);
/** Takes the pairs of one repeat, `count` of them from `first` on, and appends its difference. */
bool orch_sure_take_block(struct orch_sure_sampling *s, unsigned first, unsigned count,
                          GArray *differences, enum orch_sure_outcome *out, GError **error);

#endif
