/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text counts only when it names an existing file, so a superfluous candidate costs little. */
#include "core/inputs/scripts.h"

#include "core/inputs/script_lexer.h"
#include "core/recipe/output_words.h"

#include <string.h>

enum { FILE_CHARS_MAX = 1024, CALLS_MAX = 64 };

/* Parts of the names of functions that write the files which their arguments name. */
static const char *const WRITERS[] = {
    "save",        "write",       "dump",      "export",   "mkdir",    "remove",
    "filehandler", "basicconfig", "unlink",    "makedirs", "touch",    "to_csv",
    "to_json",     "to_parquet",  "to_pickle", "to_hdf",   "to_excel", "to_feather"};

/* An open bracket. */
struct call {
    struct orch_token function; /* kind TOKEN_NAME, or another for a bracket without a function */
    char *option;               /* the last argument that begins with "-"; NULL: none */
};

struct reading {
    struct orch_lexer lexer;
    GArray *calls;       /* struct call */
    GPtrArray *out;      /* NULL in the first pass */
    GHashTable *written; /* names of variables that stand for files which are written */
    bool sets_path;      /* folders count, too: modules may lie in them */
    GString *joined;     /* the texts before, as one path; empty: none */
};

static bool may_be_path(const char *text)
{
    size_t length = strlen(text);
    return length && length <= FILE_CHARS_MAX && !strpbrk(text, "\n\r\\*?{}$|<>\"") &&
           !strstr(text, "://") && *text != '-' && strspn(text, "./") < length;
}

bool orch_script_may_be_file(const char *text)
{
    return may_be_path(text) && strpbrk(text, "./") && text[strlen(text) - 1] != '/';
}

static bool is_writer(const struct orch_token *name)
{
    if (name->kind != TOKEN_NAME)
        return false;
    g_autofree char *text = g_strndup(name->text, name->length);
    g_autofree char *lower = g_ascii_strdown(text, -1);
    for (size_t i = 0; i < G_N_ELEMENTS(WRITERS); i++)
        if (strstr(lower, WRITERS[i]))
            return true;
    return false;
}

/* True for a mode of open() that writes. */
static bool is_write_mode(const struct orch_token *token)
{
    size_t length = token->length;
    g_autofree char *mode = g_strndup(token->text, length);
    return token->kind == TOKEN_STRING && length <= 4 && strspn(mode, "rwaxbt+") == length &&
           strpbrk(mode, "wax+");
}

/* True within the brackets of a function such as open() or h5py.File(), which takes a mode. */
static bool is_in_open(const struct reading *r)
{
    if (!r->calls->len)
        return false;
    const struct call *call = &g_array_index(r->calls, struct call, r->calls->len - 1);
    g_autofree char *text = g_strndup(call->function.text, call->function.length);
    g_autofree char *lower = g_ascii_strdown(text, -1);
    return call->function.kind == TOKEN_NAME && (strstr(lower, "open") || strstr(lower, "file"));
}

/* True when what follows the text writes the file: `, "w"`, `, mode="w"`, `).write_text(`. `next`:
 * the token after the text. */
static bool is_written_after(const struct reading *r, struct orch_token next)
{
    struct orch_lexer lexer = r->lexer;
    if (orch_token_is_sign(&next, ')')) {
        orch_token_next(&lexer, &next);
        if (!orch_token_is_sign(&next, '.'))
            return false;
        orch_token_next(&lexer, &next);
        return is_writer(&next);
    }
    if (!orch_token_is_sign(&next, ',') || !is_in_open(r))
        return false;
    orch_token_next(&lexer, &next);
    if (orch_token_is_word(&next, "mode")) {
        orch_token_next(&lexer, &next);
        orch_token_next(&lexer, &next);
    }
    return is_write_mode(&next);
}

/* True for the name of a variable or a keyword that is assigned a file to write. */
static bool names_output(const struct orch_token *name)
{
    if (name->kind != TOKEN_NAME)
        return false;
    g_autofree char *option = g_strdup_printf("--%.*s", (int)name->length, name->text);
    return orch_word_is_output(option, "x");
}

/* True for the name of a variable that may stand for a file: PATH, ckpt_file. Others, such as those
 * of the values that are saved, do not count. */
static bool may_name_file(const char *name)
{
    static const char *const parts[] = {"path", "file", "ckpt", "checkpoint"};
    g_autofree char *lower = g_ascii_strdown(name, -1), *upper = g_ascii_strup(name, -1);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (strstr(lower, parts[i]))
            return true;
    return strcmp(name, upper) == 0;
}

static bool is_written_by_call(const struct reading *r, const char *text)
{
    for (guint i = r->calls->len; i > 0; i--) {
        const struct call *call = &g_array_index(r->calls, struct call, i - 1);
        if (is_writer(&call->function) || (call->option && orch_word_is_output(call->option, text)))
            return true;
    }
    return false;
}

/* Notes a variable that is given to a function which writes. */
static void take_name(struct reading *r, const struct orch_token *token,
                      const struct orch_token *next)
{
    g_autofree char *name = g_strndup(token->text, token->length);
    if (is_written_after(r, *next) || (may_name_file(name) && is_written_by_call(r, name)))
        g_hash_table_add(r->written, g_steal_pointer(&name));
}

static bool is_written_later(const struct reading *r, const struct orch_token *assigned)
{
    g_autofree char *name = g_strndup(assigned->text, assigned->length);
    return assigned->kind == TOKEN_NAME && g_hash_table_contains(r->written, name);
}

static void add(struct reading *r, const char *text)
{
    if (!r->out)
        return;
    if (r->sets_path ? may_be_path(text) : orch_script_may_be_file(text))
        g_ptr_array_add(r->out, g_strdup(text));
}

/* Takes a literal text. `assigned`: the name before "=", if any. */
static void take_text(struct reading *r, const struct orch_token *token,
                      const struct orch_token *assigned, const struct orch_token *next)
{
    g_autofree char *text = g_strndup(token->text, token->length);
    if (*text == '-' && r->calls->len) {
        struct call *call = &g_array_index(r->calls, struct call, r->calls->len - 1);
        g_free(call->option);
        call->option = g_strdup(text);
    }
    if (is_written_by_call(r, text) || names_output(assigned) || is_written_later(r, assigned) ||
        is_written_after(r, *next)) {
        g_string_truncate(r->joined, 0);
        return;
    }
    add(r, text);
    if (r->joined->len && r->joined->len < FILE_CHARS_MAX) {
        g_string_append_printf(r->joined, "/%s", text);
        add(r, r->joined->str);
    } else {
        g_string_assign(r->joined, text);
    }
}

static void clear_call(gpointer call)
{
    g_free(((struct call *)call)->option);
}

static void take_sign(struct reading *r, const struct orch_token *sign,
                      const struct orch_token *before)
{
    if (strchr("([{", *sign->text) && r->calls->len < CALLS_MAX) {
        struct call call = {.function = *before};
        g_array_append_val(r->calls, call);
    } else if (strchr(")]}", *sign->text) && r->calls->len) {
        g_array_set_size(r->calls, r->calls->len - 1);
    }
    if (!strchr("/,)", *sign->text)) /* texts with something else between them are not one path */
        g_string_truncate(r->joined, 0);
}

/* Reads the whole text once. */
static void pass(struct reading *r, const char *text)
{
    struct orch_token token, before = {.kind = TOKEN_LINE}, name = before;
    r->lexer = orch_lexer_python(text);
    orch_token_next(&r->lexer, &token);
    while (token.kind != TOKEN_END) {
        struct orch_token next, assigned = {.kind = TOKEN_LINE};
        if (orch_token_is_sign(&before, '='))
            assigned = name;
        orch_token_next(&r->lexer, &next);
        if (token.kind == TOKEN_NAME)
            take_name(r, &token, &next);
        if (token.kind == TOKEN_STRING && !token.is_long)
            take_text(r, &token, &assigned, &next);
        else if (token.kind == TOKEN_SIGN)
            take_sign(r, &token, &before);
        else
            g_string_truncate(r->joined, 0);
        name = token.kind == TOKEN_NAME ? token : name;
        before = token;
        token = next;
    }
    g_array_set_size(r->calls, 0);
}

void orch_script_data_read(const char *text, GPtrArray *out)
{
    struct reading r = {.sets_path = strstr(text, "sys.path") != NULL};
    r.calls = g_array_new(FALSE, FALSE, sizeof(struct call));
    g_array_set_clear_func(r.calls, clear_call);
    r.written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r.joined = g_string_new(NULL);
    pass(&r, text); /* finds the variables that are written, which may be assigned before */
    g_string_truncate(r.joined, 0);
    r.out = out;
    pass(&r, text);
    g_hash_table_unref(r.written);
    g_array_unref(r.calls);
    g_string_free(r.joined, TRUE);
}
