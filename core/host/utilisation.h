/* SPDX-License-Identifier: MIT */
/* Samples beside a trial how busy processor, memory, disk and its GPUs are, and writes the values
 * as the metrics "system/..." (lib/wire/system_metrics.h). A thread samples, because a call of the
 * GPU's driver may hang; the trial and its end never wait for it. */
#ifndef ORCH_HOST_UTILISATION_H
#define ORCH_HOST_UTILISATION_H

#include "core/host/journal_out.h"
#include "lib/wire/trial.h"

struct utilisation;

/** Begins to sample every trial->system_interval_s seconds; NULL when that is 0, or when no thread
 * can be started. Call after the trial's process has started. `start_ns` is the trial's start
 * (monotonic). */
struct utilisation *orch_utilisation_start(const struct orch_trial_spec *trial, int64_t start_ns);
/** A descriptor that is readable while there are samples to take; -1 for NULL. */
int orch_utilisation_fd(const struct utilisation *utilisation);
/** Appends the samples taken so far to the journal. */
void orch_utilisation_take(struct utilisation *utilisation, struct journal_out *out);
/** Stops sampling, appends the rest to the journal and frees it; NULL is accepted. Returns the CPU
 * time that sampling took, in seconds; 0 when there was no sample. */
double orch_utilisation_end(struct utilisation *utilisation, struct journal_out *out);

/** Seconds until the next sample: `interval_s`, or longer where the last one took so much CPU time
 * (`cost_s`) that sampling would take more than 0.4 % of a core. */
double orch_utilisation_wait_s(double interval_s, double cost_s);
/** Seconds that one point covers, `elapsed_s` after the trial's start: `interval_s`, or longer, so
 * that long trials keep about 600 points for each tenfold of their length. */
double orch_utilisation_window_s(double interval_s, double elapsed_s);

#endif
