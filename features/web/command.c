/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/command.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/subprocess.h"

#include <string.h>

enum {
    COMMAND_S = 60,           /* time limit of a command in s */
    COMMAND_BYTES = 64 << 20, /* maximum size of what it prints */
};

/* Converts the error output of a failed command into an error. */
static void fail_with(const struct orch_subprocess_end *end, GError **error)
{
    g_autofree char *text = g_strchomp(g_strdup(end->err));
    const char *start = g_str_has_prefix(text, "orch: ") ? text + strlen("orch: ") : text;
    if (end->signal || !*start) {
        orch_error_set(error, ORCH_ERROR_IO, "run the command in a terminal",
                       "the command ended with status %d", end->status);
        return;
    }
    g_auto(GStrv) parts = g_strsplit(start, "\n  hint: ", 2);
    orch_error_set(error, ORCH_ERROR_USAGE, parts[1], "%s", parts[0]);
}

/* Runs a command line; `also`: a status besides 0 at which its output counts. */
static char *run(const struct web_command *request, GPtrArray *words, int also, GError **error)
{
    struct orch_subprocess_end end;
    g_ptr_array_insert(words, 0, g_strdup(request->program));
    g_ptr_array_add(words, NULL);
    g_autofree char *name = g_strdup_printf("orch %s", (const char *)words->pdata[1]);
    const struct orch_subprocess command = {.argv = (const char *const *)words->pdata,
                                            .name = name,
                                            .timeout_s = COMMAND_S,
                                            .output_bytes_max = COMMAND_BYTES};
    if (!orch_subprocess_run(&command, &end, error))
        return NULL;
    char *out = end.status == 0 || (end.status == also && !end.signal)
                    ? g_string_free(g_steal_pointer(&end.out), FALSE)
                    : NULL;
    if (!out)
        fail_with(&end, error);
    orch_subprocess_end_clear(&end);
    return out;
}

char *orch_web_command_run(const struct web_command *request, GPtrArray *words, GError **error)
{
    return run(request, words, 0, error);
}

static void append_usual(const struct web_command *request, GPtrArray *words)
{
    g_ptr_array_add(words, g_strdup("--quiet"));
    g_ptr_array_add(words, g_strdup_printf("--db=%s", request->db));
}

char *orch_web_command_text(const struct web_command *request, GPtrArray *words, GError **error)
{
    append_usual(request, words);
    return orch_web_command_run(request, words, error);
}

json_t *orch_web_command_parsed(const struct web_command *request, GPtrArray *words, int also,
                                GError **error)
{
    g_autofree char *out = run(request, words, also, error);
    json_t *json = out ? orch_json_parse(out, strlen(out), COMMAND_BYTES, error) : NULL;
    const json_t *problem = json_object_get(json, "error");
    if (!problem)
        return json;
    orch_error_set(error, ORCH_ERROR_USAGE, orch_json_text(problem, "hint", NULL), "%s",
                   orch_json_text(problem, "message", "the command failed"));
    json_decref(json);
    return NULL;
}

json_t *orch_web_command_json(const struct web_command *request, GPtrArray *words, GError **error)
{
    append_usual(request, words);
    g_ptr_array_add(words, g_strdup("--json"));
    return orch_web_command_parsed(request, words, 0, error);
}

GPtrArray *orch_web_command_words(const char *first, const char *second)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_strdup(first));
    if (second)
        g_ptr_array_add(words, g_strdup(second));
    return words;
}
