/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the group's remote has, for the page of `orch serve --group`. The commands `orch pull` and
 * `orch status` find it out. */
#ifndef ORCH_FEATURES_WEB_GROUP_REMOTE_H
#define ORCH_FEATURES_WEB_GROUP_REMOTE_H

#include "features/web/command.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct web_group {
    struct web_command command;
    const char *remote; /* "" is the default one */
    bool is_quiet;      /* the remote is not contacted, and nothing is pulled */
    GThread *puller;    /* pulls again after a failure, or NULL */
    pthread_t puller_id;
    GMutex talking; /* held while a command talks with the remote: a pull and a question would fetch
                       into the same references; taken before `lock` */
    GMutex lock;    /* protects the fields below */
    GCond ending;
    bool is_ending;
    char *pull_problem; /* why nothing was pulled; NULL: it was */
    json_t *standing;   /* what the page was last told, or NULL */
    int64_t asked_us;   /* when; monotonic */
};

/** Prepares the group and, unless it is quiet, pulls what the remote has. After a failure it is
 * pulled again, after 5 s and then after twice the pause before, up to 10 min, until a pull works.
 * Returns why the first pull failed, or NULL; the caller frees. */
char *orch_web_group_open(struct web_group *group);
/** Returns how the store and the remote stand: {"remote", "ahead", "behind", "behind_by": {WHO:
 * RUNS}, "problem", "is_contacted"}. Asks at most every 15 s. New reference; NULL with an error. */
json_t *orch_web_group_standing(struct web_group *group, GError **error);
void orch_web_group_clear(struct web_group *group);

#endif
