/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lu, Rallapalli, Chan, La Porta: "Modeling the Resource Requirements of Convolutional Neural
 * Networks on Mobile Devices", 2017, arXiv:1709.09503, which counts like lib/net/cost.h. Papers
 * print rounded totals. */
#include "plugins/netstat/published.h"

#include <stddef.h>
#include <string.h>

static const struct orch_net_published TABLE[] = {
    {"alexnet-grouped", 729e6, "Lu et al. 2017, table 2", ""},
    {"vgg16", 15503e6, "Lu et al. 2017, table 3", ""},
    {"googlenet-bvlc", 1606e6, "Lu et al. 2017, table 5", ""},
    {"resnet50-v1", 3922e6, "Lu et al. 2017, table 6",
     "the paper counts biases, which ResNet's convolutions do not have, but not the additions of "
     "the shortcuts"},
    {NULL, 0, NULL, NULL},
};

const struct orch_net_published *orch_net_published_find(const char *net)
{
    for (const struct orch_net_published *row = TABLE; row->net; row++)
        if (strcmp(row->net, net) == 0)
            return row;
    return NULL;
}
