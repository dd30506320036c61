/* SPDX-License-Identifier: MIT */
/* Watches the GPUs of a trial's slot. A thread asks the driver, because a call of it may hang; the
 * trial and its end do not wait for it. */
#ifndef ORCH_HOST_GPU_WATCH_H
#define ORCH_HOST_GPU_WATCH_H

#include "core/host/journal_out.h"
#include "lib/wire/trial.h"

struct gpu_watch;

/** The GPUs of the trial's slot as its CUDA_VISIBLE_DEVICES names them; NULL when it is not set, so
 * that the trial sees all GPUs. Caller frees with g_strfreev. */
char **orch_gpu_watch_names(const struct orch_trial_spec *trial);

/** Begins to watch; NULL when the trial has no GPUs. */
struct gpu_watch *orch_gpu_watch_start(const struct orch_trial_spec *trial);
/** A descriptor that is readable after something was seen; -1 for NULL. */
int orch_gpu_watch_fd(const struct gpu_watch *watch);
/** Appends remarks to the journal. Returns why a GPU cannot be used any more, or NULL. Caller
 * frees. */
char *orch_gpu_watch_take(struct gpu_watch *watch, struct journal_out *out);
/** Stops watching and frees it; NULL is accepted. With `looks_again`, the GPUs of a trial that
 * ended badly are checked once more, because a program may end by the loss of its GPU before the
 * driver reported it; takes at most a second. Returns the reason as orch_gpu_watch_take does, from
 * the whole trial. `*out_name` gets the lost GPU's name (or NULL). Caller frees both. */
char *orch_gpu_watch_end(struct gpu_watch *watch, bool looks_again, struct journal_out *out,
                         char **out_name);

#endif
