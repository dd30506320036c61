/* SPDX-License-Identifier: MIT */
#include "core/host/crash/crash_trace.h"

#include "core/host/crash/crash_names.h"
#include "core/host/crash/crash_trap.h"
#include "core/host/crash/signal_text.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 4 << 20, RANKS_MAX = 4, SAME_SHOWN = 3 };

/* What the handler wrote. */
struct crash {
    int number;
    uint64_t address, pc, caller;
    bool has_address;
    GArray *frames; /* struct crash_frame, the innermost first */
    GPtrArray *maps;
};

static void free_crash(struct crash *crash)
{
    g_array_unref(crash->frames);
    g_ptr_array_unref(crash->maps);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void take_frame(struct crash *crash, uint64_t address)
{
    struct crash_frame frame = {.address = address, .is_return = address != crash->pc};
    g_array_append_val(crash->frames, frame);
}

static void take_line(struct crash *crash, const char *line)
{
    const struct {
        const char *word;
        uint64_t *place;
    } numbers[] = {{"address ", &crash->address}, {"pc ", &crash->pc}, {"caller ", &crash->caller}};
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (g_str_has_prefix(line, numbers[i].word))
            *numbers[i].place = g_ascii_strtoull(line + strlen(numbers[i].word), NULL, 16);
    if (g_str_has_prefix(line, "signal "))
        crash->number = (int)g_ascii_strtoull(line + 7, NULL, 16);
    else if (g_str_has_prefix(line, "address "))
        crash->has_address = true;
    else if (g_str_has_prefix(line, "frame "))
        take_frame(crash, g_ascii_strtoull(line + 6, NULL, 16));
    else if (strchr(line, '-'))
        g_ptr_array_add(crash->maps, g_strdup(line));
}

/* Removes the frames of the handler itself. Where the unwinder did not find the place of the crash,
 * that place and its caller are put before the frames, which are then those of the handler's
 * return. */
static void cut_handler(struct crash *crash)
{
    guint from = 0;
    while (from < crash->frames->len &&
           g_array_index(crash->frames, struct crash_frame, from).address != crash->pc)
        from++;
    if (from < crash->frames->len) {
        g_array_remove_range(crash->frames, 0, from);
    } else {
        struct crash_frame place = {.address = crash->pc};
        g_array_remove_range(crash->frames, 0, MIN(2, crash->frames->len));
        g_array_prepend_val(crash->frames, place);
    }
    if (crash->caller) {
        struct crash_frame caller = {.address = crash->caller, .is_return = true};
        g_array_insert_val(crash->frames, 1, caller);
    }
}

static bool read_crash(const char *path, struct crash *out)
{
    g_autofree char *text = NULL;
    bool ok = orch_file_read(path, FILE_BYTES_MAX, &text, NULL, NULL);
    unlink(path);
    if (!ok)
        return false;
    *out = (struct crash){.frames = g_array_new(FALSE, FALSE, sizeof(struct crash_frame)),
                          .maps = g_ptr_array_new_with_free_func(g_free)};
    g_array_set_clear_func(out->frames, orch_crash_frame_clear);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        take_line(out, *line);
    cut_handler(out);
    return true;
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* The frames below the plugin's outermost one are the host's. */
static guint count_shown(const struct crash *crash)
{
    for (guint i = crash->frames->len; i > 0; i--)
        if (g_array_index(crash->frames, struct crash_frame, i - 1).is_plugin)
            return i;
    return crash->frames->len;
}

static void append_same(GString *text, unsigned count)
{
    if (count > SAME_SHOWN)
        g_string_append_printf(text, "      (the same %u times more)\n", count - SAME_SHOWN);
}

static void append_frames(GString *text, const struct crash *crash)
{
    unsigned number = 0, same = 0;
    const char *before = NULL;
    for (guint i = 0; i < count_shown(crash); i++) {
        const struct crash_frame *frame = &g_array_index(crash->frames, struct crash_frame, i);
        for (char **name = frame->names; *name; name++, number++) {
            if (g_strcmp0(*name, before) != 0) {
                append_same(text, same);
                same = 0;
            }
            if (++same <= SAME_SHOWN)
                g_string_append_printf(text, "  #%-2u %s\n", number, *name);
            before = *name;
        }
    }
    append_same(text, same);
}

static void append_crash(GString *text, const struct crash *crash, const char *rank)
{
    g_autofree char *signal = orch_signal_text(crash->number);
    g_string_append_printf(text, "orch: %s%s%s", rank ? "rank " : "", rank ? rank : "",
                           rank ? ": " : "");
    g_string_append_printf(text, "backtrace of %s", signal);
    if (crash->has_address)
        g_string_append_printf(text, " at address 0x%" PRIx64, crash->address);
    g_string_append(text, "\n");
    append_frames(text, crash);
}

static char *top_of(const struct crash *crash)
{
    for (guint i = 0; i < crash->frames->len; i++) {
        const struct crash_frame *frame = &g_array_index(crash->frames, struct crash_frame, i);
        if (frame->is_plugin)
            return orch_crash_name_short(frame->names[0]);
    }
    return NULL;
}

static GPtrArray *list_files(const char *trial_dir)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(trial_dir, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (strcmp(name, CRASH_FILE) == 0 || g_str_has_prefix(name, CRASH_FILE "."))
            g_ptr_array_add(names, g_strdup(name));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

void orch_crash_trace_read(const struct orch_trial_spec *trial, const char *trial_dir,
                           struct crash_trace *out)
{
    g_autoptr(GPtrArray) names = list_files(trial_dir);
    GString *text = g_string_new(NULL);
    *out = (struct crash_trace){0};
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *path = g_build_filename(trial_dir, name, NULL);
        struct crash crash;
        if (!read_crash(path, &crash))
            continue;
        if (i < RANKS_MAX) {
            orch_crash_names_find(trial->manifest->path, trial->plugin_sha256, crash.maps,
                                  crash.frames);
            append_crash(text, &crash,
                         name[strlen(CRASH_FILE)] ? name + strlen(CRASH_FILE) + 1 : NULL);
            out->top = names->len == 1 ? top_of(&crash) : NULL;
        }
        free_crash(&crash);
    }
    out->text = g_string_free(text, text->len == 0);
}

void orch_crash_trace_clear(struct crash_trace *trace)
{
    g_free(trace->text);
    g_free(trace->top);
}
