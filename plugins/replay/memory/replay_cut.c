/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ending the episode of an actor that is gone. What followed its last step is unknown, so that step
 * is given up: its frame becomes the last frame of an episode that was cut off. */
#include "plugins/replay/memory/replay_private.h"

void orch_replay_cut(struct orch_replay *r, int lane)
{
    struct replay_lane *l = &r->lanes[lane];
    pthread_mutex_lock(&l->lock);
    if (l->last_end == ORCH_REPLAY_GOES_ON || l->last_end == ORCH_REPLAY_TRUNCATED) {
        if (l->head > 0) {
            orch_replay_step_of(r, orch_replay_record(r, l, l->head - 1))->end = ORCH_REPLAY_FINAL;
            l->last_end = ORCH_REPLAY_FINAL;
            l->closed = l->head;
            l->finals++;
        }
        if (l->head > 1) {
            /* a step of an earlier episode stays as it is */
            struct replay_step *before =
                orch_replay_step_of(r, orch_replay_record(r, l, l->head - 2));
            if (before->end == ORCH_REPLAY_GOES_ON)
                before->end = ORCH_REPLAY_TRUNCATED;
        }
    }
    pthread_mutex_unlock(&l->lock);
}
