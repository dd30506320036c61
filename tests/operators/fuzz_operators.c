/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of operators: the bytes as a file. What is read must be countable, and an error must be
 * text. */
#include "features/operators/operators.h"
#include "lib/net/cost.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* g_error ends in SIGTRAP, of which a fuzzer keeps no input. */
static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = orch_operators_load_bytes(bytes, length, "fuzzed",
                                                     (struct orch_net_shape){0}, notes, &error);
    if ((net == NULL) == (error == NULL))
        die("neither a network nor an error, or both");
    if (error && !g_utf8_validate(error->message, -1, NULL))
        die("an error that is no text");
    if (net)
        g_free(orch_net_costs(net));
    for (guint i = 0; net && i < net->nodes->len; i++)
        g_free(orch_net_macs_work(net, orch_net_node(net, (int)i)));
    orch_net_free(net);
    g_clear_error(&error);
    return 0;
}
