/* SPDX-License-Identifier: MIT */
/* What is known when a trial's processes have ended, and the last lines of its journal. */
#ifndef ORCH_HOST_ENDING_H
#define ORCH_HOST_ENDING_H

#include "core/host/capture.h"
#include "core/host/intake.h"
#include "core/host/stopping.h"
#include "core/host/text_metrics.h"

struct ending {
    const struct child_setup *setup;
    struct intake *intake;
    const struct stopping *stopping;
    struct capture *output, *errors;
    bool done_first;              /* `done` came before the host began to stop the trial */
    int wait_status;              /* of the trial's first process */
    int64_t started_ns, ended_ns; /* UTC */
    double wall_ms;
    int64_t memory_bytes; /* highest PSS seen; 0: not watched */
    const struct text_losses *losses;
    double foreign_cpu; /* as foreign_cpu_share gives it */
    GPtrArray *strays;  /* char *: names of processes that outlived the first one */
};

/** Takes the artifacts, judges, and appends the end event (not yet flushed). */
void ending_write(const struct ending *ending, struct journal_out *out);

#endif
