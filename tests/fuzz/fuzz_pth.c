/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PyTorch's files: the bytes as a whole file, and as the pickle of a zip archive that has one
 * storage of 64 bytes, so that a fuzzer need not get the archive's checksums right. What is read
 * must be readable to its last byte. */
#include "lib/weights/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* g_error ends in SIGTRAP, of which a fuzzer keeps no input. */
static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static void append_number(GByteArray *out, uint64_t number, int size)
{
    for (int i = 0; i < size; i++, number >>= 8)
        g_byte_array_append(out, &(uint8_t){(uint8_t)number}, 1);
}

/* What local header and directory have in common: version to checksums, sizes, length of name. */
static void append_facts(GByteArray *out, const char *name, const uint8_t *bytes, size_t length)
{
    append_number(out, 20, 2);
    append_number(out, 0, 8); /* flags, method, time, date */
    append_number(out, crc32_z(0, bytes, length), 4);
    append_number(out, length, 4);
    append_number(out, length, 4);
    append_number(out, strlen(name), 2);
    append_number(out, 0, 2);
}

static void append_entry(GByteArray *out, GByteArray *directory, const char *name,
                         const uint8_t *bytes, size_t length)
{
    append_number(directory, 0x02014b50, 4);
    append_number(directory, 20, 2);
    append_facts(directory, name, bytes, length);
    append_number(directory, 0, 10); /* comment, disk, attributes */
    append_number(directory, out->len, 4);
    g_byte_array_append(directory, (const uint8_t *)name, (guint)strlen(name));
    append_number(out, 0x04034b50, 4);
    append_facts(out, name, bytes, length);
    g_byte_array_append(out, (const uint8_t *)name, (guint)strlen(name));
    g_byte_array_append(out, bytes, (guint)length);
}

static void *wrap(const uint8_t *pickle, size_t pickle_bytes, size_t *out_length)
{
    static const uint8_t storage[64] = {1, 2, 3};
    GByteArray *out = g_byte_array_new(), *directory = g_byte_array_new();
    append_entry(out, directory, "a/data.pkl", pickle, pickle_bytes);
    append_entry(out, directory, "a/data/0", storage, sizeof storage);
    size_t at = out->len;
    g_byte_array_append(out, directory->data, directory->len);
    append_number(out, 0x06054b50, 4);
    append_number(out, 0, 4);
    append_number(out, 2, 2);
    append_number(out, 2, 2);
    append_number(out, directory->len, 4);
    append_number(out, at, 4);
    append_number(out, 0, 2);
    g_byte_array_unref(directory);
    *out_length = out->len;
    return g_byte_array_free(out, FALSE);
}

/* Loads, and touches every byte. */
static void try_bytes(void *bytes, size_t length)
{
    GError *error = NULL;
    struct orch_weights *weights = orch_weights_load_bytes(bytes, length, &error);
    if ((weights == NULL) == (error == NULL))
        die("neither weights nor an error, or both");
    g_clear_error(&error);
    volatile uint8_t sum = 0;
    for (guint i = 0; weights && i < weights->items->len; i++) {
        const struct orch_weight *weight = weights->items->pdata[i];
        for (size_t j = 0; j < weight->bytes; j++)
            sum = (uint8_t)(sum + ((const uint8_t *)weight->data)[j]);
    }
    orch_weights_free(weights);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    try_bytes(length ? g_memdup2(bytes, length) : g_malloc(1), length);
    size_t wrapped_bytes = 0;
    void *wrapped = wrap(bytes, length, &wrapped_bytes);
    try_bytes(wrapped, wrapped_bytes);
    return 0;
}
