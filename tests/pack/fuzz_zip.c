/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a zip archive, as the deflated data of an archive's one entry, and, when they begin
 * with 'w', as a file that is packed and unpacked again. A crash, a leak, a hang, a failure without
 * an error, more bytes than an entry's limit, or another file than was packed is a fault. Built
 * with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "features/pack/zip_write.h"
#include "lib/zip/zip_read.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { ENTRIES_MAX = 1000, ENTRY_BYTES_MAX = 1 << 20 };

static bool sink(void *ctx, const uint8_t *bytes, size_t length, GError **error)
{
    (void)error;
    GByteArray *out = ctx;
    if (out->len + length > ENTRY_BYTES_MAX)
        fuzz_die("more bytes than the limit of an entry");
    g_byte_array_append(out, bytes, (guint)length);
    return true;
}

/* Unpacks an entry; true when that went well, with its bytes in `out`. */
static bool unpack(const struct orch_zip *zip, const struct orch_zip_entry *entry, GByteArray *out)
{
    GError *error = NULL;
    bool ok = orch_zip_unpack(zip, entry, sink, out, &error);
    if (ok != (error == NULL) || (ok && out->len != entry->bytes) || out->len > entry->bytes)
        fuzz_die("unpacked, and with an error or another size");
    g_clear_error(&error);
    if (entry->method == 0) {
        const uint8_t *stored = orch_zip_stored(zip, entry, NULL);
        if ((stored != NULL) != ok || (ok && out->len && memcmp(stored, out->data, out->len) != 0))
            fuzz_die("a stored entry is read in two ways");
    }
    return ok;
}

/* Opens and unpacks all; the number of entries that could be. */
static guint read_archive(const uint8_t *bytes, size_t length, GByteArray *last)
{
    struct orch_zip_limits limits = {ENTRIES_MAX, ENTRY_BYTES_MAX};
    GError *error = NULL;
    guint good = 0;
    struct orch_zip *zip = orch_zip_open(bytes, length, limits, &error);
    if ((zip != NULL) != (error == NULL))
        fuzz_die("an archive beside an error, or neither");
    if (zip && zip->entries->len > ENTRIES_MAX)
        fuzz_die("more entries than the limit");
    for (guint i = 0; zip && i < zip->entries->len; i++) {
        const struct orch_zip_entry *entry = zip->entries->pdata[i];
        if (orch_zip_find(zip, entry->name) != entry)
            fuzz_die("an entry is not found by its name");
        g_byte_array_set_size(last, 0);
        good += unpack(zip, entry, last);
    }
    orch_zip_free(zip);
    g_clear_error(&error);
    return good;
}

/* The bytes as the deflated data of "a", of a size that the first two bytes give. */
static void read_deflated(const uint8_t *bytes, size_t length, GByteArray *out)
{
    static const uint8_t local[] = "PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0a";
    static const uint8_t entry[] = "PK\1\2\24\0\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0"
                                   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a";
    static const uint8_t end[] = "PK\5\6\0\0\0\0\1\0\1\0\57\0\0\0\0\0\0\0\0\0";
    if (length < 2)
        return;
    g_autoptr(GByteArray) archive = g_byte_array_new();
    g_byte_array_append(archive, local, sizeof local - 1);
    g_byte_array_append(archive, bytes + 2, (guint)length - 2);
    guint at = archive->len;
    g_byte_array_append(archive, entry, sizeof entry - 1);
    for (int i = 0; i < 4; i++)
        archive->data[at + 20 + (guint)i] = (uint8_t)((length - 2) >> 8 * i);
    memcpy(archive->data + at + 24, bytes, 2);
    guint end_at = archive->len;
    g_byte_array_append(archive, end, sizeof end - 1);
    for (int i = 0; i < 4; i++)
        archive->data[end_at + 16 + (guint)i] = (uint8_t)(at >> 8 * i);
    read_archive(archive->data, archive->len, out);
}

static void check_round_trip(const uint8_t *bytes, size_t length, GByteArray *out)
{
    g_autofree char *path = g_build_filename(scratch_folder(), "a.zip", NULL);
    g_autofree char *archive = NULL;
    size_t archive_bytes = 0;
    struct orch_zip_file files[] = {{"empty", "", 0}, {"a/file", bytes, length}};
    if (!orch_zip_write(path, files, G_N_ELEMENTS(files), NULL) ||
        !orch_file_read(path, SIZE_MAX / 2, &archive, &archive_bytes, NULL))
        fuzz_die("the archive cannot be written or read");
    if (read_archive((const uint8_t *)archive, archive_bytes, out) != 2 || out->len != length ||
        (length && memcmp(out->data, bytes, length) != 0))
        fuzz_die("another file than was packed");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    read_archive(bytes, length, out);
    read_deflated(bytes, length, out);
    if (length && *bytes == 'w') /* writing is slow: it waits for the disk */
        check_round_trip(bytes, length, out);
    return 0;
}
