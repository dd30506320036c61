/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What server 0 records of the gradients that it applies, and of the weights after each epoch. */
#ifndef ORCH_PLUGINS_ASYNCSGD_SERVER_REPORT_H
#define ORCH_PLUGINS_ASYNCSGD_SERVER_REPORT_H

#include "plugins/common/training/session.h"

struct orch_server_report {
    const struct orch_session *session;
    int learners;
    int64_t begin_ns;               /* when the first weights were given out; 0: not yet */
    int64_t paused_ns;              /* of validation since then */
    int64_t gradients;              /* applied */
    GString *csv;                   /* a row for each */
    GArray *counts;                 /* int64_t: gradients by staleness */
    double *sums, *by_learner;      /* staleness and number of gradients, by learner */
    struct orch_torch_totals since; /* training sums since the last epoch's end */
    double since_s;                 /* training time at the last epoch's end */
    struct orch_torch_totals val;   /* of the last epoch's validation */
    double best;                    /* validation accuracy */
};

/** A gradient that is about to be applied. */
struct orch_server_gradient {
    int learner;                          /* from 0 */
    int64_t version_read, version_before; /* weights that it was computed from, and that it updates
                                           */
    double rate;
    struct orch_torch_totals totals; /* of its batch */
};

void orch_server_report_init(struct orch_server_report *report, const struct orch_session *session,
                             int learners);
/** Starts the clock of the training, if it has not been started. */
void orch_server_report_begin(struct orch_server_report *report);
/** Seconds since then, without validation. */
void orch_server_report_gradient(struct orch_server_report *report,
                                 const struct orch_server_gradient *gradient);
/** Validates the session's model, which has the weights of `version`, at the end of epoch `epoch`
 * (from 1), and reports. The clock stands still. */
bool orch_server_report_epoch(struct orch_server_report *report, int64_t epoch, int64_t version,
                              GError **error);
/** Reports the results and writes the artifacts. `versions`: updates in all. */
bool orch_server_report_end(struct orch_server_report *report, int64_t versions, GError **error);
void orch_server_report_clear(struct orch_server_report *report);

#endif
