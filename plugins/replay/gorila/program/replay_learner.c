/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A learner of GORILA: 'orch-replay-learner INDEX PARENT', started by gorila_pool.h with the
 * actors' memory as descriptor 3 and the learners' as descriptor 4. It ends when it is told to, or
 * with its parent. */
#include "plugins/replay/actor/worker_pool.h"
#include "plugins/replay/gorila/gorila_learner.h"

#include "lib/base/error.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "orch-replay-learner: only a trial of plugin replay starts this program\n");
        return 2;
    }
    const int64_t index = orch_worker_begin(argc, argv);
    GError *error = NULL;
    if (index < 0)
        return 1;
    struct orch_actor_share *actors = orch_actor_share_attach(ORCH_WORKER_FD, &error);
    struct orch_gorila_share *share =
        actors ? orch_gorila_share_attach(ORCH_WORKER_FD + 1, &error) : NULL;
    const bool ok = share && orch_gorila_learn(share, actors, index, &error);
    if (!ok)
        fprintf(stderr, "orch-replay-learner %s: %s\n", argv[1], error->message);
    orch_gorila_share_free(share);
    orch_actor_share_free(actors);
    g_clear_error(&error);
    return ok ? 0 : 1;
}
