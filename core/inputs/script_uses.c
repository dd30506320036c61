/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lexer for Python (script_lexer.h) has no grammar beyond the import statement, so imports
 * inside functions, conditions and `try` are found too. Computed imports and paths (importlib with
 * a variable, concatenated paths) are not found; recipes declare them in `inputs:`. */
#include "core/inputs/scripts.h"

#include "core/inputs/script_lexer.h"
#include "core/recipe/output_words.h"

#include <string.h>

/* ---- languages --------------------------------------------------------------------------------
 */

static const struct {
    const char *suffix;
    enum orch_script_language language;
} SUFFIXES[] = {
    {".py", ORCH_SCRIPT_PYTHON},  {".pyw", ORCH_SCRIPT_PYTHON}, {".sh", ORCH_SCRIPT_SHELL},
    {".bash", ORCH_SCRIPT_SHELL}, {".zsh", ORCH_SCRIPT_SHELL},  {".R", ORCH_SCRIPT_OTHER},
    {".r", ORCH_SCRIPT_OTHER},    {".jl", ORCH_SCRIPT_OTHER},   {".lua", ORCH_SCRIPT_OTHER},
    {".js", ORCH_SCRIPT_OTHER},   {".mjs", ORCH_SCRIPT_OTHER},  {".ts", ORCH_SCRIPT_OTHER},
    {".pl", ORCH_SCRIPT_OTHER},   {".rb", ORCH_SCRIPT_OTHER},
};

enum orch_script_language orch_script_language_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && dot != name && i < G_N_ELEMENTS(SUFFIXES); i++)
        if (strcmp(dot, SUFFIXES[i].suffix) == 0)
            return SUFFIXES[i].language;
    return ORCH_SCRIPT_NONE;
}

enum orch_script_language orch_script_language_of_text(const char *text)
{
    if (strncmp(text, "#!", 2) != 0)
        return ORCH_SCRIPT_NONE;
    g_autofree char *line = g_strndup(text, strcspn(text, "\n"));
    if (strstr(line, "python"))
        return ORCH_SCRIPT_PYTHON;
    return strstr(line, "sh") ? ORCH_SCRIPT_SHELL : ORCH_SCRIPT_OTHER;
}

/* ---- what is found ----------------------------------------------------------------------------
 */

static void import_free(void *pointer)
{
    struct orch_script_import *import = pointer;
    g_free(import->module);
    g_free(import);
}

static struct orch_script_import *add_import(struct orch_script_uses *uses, const char *module,
                                             unsigned level)
{
    struct orch_script_import *import = g_new0(struct orch_script_import, 1);
    import->module = g_strdup(module);
    import->level = level;
    g_ptr_array_add(uses->imports, import);
    return import;
}

/* Adds a text if all of it is the path of a script. */
static void add_path(struct orch_script_uses *uses, const char *text, size_t length)
{
    if (length == 0 || length > 4096)
        return;
    g_autofree char *path = g_strndup(text, length);
    if (!strpbrk(path, "\n\\*?{}$") && orch_script_language_of(path) != ORCH_SCRIPT_NONE)
        g_ptr_array_add(uses->paths, g_steal_pointer(&path));
}

/* Adds a text if it looks like the path of a file. */
static void add_data(struct orch_script_uses *uses, const char *text, size_t length)
{
    g_autofree char *path = g_strndup(text, length);
    if (orch_script_may_be_file(path))
        g_ptr_array_add(uses->data, g_steal_pointer(&path));
}

void orch_script_uses_free(struct orch_script_uses *uses)
{
    if (!uses)
        return;
    g_ptr_array_unref(uses->imports);
    g_ptr_array_unref(uses->paths);
    g_ptr_array_unref(uses->data);
    g_free(uses);
}

/* ---- Python -----------------------------------------------------------------------------------
 */

/* Reads "a.b.c"; `token` is its first token before the call and the token after it afterwards. */
static char *take_dotted(struct orch_lexer *lexer, struct orch_token *token)
{
    g_autoptr(GString) out = g_string_new(NULL);
    while (token->kind == TOKEN_NAME && !orch_token_is_word(token, "import")) {
        if (out->len)
            g_string_append_c(out, '.');
        g_string_append_len(out, token->text, (gssize)token->length);
        orch_token_next(lexer, token);
        if (!orch_token_is_sign(token, '.'))
            break;
        orch_token_next(lexer, token);
    }
    return g_strdup(out->str);
}

/* Skips "as name". */
static void skip_alias(struct orch_lexer *lexer, struct orch_token *token)
{
    if (!orch_token_is_word(token, "as"))
        return;
    orch_token_next(lexer, token);
    if (token->kind == TOKEN_NAME)
        orch_token_next(lexer, token);
}

/* Reads `import a, b.c as d`; `token` is the token after "import". */
static void take_import(struct orch_lexer *lexer, struct orch_token *token,
                        struct orch_script_uses *uses)
{
    while (token->kind == TOKEN_NAME) {
        g_autofree char *module = take_dotted(lexer, token);
        add_import(uses, module, 0);
        skip_alias(lexer, token);
        if (!orch_token_is_sign(token, ','))
            return;
        orch_token_next(lexer, token);
    }
}

/* Reads `from ..a.b import c, d`: adds the module, and each name as a possible submodule. */
static void take_from(struct orch_lexer *lexer, struct orch_token *token,
                      struct orch_script_uses *uses)
{
    unsigned level = 0;
    for (; orch_token_is_sign(token, '.'); orch_token_next(lexer, token))
        level++;
    g_autofree char *module = take_dotted(lexer, token);
    if (!orch_token_is_word(token, "import"))
        return;
    struct orch_script_import *import = add_import(uses, module, level);
    orch_token_next(lexer, token);
    if (orch_token_is_sign(token, '*')) {
        import->is_whole = true;
        return;
    }
    if (orch_token_is_sign(token, '('))
        orch_token_next(lexer, token);
    while (token->kind == TOKEN_NAME) {
        g_autofree char *below = g_strdup_printf("%s%s%.*s", module, *module ? "." : "",
                                                 (int)token->length, token->text);
        add_import(uses, below, level);
        orch_token_next(lexer, token);
        skip_alias(lexer, token);
        if (!orch_token_is_sign(token, ','))
            return;
        orch_token_next(lexer, token);
    }
}

/* Reads `import_module("a.b")` and `__import__("a")`; `token` is the token after the function's
 * name. */
static void take_call(struct orch_lexer *lexer, struct orch_token *token,
                      struct orch_script_uses *uses)
{
    if (!orch_token_is_sign(token, '('))
        return;
    orch_token_next(lexer, token);
    if (token->kind != TOKEN_STRING || token->is_long)
        return;
    unsigned level = (unsigned)strspn(token->text, ".");
    g_autofree char *module = g_strndup(token->text, token->length);
    if (level <= token->length)
        add_import(uses, module + level, level);
}

static void read_python(struct orch_script_uses *uses, const char *text)
{
    struct orch_lexer lexer = orch_lexer_python(text);
    struct orch_token token, before = {.kind = TOKEN_LINE, .text = text};
    orch_token_next(&lexer, &token);
    while (token.kind != TOKEN_END) {
        bool begins = before.kind == TOKEN_LINE || orch_token_is_sign(&before, ';') ||
                      orch_token_is_sign(&before, ':');
        struct orch_token word = token;
        orch_token_next(&lexer, &token);
        if (begins && orch_token_is_word(&word, "import"))
            take_import(&lexer, &token, uses);
        else if (begins && orch_token_is_word(&word, "from"))
            take_from(&lexer, &token, uses);
        else if (orch_token_is_word(&word, "import_module") ||
                 orch_token_is_word(&word, "__import__"))
            take_call(&lexer, &token, uses);
        else if (orch_token_is_word(&word, "path") && orch_token_is_sign(&before, '.'))
            uses->sets_path = uses->sets_path || strstr(text, "sys.path") != NULL;
        else if (word.kind == TOKEN_STRING && !word.is_long)
            add_path(uses, word.text, word.length);
        before = word;
    }
}

/* ---- the shell, and others --------------------------------------------------------------------
 */

/* The value of a variable is unknown, so "$HERE/lib.sh" is treated as "lib.sh", which is searched
 * beside the script. */
static void add_shell_word(struct orch_script_uses *uses, const char *word, size_t length,
                           char before)
{
    bool is_open = before == '$' || before == '}' || before == ')' || before == '"';
    const char *slash = is_open ? memchr(word, '/', length) : NULL;
    if (slash && (before == '$' || slash == word)) {
        length -= (size_t)(slash + 1 - word);
        word = slash + 1;
    }
    add_path(uses, word, length);
    add_data(uses, word, length);
}

static bool is_word_part(char c)
{
    return orch_is_name_part(c) || (c && strchr("./-+@%,", c));
}

static void read_shell(struct orch_script_uses *uses, const char *text)
{
    bool names_module = false, is_written = false;
    g_autofree char *last = NULL; /* the word before */
    for (const char *at = text; *at;) {
        char before = at > text ? at[-1] : '\n';
        size_t length = 0;
        while (is_word_part(at[length]))
            length++;
        if (length) {
            g_autofree char *word = g_strndup(at, length);
            if (names_module)
                add_import(uses, word, 0);
            names_module = strcmp(word, "-m") == 0;
            if (!is_written && !orch_word_is_output(last, word))
                add_shell_word(uses, at, length, before);
            is_written = false;
            g_free(last);
            last = g_steal_pointer(&word);
            at += length;
        } else if (*at == '#' && g_ascii_isspace(before)) {
            at += strcspn(at, "\n");
        } else {
            is_written = *at == '>' || (is_written && strchr(" \t&\"'|", *at));
            at++;
        }
    }
}

static void read_quoted(struct orch_script_uses *uses, const char *text)
{
    struct orch_lexer lexer = {text, 0, false, false};
    struct orch_token token;
    do {
        orch_token_next(&lexer, &token);
        if (token.kind == TOKEN_STRING) {
            add_path(uses, token.text, token.length);
            add_data(uses, token.text, token.length);
        }
    } while (token.kind != TOKEN_END);
}

struct orch_script_uses *orch_script_uses_read(enum orch_script_language language, const char *text)
{
    struct orch_script_uses *uses = g_new0(struct orch_script_uses, 1);
    uses->imports = g_ptr_array_new_with_free_func(import_free);
    uses->paths = g_ptr_array_new_with_free_func(g_free);
    uses->data = g_ptr_array_new_with_free_func(g_free);
    if (language == ORCH_SCRIPT_PYTHON) {
        read_python(uses, text);
        orch_script_data_read(text, uses->data);
    }
    if (language == ORCH_SCRIPT_SHELL)
        read_shell(uses, text);
    else if (language == ORCH_SCRIPT_OTHER)
        read_quoted(uses, text);
    return uses;
}
