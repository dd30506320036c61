/* SPDX-License-Identifier: MIT */
/* Evaluates the end of a trial and writes the last lines of its journal. */
#ifndef ORCH_HOST_ENDING_H
#define ORCH_HOST_ENDING_H

#include "core/host/intake.h"
#include "core/host/logged_files.h"
#include "core/host/old_files.h"
#include "core/host/output_capture.h"
#include "core/host/stopping.h"
#include "core/host/text_metrics.h"

struct ending {
    const struct child_setup *setup;
    struct intake *intake;
    const struct stopping *stopping;
    struct capture *output, *errors;
    bool done_first;              /* `done` arrived before the host began to stop the trial */
    int wait_status;              /* of the trial's main process */
    int64_t started_ns, ended_ns; /* UTC */
    double wall_ms;
    int64_t memory_bytes;              /* maximum PSS; 0: not measured */
    const struct logged_files *logged; /* NULL: no files were read */
    const struct orch_text_losses *losses;
    double foreign_cpu;    /* from orch_foreign_cpu_share */
    double sampling_cpu_s; /* CPU time of orch_utilisation; 0: nothing was sampled */
    const char *lost_gpu;  /* the name of a GPU that was lost; NULL: none */
    const struct old_files *old_files;
    GPtrArray *strays; /* char *: names of processes that outlived the main process */
};

/** Collects the artifacts, determines the verdict, and appends the end event (without flushing). */
void orch_ending_write(const struct ending *ending, struct journal_out *out);

#endif
