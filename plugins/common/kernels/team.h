/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fixed team of threads that do one piece of work together, over and over: starting it takes
 * about a microsecond while the team is awake, so that it can time kernels of a hundred
 * microseconds. */
#ifndef ORCH_PLUGINS_COMMON_KERNELS_TEAM_H
#define ORCH_PLUGINS_COMMON_KERNELS_TEAM_H

struct orch_team;

/** The part `index` of `count` of the work, 0 <= index < count. */
typedef void orch_team_work(void *argument, int index, int count);

/** Starts a team of `threads` (>= 1; the caller of orch_team_run is one of them). When the system
 * refuses a thread, the team is smaller. The caller frees it. */
struct orch_team *orch_team_new(int threads);
void orch_team_free(struct orch_team *team);
/** Threads of the team, the caller's included. */
int orch_team_size(const struct orch_team *team);
/** Runs every part once, and returns when all have ended. Not reentrant. */
void orch_team_run(struct orch_team *team, orch_team_work *work, void *argument);

#endif
