/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the tensors of the networks named on the command line: network, name, shape, and the mean
 * and deviation that they begin with. For comparison with another implementation. */
#include "lib/net/net.h"

#include <math.h>
#include <stdio.h>

static void print_tensor(const char *net_name, const struct orch_net_tensor *tensor)
{
    printf("%s\t%s\t", net_name, tensor->name);
    for (int i = 0; i < tensor->rank; i++)
        printf("%s%lld", i ? "," : "", (long long)tensor->shape[i]);
    double deviation = tensor->init == ORCH_NET_INIT_UNIFORM  ? tensor->init_scale / sqrt(3)
                       : tensor->init == ORCH_NET_INIT_NORMAL ? tensor->init_scale
                                                              : 0;
    printf("\t%g\t%g\n", tensor->init == ORCH_NET_INIT_ONE ? 1.0 : 0.0, deviation);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        GError *error = NULL;
        struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = argv[i]}, &error);
        if (!net) {
            fprintf(stderr, "%s\n", error->message);
            return 1;
        }
        for (guint j = 0; j < net->tensors->len; j++)
            print_tensor(argv[i], orch_net_tensor(net, (int)j));
        orch_net_free(net);
    }
    return 0;
}
