/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tensor of a network by its name. */
#include "lib/net/net.h"

#include <string.h>

/* Its index; -1: there is none. */
static inline int tensor_find(const struct orch_net *net, const char *name)
{
    for (guint i = 0; i < net->tensors->len; i++)
        if (strcmp(orch_net_tensor(net, (int)i)->name, name) == 0)
            return (int)i;
    return -1;
}
