/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations of networks as papers publish them, to stand beside those that are counted here. */
#ifndef ORCH_NET_PUBLISHED_H
#define ORCH_NET_PUBLISHED_H

/** Operations of one forward pass of one image, a multiply-add as one. */
struct orch_net_published {
    const char *net; /* as the zoo names it; NULL ends the table */
    double operations;
    const char *source;
    const char *note; /* how the paper's count differs from orch_net_operations(); or "" */
};

/** The published count of a network of the zoo; NULL: none is known. */
const struct orch_net_published *orch_net_published_find(const char *net);

#endif
