/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An actor of a learner: 'orch-replay-actor INDEX PARENT', started by actor_pool.h with the shared
 * memory as descriptor 3. It ends when it is told to, or with its parent. */
#include "plugins/replay/actor/actor_loop.h"
#include "plugins/replay/actor/worker_pool.h"

#include "lib/base/error.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "orch-replay-actor: only a learner of plugin replay starts this program\n");
        return 2;
    }
    const int64_t index = orch_worker_begin(argc, argv);
    GError *error = NULL;
    if (index < 0)
        return 1;
    struct orch_actor_share *share = orch_actor_share_attach(ORCH_WORKER_FD, &error);
    const bool ok = share && orch_actor_loop(share, index, &error);
    if (!ok)
        fprintf(stderr, "orch-replay-actor %s: %s\n", argv[1], error->message);
    orch_actor_share_free(share);
    g_clear_error(&error);
    return ok ? 0 : 1;
}
