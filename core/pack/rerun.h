/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials of a pack, run again here, and what they give against what the pack says.
 *
 * A value that is no time is confirmed when it is the same to the last bit; else when it lies
 * within the 95 % prediction interval of the pack's own repeats of that trial (Student's t; two or
 * more), for then the trial is not deterministic. On another machine a value outside of it differs
 * too: the seed is the same. With one repeat an unequal value differs where machine and plugin are
 * the same, and is not comparable elsewhere.
 *
 * A time or a rate is held against the prediction interval of the pack's repeats where the place
 * (GPU, or processor and threads) is the same; elsewhere the trial's whole time against the
 * forecast for this machine, where there is one, and else it is not comparable. Of a trial that is
 * no timing the whole time is told and never counts against it: the machine may have been busy.
 */
#ifndef ORCH_PACK_RERUN_H
#define ORCH_PACK_RERUN_H

#include "core/pack/verify.h"
#include "core/run/forecast.h"

struct orch_rerun_options {
    unsigned count;        /* trials */
    unsigned seed;         /* of the choice */
    bool trusts;           /* programs of the pack may run */
    const char *argv_json; /* the command line, for the records */
    /** A forecaster for a plan; may be NULL. It lives until `done` is called. */
    struct orch_forecaster (*forecaster)(void *ctx, struct orch_plan *plan);
    void (*done)(void *ctx);
    void *ctx;
};

/** Runs trials again, in the pack's scratch folder and store: [{trial, run, outcome, why,
 * values: [{name, said, found, outcome, why}]}], outcome one of "confirmed", "differs", "not
 * comparable", "not run". The last item tells of trials that cannot run here. New reference; NULL
 * on an error of this machine. */
json_t *orch_pack_rerun(const struct orch_pack *pack, const struct orch_verified *verified,
                        struct orch_plugins *plugins, const struct orch_rerun_options *options,
                        GError **error);

#endif
