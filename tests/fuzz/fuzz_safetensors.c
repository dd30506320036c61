/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safetensors: the bytes as a whole file, and as a header in front of 64 bytes of data. What was
 * read is saved and read again, to the same. */
#include "lib/weights/weights.h"
#include "tests/fuzz/scratch.h"

#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_equal(const struct orch_weights *weights, const struct orch_weights *again)
{
    if (weights->items->len != again->items->len)
        fuzz_die("another number of tensors came back");
    for (guint i = 0; i < weights->items->len; i++) {
        const struct orch_weight *a = weights->items->pdata[i];
        const struct orch_weight *b = orch_weights_find(again, a->name);
        if (!b || a->dtype != b->dtype || a->bytes != b->bytes ||
            (a->bytes && memcmp(a->data, b->data, a->bytes) != 0))
            fuzz_die("a tensor came back changed");
    }
}

static void check_round_trip(const struct orch_weights *weights)
{
    g_autofree char *path = g_build_filename(scratch_folder(), "fuzz.safetensors", NULL);
    GError *error = NULL;
    if (!orch_weights_save(weights, path, false, &error))
        fuzz_die(error->message);
    struct orch_weights *again = orch_weights_load(path, &error);
    unlink(path);
    if (!again)
        fuzz_die(error->message);
    check_equal(weights, again);
    orch_weights_free(again);
}

static void try_bytes(void *bytes, size_t length)
{
    GError *error = NULL;
    struct orch_weights *weights = orch_weights_load_bytes(bytes, length, &error);
    if ((weights == NULL) == (error == NULL))
        fuzz_die("neither weights nor an error, or both");
    g_clear_error(&error);
    if (weights)
        check_round_trip(weights);
    orch_weights_free(weights);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    try_bytes(length ? g_memdup2(bytes, length) : g_malloc(1), length);
    uint8_t *framed = g_malloc0(8 + length + 64);
    for (int i = 0; i < 8; i++)
        framed[i] = (uint8_t)(length >> 8 * i);
    if (length)
        memcpy(framed + 8, bytes, length);
    try_bytes(framed, 8 + length + 64);
    return 0;
}
