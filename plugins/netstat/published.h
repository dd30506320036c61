/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published operation counts of networks, for comparison with the counts computed here. */
#ifndef ORCH_PLUGINS_NETSTAT_PUBLISHED_H
#define ORCH_PLUGINS_NETSTAT_PUBLISHED_H

/** Operations of a forward pass of one image, with a multiply-add as one. */
struct orch_net_published {
    const char *net; /* name in the zoo; NULL ends the table */
    double operations;
    const char *source;
    const char *note; /* how the paper's count differs from orch_net_operations(); or "" */
};

/** The published count of a network of the zoo; NULL if none is known. */
const struct orch_net_published *orch_net_published_find(const char *net);

#endif
