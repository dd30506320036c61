/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An actor of a learner: 'orch-replay-actor DESCRIPTOR INDEX PARENT'. A learner starts it
 * (actor_pool.h) with a descriptor of the shared memory. It ends when it is told to, or with its
 * parent. */
#include "plugins/common/actor/actor_loop.h"

#include "lib/base/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "orch-replay-actor: only a learner of plugin replay starts this program\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(argv[3], NULL, 10))
        return 1; /* it ended before the line above */
    setenv("OMP_NUM_THREADS", "1", 0);
    GError *error = NULL;
    struct orch_actor_share *share = orch_actor_share_attach(atoi(argv[1]), &error);
    if (share && orch_actor_loop(share, strtol(argv[2], NULL, 10), &error))
        return 0;
    fprintf(stderr, "orch-replay-actor %s: %s\n", argv[2], error->message);
    return 1;
}
