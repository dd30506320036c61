/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lexer for Python that handles strings, comments, brackets and lines, but no grammar beyond the
 * import statement, so imports inside functions, conditions and `try` are found too. Computed
 * imports and paths (importlib with a variable, concatenated paths) are not found; recipes declare
 * them in `inputs:`. */
#include "core/run/script_uses.h"

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

void orch_script_uses_free(struct orch_script_uses *uses)
{
    if (!uses)
        return;
    g_ptr_array_unref(uses->imports);
    g_ptr_array_unref(uses->paths);
    g_free(uses);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

enum token_kind { TOKEN_END, TOKEN_LINE, TOKEN_NAME, TOKEN_STRING, TOKEN_SIGN, TOKEN_NUMBER };

struct token {
    enum token_kind kind;
    const char *text; /* strings without their quotes */
    size_t length;
    bool is_long; /* a string in triple quotes: documentation, not a path */
};

struct lexer {
    const char *at;
    unsigned depth;    /* nesting of brackets, inside which lines do not end */
    bool has_comments; /* `#` begins a comment */
    bool has_long;     /* triple quotes begin a string */
};

static bool is_name_start(char c)
{
    return g_ascii_isalpha(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
    return is_name_start(c) || g_ascii_isdigit(c);
}

/* Reads the string that begins with the quote at `at`. A string in single quotes ends at the end of
 * its line even if it is not closed. */
static void take_string(struct lexer *lexer, struct token *out)
{
    char quote = *lexer->at;
    bool is_long = lexer->has_long && lexer->at[1] == quote && lexer->at[2] == quote;
    size_t width = is_long ? 3 : 1;
    const char *begin = lexer->at + width, *at = begin;
    while (*at && (is_long || *at != '\n')) {
        if (*at == quote && (!is_long || (at[1] == quote && at[2] == quote)))
            break;
        at += at[0] == '\\' && at[1] ? 2 : 1;
    }
    *out = (struct token){TOKEN_STRING, begin, (size_t)(at - begin), is_long};
    lexer->at = *at == quote ? at + width : at;
}

/* Skips blanks, comments, continued lines, and the ends of lines within brackets. */
static void skip_blanks(struct lexer *lexer)
{
    for (;;) {
        const char *at = lexer->at;
        if (*at == '#' && lexer->has_comments)
            lexer->at += strcspn(at, "\n");
        else if (g_str_has_prefix(at, "\\\n"))
            lexer->at += 2;
        else if (g_str_has_prefix(at, "\\\r\n"))
            lexer->at += 3;
        else if ((*at && strchr(" \t\r\f", *at)) || (*at == '\n' && lexer->depth))
            lexer->at++;
        else
            return;
    }
}

/* True when the `length` letters at `at` are a string prefix: r"..", Rb'..'. */
static bool is_string_prefix(const char *at, size_t length)
{
    return length <= 2 && strspn(at, "rRbBuUfF") >= length &&
           (at[length] == '"' || at[length] == '\'');
}

static void next_token(struct lexer *lexer, struct token *out)
{
    skip_blanks(lexer);
    const char *at = lexer->at;
    size_t length = 0;
    if (!*at) {
        *out = (struct token){TOKEN_END, at, 0, false};
        return;
    }
    if (is_name_part(*at)) {
        while (is_name_part(at[length]))
            length++;
        lexer->at = at + length;
        if (is_string_prefix(at, length))
            take_string(lexer, out);
        else
            *out =
                (struct token){is_name_start(*at) ? TOKEN_NAME : TOKEN_NUMBER, at, length, false};
        return;
    }
    if (*at == '"' || *at == '\'') {
        take_string(lexer, out);
        return;
    }
    lexer->depth += strchr("([{", *at) != NULL;
    lexer->depth -= strchr(")]}", *at) != NULL && lexer->depth;
    lexer->at++;
    *out = (struct token){*at == '\n' ? TOKEN_LINE : TOKEN_SIGN, at, 1, false};
}

static bool is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_NAME && token->length == strlen(word) &&
           strncmp(token->text, word, token->length) == 0;
}

static bool is_sign(const struct token *token, char sign)
{
    return token->kind == TOKEN_SIGN && *token->text == sign;
}

/* ---- Python -----------------------------------------------------------------------------------
 */

/* Reads "a.b.c"; `token` is its first token before the call and the token after it afterwards. */
static char *take_dotted(struct lexer *lexer, struct token *token)
{
    g_autoptr(GString) out = g_string_new(NULL);
    while (token->kind == TOKEN_NAME && !is_word(token, "import")) {
        if (out->len)
            g_string_append_c(out, '.');
        g_string_append_len(out, token->text, (gssize)token->length);
        next_token(lexer, token);
        if (!is_sign(token, '.'))
            break;
        next_token(lexer, token);
    }
    return g_strdup(out->str);
}

/* Skips "as name". */
static void skip_alias(struct lexer *lexer, struct token *token)
{
    if (!is_word(token, "as"))
        return;
    next_token(lexer, token);
    if (token->kind == TOKEN_NAME)
        next_token(lexer, token);
}

/* Reads `import a, b.c as d`; `token` is the token after "import". */
static void take_import(struct lexer *lexer, struct token *token, struct orch_script_uses *uses)
{
    while (token->kind == TOKEN_NAME) {
        g_autofree char *module = take_dotted(lexer, token);
        add_import(uses, module, 0);
        skip_alias(lexer, token);
        if (!is_sign(token, ','))
            return;
        next_token(lexer, token);
    }
}

/* Reads `from ..a.b import c, d`: adds the module, and each name as a possible submodule. */
static void take_from(struct lexer *lexer, struct token *token, struct orch_script_uses *uses)
{
    unsigned level = 0;
    for (; is_sign(token, '.'); next_token(lexer, token))
        level++;
    g_autofree char *module = take_dotted(lexer, token);
    if (!is_word(token, "import"))
        return;
    struct orch_script_import *import = add_import(uses, module, level);
    next_token(lexer, token);
    if (is_sign(token, '*')) {
        import->is_whole = true;
        return;
    }
    if (is_sign(token, '('))
        next_token(lexer, token);
    while (token->kind == TOKEN_NAME) {
        g_autofree char *below = g_strdup_printf("%s%s%.*s", module, *module ? "." : "",
                                                 (int)token->length, token->text);
        add_import(uses, below, level);
        next_token(lexer, token);
        skip_alias(lexer, token);
        if (!is_sign(token, ','))
            return;
        next_token(lexer, token);
    }
}

/* Reads `import_module("a.b")` and `__import__("a")`; `token` is the token after the function's
 * name. */
static void take_call(struct lexer *lexer, struct token *token, struct orch_script_uses *uses)
{
    if (!is_sign(token, '('))
        return;
    next_token(lexer, token);
    if (token->kind != TOKEN_STRING || token->is_long)
        return;
    unsigned level = (unsigned)strspn(token->text, ".");
    g_autofree char *module = g_strndup(token->text, token->length);
    if (level <= token->length)
        add_import(uses, module + level, level);
}

static void read_python(struct orch_script_uses *uses, const char *text)
{
    struct lexer lexer = {text + (g_str_has_prefix(text, "\xef\xbb\xbf") ? 3 : 0), 0, true, true};
    struct token token, before = {TOKEN_LINE, text, 0, false};
    next_token(&lexer, &token);
    while (token.kind != TOKEN_END) {
        bool begins = before.kind == TOKEN_LINE || is_sign(&before, ';') || is_sign(&before, ':');
        struct token word = token;
        next_token(&lexer, &token);
        if (begins && is_word(&word, "import"))
            take_import(&lexer, &token, uses);
        else if (begins && is_word(&word, "from"))
            take_from(&lexer, &token, uses);
        else if (is_word(&word, "import_module") || is_word(&word, "__import__"))
            take_call(&lexer, &token, uses);
        else if (is_word(&word, "path") && is_sign(&before, '.'))
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
}

static bool is_word_part(char c)
{
    return is_name_part(c) || (c && strchr("./-+@%,", c));
}

static void read_shell(struct orch_script_uses *uses, const char *text)
{
    bool names_module = false;
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
            add_shell_word(uses, at, length, before);
            at += length;
        } else if (*at == '#' && g_ascii_isspace(before)) {
            at += strcspn(at, "\n");
        } else {
            at++;
        }
    }
}

static void read_quoted(struct orch_script_uses *uses, const char *text)
{
    struct lexer lexer = {text, 0, false, false};
    struct token token;
    do {
        next_token(&lexer, &token);
        if (token.kind == TOKEN_STRING)
            add_path(uses, token.text, token.length);
    } while (token.kind != TOKEN_END);
}

struct orch_script_uses *orch_script_uses_read(enum orch_script_language language, const char *text)
{
    struct orch_script_uses *uses = g_new0(struct orch_script_uses, 1);
    uses->imports = g_ptr_array_new_with_free_func(import_free);
    uses->paths = g_ptr_array_new_with_free_func(g_free);
    if (language == ORCH_SCRIPT_PYTHON)
        read_python(uses, text);
    else if (language == ORCH_SCRIPT_SHELL)
        read_shell(uses, text);
    else if (language == ORCH_SCRIPT_OTHER)
        read_quoted(uses, text);
    return uses;
}
