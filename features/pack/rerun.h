/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs trials of a pack again on this machine and compares the results with those in the pack.
 *
 * A value that is not a time is confirmed when it is bit-identical, or when it lies within the 95 %
 * prediction interval (Student's t) of two or more repeats of that trial in the pack, which show
 * that the trial is not deterministic. A value outside the interval differs, also on another
 * machine, because the seed is the same. With one repeat an unequal value differs if machine and
 * plugin are the same, and is not comparable otherwise.
 *
 * A time or a rate is compared with the prediction interval of the pack's repeats if the device
 * (GPU, or processor and threads) is the same. On another device the trial's total time is compared
 * with the forecast for this machine, if there is one; otherwise it is not comparable. For trials
 * that are not timing trials the total time is reported but never counted as a difference, because
 * the machine may have been busy.
 */
#ifndef ORCH_FEATURES_PACK_RERUN_H
#define ORCH_FEATURES_PACK_RERUN_H

#include "features/pack/verify.h"

struct orch_rerun_options {
    unsigned count;        /* trials */
    unsigned seed;         /* for the random choice of trials */
    bool trusts;           /* allow running the pack's programs */
    const char *argv_json; /* the command line, for the records */
};

/** Runs trials again, in the pack's scratch folder and store: [{trial, run, outcome, why,
 * values: [{name, said, found, outcome, why}]}], outcome one of "confirmed", "differs", "not
 * comparable", "not run". The last item lists trials that cannot run here. New reference; NULL on a
 * local error (disk, memory). */
json_t *orch_pack_rerun(const struct orch_pack *pack, const struct orch_verified *verified,
                        struct orch_plugins *plugins, const struct orch_rerun_options *options,
                        GError **error);

#endif
