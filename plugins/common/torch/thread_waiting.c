/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By libgomp's default a waiting thread spins for milliseconds. Where more threads want to run than
 * there are processors, it spins while the one that it waits for does not run, and steps take up to
 * fifty times as long (bench/results/2026-11-28.md, the trainer). */
#include "plugins/common/torch/thread_waiting.h"

#include <glib.h>

#define BUSY 1.5
#define SHORT_SPIN "1000"

void orch_thread_waiting_choose(double load, long processors)
{
    if (load > BUSY * (double)processors && !g_getenv("OMP_WAIT_POLICY"))
        g_setenv("GOMP_SPINCOUNT", SHORT_SPIN, FALSE);
}
