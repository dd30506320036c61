/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a NAME.plugin: a crash, a leak, a hang, or a manifest beside an error is a fault; so
 * is a manifest that does not survive the way through JSON, which is how it reaches the host. Built
 * with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "core/plugin/plugins.h"
#include "lib/base/file.h"
#include "tests/fuzz/scratch.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_round_trip(const struct orch_manifest *manifest)
{
    g_autofree char *problem = orch_manifest_problem(manifest);
    json_t *json = orch_manifest_encode(manifest);
    struct orch_manifest *copy = orch_manifest_decode(json, NULL);
    json_t *again = copy ? orch_manifest_encode(copy) : NULL;
    if (problem || !manifest->argv || !manifest->argv[0] || !json_equal(json, again))
        abort();
    json_decref(again);
    json_decref(json);
    orch_manifest_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autofree char *path = scratch_write("fuzz.plugin", bytes, length);
    struct orch_diags *diags = orch_diags_new();
    struct orch_manifest *manifest = orch_manifest_load(path, diags);
    if ((manifest != NULL) != (diags->error_count == 0))
        abort();
    if (manifest)
        check_round_trip(manifest);
    orch_manifest_free(manifest);
    orch_diags_free(diags);
    unlink(path);
    return 0;
}
