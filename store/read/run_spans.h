/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The times during which the runs of an experiment ran. */
#ifndef ORCH_STORE_RUN_SPANS_H
#define ORCH_STORE_RUN_SPANS_H

#include "store/store.h"

struct orch_run_span {
    int64_t run, started_ns, ended_ns;
};

/** The newest 10,000 runs of a recipe's experiment that were made on the machine `machine_key`, in
 * any state: struct orch_run_span, newest first. The caller unrefs. */
GArray *orch_store_run_spans(struct orch_store *store, const char *recipe, const char *experiment,
                             const char *machine_key, GError **error);

/** The facts of one of them: JSON text, which the caller frees; NULL when it has none or on error.
 */
char *orch_store_run_span_facts(struct orch_store *store, int64_t run);

#endif
