/* SPDX-License-Identifier: MIT */
#include "core/host/crash/crash_names.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/subprocess.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 400 };
static const int64_t PATIENCE_NS = INT64_C(10000000000);

/* A mapped file. */
struct module {
    uint64_t begin, end, offset;
    const char *path; /* as mapped; borrowed */
    const char *file; /* that has its symbols; NULL: none. Borrowed */
    bool is_plugin;
};

/* A frame in its file. */
struct place {
    struct crash_frame *frame;
    const struct module *module;
    uint64_t in_file; /* address as the file counts it; 0: not known */
    char *symbol;     /* "step"; NULL: none */
};

void orch_crash_frame_clear(void *frame)
{
    g_strfreev(((struct crash_frame *)frame)->names);
}

/* ---- modules ----------------------------------------------------------------------------------
 */

/* A plugin is loaded from a private copy, which has no file any more. */
static bool is_copy(const char *path)
{
    return g_str_has_prefix(path, "/memfd:orch-plugin") || strstr(path, "/orch-plugin-");
}

static bool has_digest(const char *path, const char *sha256)
{
    char found[ORCH_SHA256_CHARS];
    return !sha256 || (orch_file_sha256(path, found, NULL, NULL) && strcmp(found, sha256) == 0);
}

static GArray *read_modules(const GPtrArray *maps, const char *plugin, const char *sha256)
{
    GArray *modules = g_array_new(FALSE, FALSE, sizeof(struct module));
    bool is_same = plugin && has_digest(plugin, sha256);
    for (guint i = 0; i < maps->len; i++) {
        struct module module = {0};
        const char *line = maps->pdata[i], *path = strchr(line, '/');
        unsigned long long begin, end, offset;
        if (!path || sscanf(line, "%llx-%llx %*s %llx", &begin, &end, &offset) != 3)
            continue;
        module.begin = begin;
        module.end = end;
        module.offset = offset;
        module.path = path;
        module.is_plugin = is_copy(path) || g_strcmp0(path, plugin) == 0;
        module.file = !module.is_plugin ? path : is_same ? plugin : NULL;
        g_array_append_val(modules, module);
    }
    return modules;
}

static const struct module *module_of(const GArray *modules, uint64_t address)
{
    for (guint i = 0; i < modules->len; i++) {
        const struct module *module = &g_array_index(modules, struct module, i);
        if (address >= module->begin && address < module->end)
            return module;
    }
    return NULL;
}

/* The frame's address as its file counts it: from where the file's beginning is mapped. */
static uint64_t in_file(const GArray *modules, const struct crash_frame *frame,
                        const struct module *module)
{
    for (guint i = 0; module->file && i < modules->len; i++) {
        const struct module *first = &g_array_index(modules, struct module, i);
        if (!first->offset && first->begin <= frame->address &&
            strcmp(first->path, module->path) == 0)
            return frame->address - frame->is_return - first->begin;
    }
    return 0;
}

/* ---- addr2line --------------------------------------------------------------------------------
 */

/* Returns all that a program prints, which runs without the variable that makes it ask servers for
 * debug information; NULL when it prints too much or takes too long. */
static char *answer_of(char **words, int64_t until_ns)
{
    g_auto(GStrv) env = g_environ_unsetenv(g_get_environ(), "DEBUGINFOD_URLS");
    const struct orch_subprocess command = {
        .argv = (const char *const *)words,
        .environment = env,
        .timeout_s = MAX((double)(until_ns - orch_mono_ns()) / 1e9, 1e-3),
        .output_bytes_max = ANSWER_BYTES_MAX,
    };
    struct orch_subprocess_end end;
    if (!orch_subprocess_run(&command, &end, NULL))
        return NULL;
    char *answer = g_strdup(end.out->str);
    orch_subprocess_end_clear(&end);
    return answer;
}

/* Adds what a line says, "step at /src/crash.c:12 (discriminator 3)", to the names of a place. Of
 * one without a line number, the function is kept. */
static void take_name(struct place *place, const char *line, GPtrArray *names)
{
    static const char inlined[] = " (inlined by) ";
    if (g_str_has_prefix(line, inlined))
        line += strlen(inlined);
    const char *at = strstr(line, " at ");
    if (!at || g_str_has_prefix(line, "??"))
        return;
    char *valid = g_utf8_make_valid(line, (gssize)strnlen(line, NAME_BYTES_MAX));
    char *discriminator = strstr(valid, " (discriminator");
    if (discriminator)
        *discriminator = '\0';
    if (!g_str_has_suffix(valid, ":?") && !g_str_has_suffix(valid, ":0")) {
        g_ptr_array_add(names, valid);
        return;
    }
    g_free(place->symbol);
    place->symbol = g_strndup(line, (gsize)(at - line));
    g_free(valid);
}

/* Takes the lines of an answer: "0x1139: step at ..." begins the next of the places. */
static void take_answer(const char *answer, const GPtrArray *places)
{
    g_auto(GStrv) lines = g_strsplit(answer, "\n", -1);
    char **line = lines;
    for (guint i = 0; i < places->len && g_str_has_prefix(*line ? *line : "", "0x"); i++) {
        struct place *place = places->pdata[i];
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        const char *colon = strstr(*line, ": ");
        take_name(place, colon ? colon + 2 : "", names);
        for (line++; *line && !g_str_has_prefix(*line, "0x"); line++)
            take_name(place, *line, names);
        if (!names->len)
            continue;
        g_ptr_array_add(names, NULL);
        place->frame->names = (char **)g_ptr_array_steal(names, NULL);
    }
}

/* Asks for all places in the file of the first. */
static void ask(GArray *places, const char *file, int64_t until_ns)
{
    g_autoptr(GPtrArray) asked = g_ptr_array_new();
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    const char *const begin[] = {"addr2line", "-a", "-f", "-C", "-i", "-p", "-e", file};
    for (unsigned i = 0; i < G_N_ELEMENTS(begin); i++)
        g_ptr_array_add(words, g_strdup(begin[i]));
    for (guint i = 0; i < places->len; i++) {
        struct place *place = &g_array_index(places, struct place, i);
        if (!place->module || !place->in_file || g_strcmp0(place->module->file, file) != 0)
            continue;
        g_ptr_array_add(asked, place);
        g_ptr_array_add(words, g_strdup_printf("0x%" PRIx64, place->in_file));
    }
    g_ptr_array_add(words, NULL);
    g_autofree char *answer = asked->len ? answer_of((char **)words->pdata, until_ns) : NULL;
    if (answer)
        take_answer(answer, asked);
}

static void ask_all(GArray *places)
{
    int64_t until_ns = orch_mono_ns() + PATIENCE_NS;
    g_autoptr(GHashTable) asked = g_hash_table_new(g_str_hash, g_str_equal);
    for (int plugin = 1; plugin >= 0; plugin--) /* the plugin's first, should the time run out */
        for (guint i = 0; i < places->len; i++) {
            const struct module *module = g_array_index(places, struct place, i).module;
            if (module && module->file && module->is_plugin == plugin &&
                g_hash_table_add(asked, (gpointer)(uintptr_t)module->file))
                ask(places, module->file, until_ns);
        }
}

/* ---- the frames -------------------------------------------------------------------------------
 */

/* Names a frame without line numbers: "step in libcrash.so+0x1139". */
static void name_plainly(struct place *place, const char *plugin)
{
    char *name;
    if (!place->module) {
        name = g_strdup_printf("0x%" PRIx64 " (no code is mapped there)", place->frame->address);
    } else {
        g_autofree char *base =
            g_path_get_basename(place->module->is_plugin && plugin ? plugin : place->module->path);
        uint64_t offset = place->frame->address - place->module->begin + place->module->offset;
        name = g_strdup_printf("%s%s%s+0x%" PRIx64, place->symbol ? place->symbol : "",
                               place->symbol ? " in " : "", base, offset);
    }
    place->frame->names = g_new0(char *, 2);
    place->frame->names[0] = g_utf8_make_valid(name, -1);
    g_free(name);
}

void orch_crash_names_find(const char *plugin, const char *sha256, const GPtrArray *maps,
                           GArray *frames)
{
    g_autoptr(GArray) modules = read_modules(maps, plugin, sha256);
    g_autoptr(GArray) places = g_array_sized_new(FALSE, TRUE, sizeof(struct place), frames->len);
    g_array_set_size(places, frames->len);
    for (guint i = 0; i < frames->len; i++) {
        struct place *place = &g_array_index(places, struct place, i);
        place->frame = &g_array_index(frames, struct crash_frame, i);
        place->module = module_of(modules, place->frame->address);
        place->frame->is_plugin = place->module && place->module->is_plugin;
        if (place->module)
            place->in_file = in_file(modules, place->frame, place->module);
    }
    ask_all(places);
    for (guint i = 0; i < places->len; i++) {
        struct place *place = &g_array_index(places, struct place, i);
        if (!place->frame->names)
            name_plainly(place, plugin);
        g_free(place->symbol);
    }
}

char *orch_crash_name_short(const char *name)
{
    const char *at = strstr(name, " at ");
    const char *slash = at ? strrchr(at, '/') : NULL;
    if (!slash)
        return g_strdup(name);
    return g_strdup_printf("%.*s at %s", (int)(at - name), name, slash + 1);
}
