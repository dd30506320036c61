/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX Runtime, through its C interface (ort_api.h). */
#include "plugins/onnxrun/ort_api.h"

#include "lib/base/error.h"
#include "lib/onnx/onnxruntime.h"
#include "plugins/onnxrun/engine.h"

#include <dlfcn.h>
#include <string.h>

#ifdef ORCH_HAVE_ORT_HEADER
#include <onnxruntime_c_api.h>
#define CHECK_PLACE(place, name, member, type, arguments)                                          \
    _Static_assert(offsetof(OrtApi, name) == (place) * sizeof(void *), "place of " #name);
ONNXRUN_ORT_FUNCTIONS(CHECK_PLACE)
_Static_assert(ORT_LOGGING_LEVEL_ERROR == ONNXRUN_ORT_LOG_ERROR &&
                   OrtArenaAllocator == ONNXRUN_ORT_ARENA &&
                   OrtMemTypeDefault == ONNXRUN_ORT_MEMORY &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == ONNXRUN_ORT_FLOAT,
               "constants of the interface");
#endif

/* ---- the library -------------------------------------------------------------------------- */

static struct {
    struct onnxrun_ort api;
    const char *version;
    char *from;
    void *env;
} loaded;

static void take_functions(void *const *table)
{
#define TAKE(place, name, member, type, arguments)                                                 \
    memcpy(&loaded.api.member, &table[place], sizeof loaded.api.member);
    ONNXRUN_ORT_FUNCTIONS(TAKE)
#undef TAKE
}

/* Opens a library; "" or why it cannot be used, which the caller frees. */
static char *try_library(const struct orch_onnxruntime *place)
{
    if (!place->path)
        return g_strdup_printf("the onnxruntime of %s has no library (releases from 1.19 have)",
                               place->from);
    void *handle = dlopen(place->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return g_strdup_printf("cannot load '%s' of %s: %s", place->path, place->from, dlerror());
    const struct onnxrun_ort_base *(*get)(void) = NULL;
    *(void **)&get = dlsym(handle, "OrtGetApiBase");
    const struct onnxrun_ort_base *base = get ? get() : NULL;
    void *const *table = base ? base->get_api(ONNXRUN_ORT_VERSION) : NULL;
    if (!table) {
        char *why = g_strdup_printf("'%s' of %s %s%s has no interface version %d", place->path,
                                    place->from, base ? "is ONNX Runtime " : "is no ONNX Runtime",
                                    base ? base->get_version() : "", ONNXRUN_ORT_VERSION);
        dlclose(handle);
        return why;
    }
    take_functions(table);
    loaded.version = base->get_version();
    loaded.from = g_strdup_printf("%s, %s", place->from, place->path);
    return g_strdup("");
}

/* Takes the error of a status, if there is one. */
static bool is_fine(onnxrun_ort_status status, const char *what, GError **error)
{
    if (!status)
        return true;
    g_autofree char *text = g_utf8_make_valid(loaded.api.message(status), -1);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "ONNX Runtime %s %s: %s", loaded.version, what,
                   g_strstrip(text));
    loaded.api.status_free(status);
    return false;
}

/* Recent releases (seen in 1.32.0) collect usage data and leave a file in the folder for temporary
 * files. This is switched off so that only inference is timed; when the plugin is loaded, since it
 * has no thread yet. */
__attribute__((constructor)) static void stop_telemetry(void)
{
    g_setenv("ORT_DISABLE_TELEMETRY", "1", FALSE);
}

static bool load(const char **out_version, char **out_from, GError **error)
{
    g_autoptr(GPtrArray) places = loaded.env ? NULL : orch_onnxruntime_find();
    g_autoptr(GString) problems = g_string_new(NULL);
    for (guint i = 0; places && i < places->len && !loaded.version; i++) {
        g_autofree char *why = try_library(places->pdata[i]);
        if (*why)
            g_string_append_printf(problems, "; %s", why);
    }
    if (!loaded.version) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, ORCH_ONNXRUNTIME_HINT,
                       "there is no ONNX Runtime on this machine%s", problems->str);
        return false;
    }
    if (!loaded.env && !is_fine(loaded.api.env_new(ONNXRUN_ORT_LOG_ERROR, "orch", &loaded.env),
                                "cannot start", error))
        return false;
    *out_version = loaded.version;
    *out_from = g_strdup(loaded.from);
    return true;
}

/* ---- sessions ----------------------------------------------------------------------------- */

struct onnxrun_session {
    const struct onnxrun_file *file;
    void *session, *memory;
    void *outputs[ONNXRUN_OUTPUTS_MAX]; /* values of the last run */
};

static void drop_outputs(struct onnxrun_session *s)
{
    for (int i = 0; i < s->file->output_count; i++)
        loaded.api.value_free(s->outputs[i]);
    memset(s->outputs, 0, sizeof s->outputs);
}

static void close_session(struct onnxrun_session *s)
{
    if (!s)
        return;
    drop_outputs(s);
    loaded.api.session_free(s->session);
    loaded.api.memory_free(s->memory);
    g_free(s);
}

static struct onnxrun_session *open_session(const struct onnxrun_file *file, int threads,
                                            GError **error)
{
    const struct onnxrun_ort *ort = &loaded.api;
    struct onnxrun_session *s = g_new0(struct onnxrun_session, 1);
    void *options = NULL;
    s->file = file;
    g_autofree char *what = g_strdup_printf("cannot open '%s'", file->path);
    bool ok =
        is_fine(ort->options_new(&options), what, error) &&
        is_fine(ort->threads_set(options, threads), what, error) &&
        is_fine(ort->branches_set(options, 1), what, error) &&
        is_fine(ort->memory_new(ONNXRUN_ORT_ARENA, ONNXRUN_ORT_MEMORY, &s->memory), what, error) &&
        is_fine(ort->session_new(loaded.env, file->path, options, &s->session), what, error);
    if (options)
        ort->options_free(options);
    if (!ok)
        g_clear_pointer(&s, close_session);
    return s;
}

/* An output as an array that borrows the engine's memory. */
static bool take_output(struct onnxrun_session *s, int index, struct onnxrun_array *out,
                        GError **error)
{
    const struct onnxrun_ort *ort = &loaded.api;
    void *value = s->outputs[index], *info = NULL, *data = NULL;
    int is_tensor = 0, type = 0;
    size_t rank = 0;
    g_autofree char *what = g_strdup_printf("cannot give output '%s'", s->file->outputs[index]);
    bool ok = is_fine(ort->is_tensor(value, &is_tensor), what, error) &&
              (!is_tensor || (is_fine(ort->info(value, &info), what, error) &&
                              is_fine(ort->type(info, &type), what, error) &&
                              is_fine(ort->rank(info, &rank), what, error)));
    *out = (struct onnxrun_array){.rank = (int)rank, .count = 1};
    if (ok && (!is_tensor || type != ONNXRUN_ORT_FLOAT || rank > ONNXRUN_RANK_MAX)) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "onnxrun reads outputs of 32-bit floats",
                       "'%s': output '%s' is not an array of floats of at most %d axes",
                       s->file->path, s->file->outputs[index], ONNXRUN_RANK_MAX);
        ok = false;
    }
    ok = ok && is_fine(ort->shape(info, out->shape, rank), what, error) &&
         is_fine(ort->data(value, &data), what, error);
    for (int i = 0; ok && i < out->rank; i++)
        out->count *= out->shape[i];
    out->data = data;
    if (info)
        ort->info_free(info);
    return ok;
}

static bool run_session(struct onnxrun_session *s, const struct onnxrun_array *input,
                        struct onnxrun_array *out_outputs, GError **error)
{
    const struct onnxrun_ort *ort = &loaded.api;
    const struct onnxrun_file *file = s->file;
    const char *const inputs[] = {file->input};
    void *value = NULL;
    drop_outputs(s);
    g_autofree char *what = g_strdup_printf("cannot run '%s'", file->path);
    bool ok = is_fine(ort->value_new(s->memory, input->data, (size_t)input->count * sizeof(float),
                                     input->shape, (size_t)input->rank, ONNXRUN_ORT_FLOAT, &value),
                      what, error);
    const void *const values[] = {value};
    ok = ok &&
         is_fine(ort->run(s->session, NULL, inputs, values, 1, (const char *const *)file->outputs,
                          (size_t)file->output_count, s->outputs),
                 what, error);
    if (value)
        ort->value_free(value);
    for (int i = 0; ok && i < file->output_count; i++)
        ok = take_output(s, i, &out_outputs[i], error);
    return ok;
}

const struct onnxrun_engine ONNXRUN_ONNXRUNTIME = {
    .name = "onnxruntime",
    .title = "ONNX Runtime",
    .load = load,
    .open = open_session,
    .run = run_session,
    .close = close_session,
};
