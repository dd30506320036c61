/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TensorBoard's event files: the bytes as a whole file, and as records (length in 2 bytes, bytes)
 * that get the checksums that a fuzzer cannot guess. A crash, a leak, a hang, or a run that no
 * store takes is a fault. Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the
 * committed corpus as a test. */
#include "features/imports/import_runs.h"
#include "lib/base/protobuf.h"
#include "tests/imports/imported_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static uint32_t masked_crc(const uint32_t table[256], const uint8_t *bytes, size_t length)
{
    uint32_t crc = orch_protobuf_crc(table, 0, bytes, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static GByteArray *wrap(const uint8_t *bytes, size_t length)
{
    uint32_t table[256];
    GByteArray *out = g_byte_array_new();
    orch_protobuf_crc_table(table, PROTOBUF_CRC32C);
    while (length >= 2) {
        size_t part = MIN((size_t)orch_protobuf_little(bytes, 2), length - 2);
        guint at = out->len;
        append_little(out, part, 8);
        append_little(out, masked_crc(table, out->data + at, 8), 4);
        g_byte_array_append(out, bytes + 2, (guint)part);
        append_little(out, masked_crc(table, bytes + 2, part), 4);
        bytes += 2 + part;
        length -= 2 + part;
    }
    return out;
}

static void read_events(const uint8_t *bytes, size_t length)
{
    g_autofree char *path = scratch_write("events/a.tfevents.1", bytes, length);
    g_autofree char *folder = g_path_get_dirname(path);
    GPtrArray *runs = runs_new(), *warnings = warnings_new();
    orch_import_logs(&ORCH_LOGGER_TENSORBOARD, folder, "events", runs, warnings);
    if (!runs->len && !warnings->len)
        fuzz_die("neither a run nor a warning");
    check_runs(runs, warnings);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    GByteArray *wrapped = wrap(bytes, length);
    read_events(bytes, length);
    read_events(wrapped->data, wrapped->len);
    g_byte_array_unref(wrapped);
    return 0;
}
