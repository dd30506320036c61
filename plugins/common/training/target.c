/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A target is reached by the epoch that exceeds all before it, so the best epoch is the one that
 * reached it, also where a training resumes after that epoch. The time is that of whole epochs:
 * nothing is interpolated between the validations. */
#include "plugins/common/training/target.h"

#include "plugins/common/training/notes.h"

bool orch_target_is_reached(const struct orch_training *t, double best)
{
    return t->target_accuracy > 0 && best >= t->target_accuracy;
}

void orch_target_report(const struct orch_session *s, double best, int64_t best_epoch,
                        const struct orch_training_clocks *clocks)
{
    const struct orch_host *host = s->host;
    if (!(s->training->target_accuracy > 0))
        return;
    bool is_reached = orch_target_is_reached(s->training, best);
    host->result(host, "reached_target", is_reached);
    if (!is_reached)
        return;
    host->result(host, "epochs_to_accuracy", (double)best_epoch);
    if (clocks->is_partial) {
        orch_training_note(host, "no time_to_accuracy: the earlier attempt, of a version that kept "
                                 "no clocks, is missing in it");
        return;
    }
    host->result(host, "time_to_accuracy", clocks->training_s);
    host->result(host, "time_to_accuracy_with_validation",
                 clocks->training_s + clocks->validation_s);
}
