/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time is that of whole epochs: nothing is interpolated between the validations. */
#include "plugins/common/training/target.h"

#include "plugins/common/training/notes.h"

static bool is_reached(const struct orch_training *t, double best)
{
    return t->target_accuracy > 0 && best >= t->target_accuracy;
}

bool orch_target_ends(const struct orch_training *t, double best)
{
    return t->stop_at_target && is_reached(t, best);
}

void orch_target_time(const struct orch_training *t, double best, int64_t epoch,
                      struct orch_training_clocks *clocks)
{
    if (clocks->target_epoch || !is_reached(t, best))
        return;
    clocks->target_epoch = (double)epoch + 1;
    clocks->target_training_s = clocks->training_s;
    clocks->target_validation_s = clocks->validation_s;
}

void orch_target_report(const struct orch_session *s, double best,
                        const struct orch_training_clocks *clocks)
{
    const struct orch_host *host = s->host;
    if (!(s->training->target_accuracy > 0))
        return;
    bool reached = is_reached(s->training, best);
    host->result(host, "reached_target", reached);
    if (!reached)
        return;
    if (clocks->target_epoch)
        host->result(host, "epochs_to_accuracy", clocks->target_epoch);
    if (clocks->is_partial || !clocks->target_epoch) {
        orch_training_note(host, "no time_to_accuracy: the earlier attempt, of a version that kept "
                                 "no clocks, is missing in it");
        return;
    }
    host->result(host, "time_to_accuracy", clocks->target_training_s);
    host->result(host, "time_to_accuracy_with_validation",
                 clocks->target_training_s + clocks->target_validation_s);
}
