/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the group's remote has, for the page of `orch serve --group`. The commands `orch pull` and
 * `orch status` find it out. */
#ifndef ORCH_FEATURES_WEB_GROUP_REMOTE_H
#define ORCH_FEATURES_WEB_GROUP_REMOTE_H

#include "features/web/command.h"

#include <stdbool.h>
#include <stdint.h>

struct web_group {
    struct web_command command;
    const char *remote; /* "" is the default one */
    bool is_quiet;      /* the remote is not contacted, and nothing is pulled */
    char *pull_problem; /* why nothing was pulled; NULL: it was */
    GMutex lock;        /* protects the fields below */
    json_t *standing;   /* what the page was last told, or NULL */
    int64_t asked_us;   /* when; monotonic */
};

/** Pulls what the remote has, unless the group is quiet; a failure is noted for the page. */
void orch_web_group_pull(struct web_group *group);
/** Returns how the store and the remote stand: {"remote", "ahead", "behind", "behind_by": {WHO:
 * RUNS}, "problem", "is_contacted"}. Asks at most every 15 s. New reference; NULL with an error. */
json_t *orch_web_group_standing(struct web_group *group, GError **error);
void orch_web_group_clear(struct web_group *group);

#endif
