/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read of a SimGrid platform file before the simulator is started: that it is well-formed,
 * and its hosts, to which workers are assigned. Links and routes are SimGrid's business. */
#ifndef ORCH_PLUGINS_SIMCLUSTER_PLATFORM_FILE_H
#define ORCH_PLUGINS_SIMCLUSTER_PLATFORM_FILE_H

#include <glib.h>
#include <stdint.h>

struct platform_host {
    char *name;
    int zone; /* the zone or cluster that contains it, numbered from 0 in the file's order */
};

/** Reads the hosts of a platform in the file's order: `<host>` elements, and those of `<cluster>`
 * elements by prefix, radical and suffix. Returns an array of struct platform_host. Fails with
 * ORCH_ERROR_RECIPE, the file and the line if it is not well-formed, if it is no platform, if it
 * has no hosts or more than 65,536. Caller unrefs. */
GArray *orch_platform_hosts_read(const char *path, GError **error);

/** Assigns `workers` workers to hosts in order, `per_host` to each, to at most `per_zone` hosts of
 * a zone (0: all). Returns an array of `workers` indices into `hosts`. Fails with ORCH_ERROR_RECIPE
 * if there are too few hosts. Caller unrefs. */
GArray *orch_platform_place(const GArray *hosts, int64_t workers, int64_t per_host,
                            int64_t per_zone, GError **error);

#endif
