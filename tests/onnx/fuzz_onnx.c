/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models: the bytes as a file. What is read must be countable, and an error must be text. */
#include "features/onnx/onnx.h"
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
    struct orch_onnx_notes notes = {0};
    struct orch_net *net =
        orch_onnx_load_bytes(bytes, length, "fuzzed", (struct orch_net_shape){0}, &notes, &error);
    if ((net == NULL) == (error == NULL))
        die("neither a network nor an error, or both");
    if (error && !g_utf8_validate(error->message, -1, NULL))
        die("an error that is no text");
    if (net)
        g_free(orch_net_costs(net));
    orch_onnx_notes_release(&notes);
    orch_net_free(net);
    g_clear_error(&error);
    return 0;
}
