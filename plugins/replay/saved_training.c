/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/saved_training.h"

#include "lib/base/error.h"
#include "lib/weights/weights.h"

#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };
static const char FILE_NAME[] = "training.safetensors", STEP[] = "saved_step";

struct field {
    const char *name;
    void *data;
    size_t bytes;
    GArray *array; /* instead of data and bytes */
};

void orch_saved_init(struct orch_saved *s, const struct orch_host *host, double every_s)
{
    const char *folder = host->smoke(host) ? NULL : host->checkpoint_dir(host);
    *s = (struct orch_saved){.host = host,
                             .folder = g_strdup(folder),
                             .every_s = every_s,
                             .written_us = g_get_monotonic_time(),
                             .fields = g_array_new(FALSE, FALSE, sizeof(struct field)),
                             .rooms = g_ptr_array_new_with_free_func(g_free)};
}

void orch_saved_clear(struct orch_saved *s)
{
    g_free(s->folder);
    if (s->fields)
        g_array_unref(s->fields);
    if (s->rooms)
        g_ptr_array_unref(s->rooms);
    *s = (struct orch_saved){0};
}

void orch_saved_begin(struct orch_saved *s)
{
    g_array_set_size(s->fields, 0);
    g_ptr_array_set_size(s->rooms, 0);
}

void orch_saved_field(struct orch_saved *s, const char *name, void *data, size_t bytes)
{
    const struct field field = {.name = name, .data = data, .bytes = bytes};
    g_array_append_val(s->fields, field);
}

void *orch_saved_room(struct orch_saved *s, const char *name, size_t bytes)
{
    void *room = g_malloc0(bytes);
    g_ptr_array_add(s->rooms, room);
    orch_saved_field(s, name, room, bytes);
    return room;
}

void orch_saved_array(struct orch_saved *s, const char *name, GArray *array)
{
    const struct field field = {.name = name, .array = array};
    g_array_append_val(s->fields, field);
}

bool orch_saved_is_due(const struct orch_saved *s)
{
    return s->folder && (double)(g_get_monotonic_time() - s->written_us) / 1e6 >= s->every_s;
}

/* ---- the buffer's files -----------------------------------------------------------------------
 */

static char *buffer_path(const struct orch_saved *s, int64_t step)
{
    char name[NAME_BYTES];
    g_snprintf(name, sizeof name, "replay-%" G_GINT64_FORMAT ".buffer", step);
    return g_build_filename(s->folder, name, NULL);
}

/* Removes snapshots of other steps. What cannot be removed takes room, and does no harm. */
static void drop_others(const struct orch_saved *s, const char *kept)
{
    g_autoptr(GDir) folder = g_dir_open(s->folder, 0, NULL);
    const char *name;
    while (folder && (name = g_dir_read_name(folder))) {
        g_autofree char *path = g_build_filename(s->folder, name, NULL);
        if (g_str_has_prefix(name, "replay-") && strcmp(path, kept) != 0)
            unlink(path);
    }
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static bool put(struct orch_weights *file, const struct field *f, GError **error)
{
    const size_t element = f->array ? g_array_get_element_size(f->array) : 1;
    const int64_t bytes = (int64_t)(f->array ? f->array->len * element : f->bytes);
    const void *data = f->array ? f->array->data : f->data;
    /* an empty array is left out: reading finds none */
    return bytes == 0 || orch_weights_add(file, f->name, ORCH_DTYPE_UINT8, 1, &bytes, data, error);
}

static bool write_fields(const struct orch_saved *s, int64_t step, GError **error)
{
    struct orch_weights *file = orch_weights_new();
    const struct field at = {.name = STEP, .data = &step, .bytes = sizeof step};
    g_autofree char *path = g_build_filename(s->folder, FILE_NAME, NULL);
    bool ok = put(file, &at, error);
    for (guint i = 0; ok && i < s->fields->len; i++)
        ok = put(file, &g_array_index(s->fields, struct field, i), error);
    ok = ok && orch_weights_save(file, path, true, error);
    orch_weights_free(file);
    return ok;
}

bool orch_saved_write(struct orch_saved *s, int64_t step, struct orch_replay *buffer,
                      GError **error)
{
    if (!s->folder)
        return true;
    g_autofree char *snapshot = buffer_path(s, step);
    if ((buffer && !orch_replay_save(buffer, snapshot, error)) || !write_fields(s, step, error))
        return false;
    drop_others(s, snapshot);
    s->written_us = g_get_monotonic_time();
    return true;
}

void orch_saved_note_failure(struct orch_saved *s, GError *error)
{
    g_autofree char *text = g_strdup_printf("no checkpoint was written: %s", error->message);
    s->host->note(s->host, text);
    g_error_free(error);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static bool take(const struct orch_weights *file, const struct field *f, GError **error)
{
    const struct orch_weight *there = orch_weights_find(file, f->name);
    const size_t bytes = there ? there->bytes : 0;
    const size_t element = f->array ? g_array_get_element_size(f->array) : 1;
    if (f->array ? bytes % element != 0 : bytes != f->bytes) {
        orch_error_set(error, ORCH_ERROR_CHECK, NULL,
                       "'%s' of the checkpoint has %zu bytes, expected %zu", f->name, bytes,
                       f->array ? element : f->bytes);
        return false;
    }
    if (f->array) {
        g_array_set_size(f->array, (guint)(bytes / element));
        if (bytes > 0)
            memcpy(f->array->data, there->data, bytes);
    } else if (bytes > 0) {
        memcpy(f->data, there->data, bytes);
    }
    return true;
}

static bool read_fields(const struct orch_saved *s, const char *path, int64_t *out_step,
                        GError **error)
{
    struct orch_weights *file = orch_weights_load(path, error);
    const struct field at = {.name = STEP, .data = out_step, .bytes = sizeof *out_step};
    bool ok = file && take(file, &at, error);
    for (guint i = 0; ok && i < s->fields->len; i++)
        ok = take(file, &g_array_index(s->fields, struct field, i), error);
    orch_weights_free(file);
    return ok;
}

bool orch_saved_read(struct orch_saved *s, struct orch_replay *buffer, bool *out_is_there,
                     GError **error)
{
    g_autofree char *path = s->folder ? g_build_filename(s->folder, FILE_NAME, NULL) : NULL;
    GError *problem = NULL;
    int64_t step = 0;
    *out_is_there = path && g_file_test(path, G_FILE_TEST_EXISTS);
    if (!*out_is_there)
        return true;
    bool ok = read_fields(s, path, &step, &problem);
    if (ok && buffer) {
        g_autofree char *snapshot = buffer_path(s, step);
        ok = orch_replay_load(buffer, snapshot, &problem);
    }
    if (!ok) {
        orch_error_set(error, ORCH_ERROR_CHECK, "remove this folder to begin at step 0",
                       "cannot continue from the checkpoint in '%s': %s", s->folder,
                       problem->message);
        g_error_free(problem);
        return false;
    }
    g_autofree char *text = g_strdup_printf("an earlier attempt had taken %" G_GINT64_FORMAT
                                            " steps; this one went on from there",
                                            step);
    s->host->note(s->host, text);
    return true;
}
