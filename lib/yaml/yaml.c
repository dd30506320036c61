/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree is built from libfyaml's events instead of its documents. Events need memory
 * proportional to the text (no alias is ever resolved), allow a depth limit, and leave the check
 * for duplicate keys to a hash table (the library's is quadratic). The library's messages are
 * collected and never printed to stderr.
 *
 * Findings are collected in a separate list first: a syntax error is reported alone, because
 * findings before it may be consequences of it. */
#include "lib/yaml/yaml.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/odd_char.h"
#include "lib/base/text.h"
#include "lib/yaml/syntax_hint.h"

#include <libfyaml.h>
#include <stdint.h>
#include <string.h>

/* A list or map whose content is being read. */
struct frame {
    struct orch_yaml *node;
    struct orch_yaml *key; /* MAP: already read; its value comes next */
    GHashTable *seen;      /* MAP: text -> struct orch_yaml * of the keys so far, borrowed */
    bool key_is_duplicate; /* MAP: the value of `key` is read, then discarded */
    bool is_split;         /* a comma split a text, which was reported: its parts are not keys */
    bool owns_node;        /* the value of a duplicate key: in no tree, freed with the frame */
};

struct builder {
    const char *name;
    const char *text; /* input of libfyaml */
    size_t length;
    struct orch_diags *found;
    GArray *stack; /* struct frame */
    struct orch_yaml *root;
    unsigned document_count;
    bool is_aborted;
};

static const char WITH_HINT[] = "write shared values once under 'with:' of the recipe";

void orch_yaml_free(struct orch_yaml *node)
{
    if (!node)
        return;
    if (node->items)
        g_ptr_array_unref(node->items);
    if (node->keys)
        g_ptr_array_unref(node->keys);
    g_free(node->text);
    g_free(node);
}

static struct orch_yaml *node_new(enum orch_yaml_kind kind, const struct fy_mark *mark)
{
    struct orch_yaml *node = g_new0(struct orch_yaml, 1);
    node->kind = kind;
    node->line = mark ? mark->line + 1 : 1;
    node->column = mark ? mark->column + 1 : 1;
    if (kind != ORCH_YAML_SCALAR)
        node->items = g_ptr_array_new_with_free_func((GDestroyNotify)orch_yaml_free);
    if (kind == ORCH_YAML_MAP)
        node->keys = g_ptr_array_new_with_free_func((GDestroyNotify)orch_yaml_free);
    return node;
}

static struct frame *top(struct builder *builder)
{
    guint depth = builder->stack->len;
    return depth ? &g_array_index(builder->stack, struct frame, depth - 1) : NULL;
}

static void frame_clear(void *pointer)
{
    struct frame *frame = pointer;
    orch_yaml_free(frame->key);
    if (frame->seen)
        g_hash_table_unref(frame->seen);
    if (frame->owns_node)
        orch_yaml_free(frame->node);
    *frame = (struct frame){0};
}

/* ---- checks before parsing ---------------------------------------------------------------------
 */

static void place_of(const char *text, size_t offset, int *out_line, int *out_column)
{
    *out_line = *out_column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            ++*out_line;
            *out_column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            ++*out_column;
        }
    }
}

/* Rejects NUL, control characters and invalid UTF-8, reporting the first position. */
static bool bytes_are_text(const char *name, const char *text, size_t length,
                           struct orch_diags *diags)
{
    const char *what = NULL;
    size_t offset = 0;
    for (; offset < length && !what; offset++) {
        unsigned char c = (unsigned char)text[offset];
        if (c == 0)
            what = "holds a NUL byte";
        else if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f)
            what = "holds a control character";
    }
    size_t text_end = what ? offset - 1 : length;
    const char *bad = NULL;
    if (!g_utf8_validate(text, (gssize)text_end, &bad)) {
        what = "is not UTF-8 text";
        text_end = (size_t)(bad - text);
    }
    if (!what)
        return true;
    int line, column;
    place_of(text, text_end, &line, &column);
    orch_diags_add(diags, false, name, line, column, "save the file as plain UTF-8 text", "'%s' %s",
                   name, what);
    return false;
}

/* Adds that the text of the file at `at` holds a character which cannot be seen. */
static void complain_of_odd(struct orch_diags *diags, const char *name, const char *what, int line,
                            int column, const char *at)
{
    g_autofree char *hint = NULL, *odd = orch_odd_char_describe(at, &hint);
    orch_diags_add(diags, false, name, line, column, hint, "%s holds %s", what, odd);
}

/* The position of an odd character in the layout of the line at `at`: before its first word, after
 * "-", after "key:". NULL: there is none. */
static const char *odd_space_of_line(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '-'))
        at++;
    if (at < end && orch_odd_char_find(at, (size_t)(end - at), false) == at)
        return at;
    while (at < end && (g_ascii_isalnum(*at) || *at == '_' || *at == '-' || *at == '.'))
        at++;
    const char *behind = at + 1;
    return end - at >= 2 && *at == ':' &&
                   orch_odd_char_find(behind, (size_t)(end - behind), false) == behind
               ? behind
               : NULL;
}

static bool spaces_are_plain(const char *name, const char *text, size_t length,
                             struct orch_diags *diags)
{
    const char *end = text + length, *odd = NULL, *next;
    for (const char *at = text; at < end && !odd; at = next ? next + 1 : end) {
        next = memchr(at, '\n', (size_t)(end - at));
        odd = odd_space_of_line(at, next ? next : end);
    }
    if (!odd)
        return true;
    int line, column;
    place_of(text, (size_t)(odd - text), &line, &column);
    complain_of_odd(diags, name, "the line, where YAML needs a plain space,", line, column, odd);
    return false;
}

static const char *skip_mark(const char *text, size_t *length)
{
    if (*length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        *length -= 3;
        return text + 3;
    }
    return text;
}

/* ---- events to nodes ---------------------------------------------------------------------------
 */

static void complain(struct builder *builder, const struct fy_mark *mark, const char *hint,
                     const char *what)
{
    orch_diags_add(builder->found, false, builder->name, mark ? mark->line + 1 : 0,
                   mark ? mark->column + 1 : 0, hint, "%s", what);
}

/* libfyaml marks an anchor or alias at its name, after the '&' or '*'. */
static void complain_of_name(struct builder *builder, struct fy_token *token, const char *what)
{
    const struct fy_mark *mark = fy_token_start_mark(token);
    orch_diags_add(builder->found, false, builder->name, mark ? mark->line + 1 : 0,
                   mark ? mark->column : 0, WITH_HINT, "%s", what);
}

static void check_decoration(struct builder *builder, struct fy_event *event)
{
    bool is_alias = event->type == FYET_ALIAS;
    struct fy_token *anchor =
        is_alias ? fy_event_get_token(event) : fy_event_get_anchor_token(event);
    struct fy_token *tag = fy_event_get_tag_token(event);
    if (anchor)
        complain_of_name(builder, anchor,
                         is_alias ? "aliases ('*name') are not allowed"
                                  : "anchors ('&name') are not allowed");
    if (tag)
        complain(builder, fy_token_start_mark(tag),
                 "leave the tag out: types come from the parameters",
                 "tags ('!name') are not allowed");
}

/* Handles a key. A duplicate is reported with both positions; its value is read and discarded. */
static void take_key(struct builder *builder, struct frame *frame, struct orch_yaml *key)
{
    const struct orch_yaml *first =
        frame->is_split ? NULL : g_hash_table_lookup(frame->seen, key->text);
    if (first)
        orch_diags_add(builder->found, false, builder->name, key->line, key->column,
                       "remove one of the two", "duplicate key '%s' (first at line %d, column %d)",
                       key->text, first->line, first->column);
    else
        g_hash_table_insert(frame->seen, key->text, key);
    frame->key_is_duplicate = first != NULL;
    frame->key = key;
}

/* Adds a finished or just opened value to its parent. Returns true if the tree owns it now. */
static bool place_value(struct builder *builder, struct orch_yaml *value)
{
    struct frame *frame = top(builder);
    if (!frame) {
        if (builder->root)
            return false;
        builder->root = value;
        return true;
    }
    if (frame->node->kind == ORCH_YAML_LIST) {
        g_ptr_array_add(frame->node->items, value);
        return true;
    }
    struct orch_yaml *key = frame->key;
    frame->key = NULL;
    if (frame->key_is_duplicate) {
        orch_yaml_free(key);
        return false;
    }
    g_ptr_array_add(frame->node->keys, key);
    g_ptr_array_add(frame->node->items, value);
    return true;
}

static bool key_is_next(struct builder *builder)
{
    const struct frame *frame = top(builder);
    return frame && frame->node->kind == ORCH_YAML_MAP && !frame->key;
}

/* An empty value gets the position of its key or list (libfyaml 0.8 marks the end of the key, 0.7
 * nothing); a quoted scalar that of its quote (the library's mark is after it). */
static void set_scalar_place(struct builder *builder, struct orch_yaml *node,
                             const struct fy_mark *mark, enum fy_scalar_style style)
{
    const struct frame *frame = top(builder);
    bool is_empty = !mark || (style == FYSS_PLAIN && !*node->text);
    if (is_empty && frame) {
        const struct orch_yaml *near = frame->key ? frame->key : frame->node;
        node->line = near->line;
        node->column = near->column;
    }
    if ((style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) && node->column > 1)
        node->column--;
}

/* In {...} or [...] the comma in "range(1, 3)" ends the text inside its parentheses. Reports this
 * once, with the whole text. */
static void check_split(struct builder *builder, const struct orch_yaml *node,
                        const struct fy_mark *mark)
{
    struct frame *frame = top(builder);
    if (!frame || !frame->node->flow || node->quoted || !mark || !strchr(node->text, '(') ||
        strchr(node->text, ')') || mark->input_pos >= builder->length)
        return;
    const char *begin = builder->text + mark->input_pos;
    size_t left = builder->length - mark->input_pos, length = 0;
    while (length < left && !strchr(")\n\"'", begin[length]))
        length++;
    if (length == left || begin[length] != ')')
        return;
    frame->is_split = true;
    g_autofree char *hint =
        g_strdup_printf("put quotes around it: \"%.*s\"", (int)length + 1, begin);
    orch_diags_add(builder->found, false, builder->name, node->line, node->column, hint,
                   "a comma splits '%.*s'", (int)length + 1, begin);
}

/* A key with a character that cannot be seen is another key than it looks like, and so is a value
 * that begins or ends with one. Within texts such a character is theirs. */
static void check_odd(struct builder *builder, const struct orch_yaml *node, bool is_key)
{
    const size_t length = strlen(node->text);
    const char *odd = node->quoted ? NULL : orch_odd_char_find(node->text, length, false);
    for (const char *next = odd; !is_key && next;) { /* the last one */
        odd = next;
        next = g_utf8_next_char(odd);
        next = orch_odd_char_find(next, length - (size_t)(next - node->text), false);
    }
    if (!odd || (!is_key && odd != node->text && *g_utf8_next_char(odd)))
        return;
    g_autofree char *what = g_strdup_printf("%s '%s'", is_key ? "key" : "value", node->text);
    complain_of_odd(builder->found, builder->name, what, node->line,
                    node->column + (int)(odd - node->text), odd);
}

static void on_scalar(struct builder *builder, struct fy_event *event)
{
    bool is_alias = event->type == FYET_ALIAS;
    struct fy_token *token = is_alias ? NULL : fy_event_get_token(event);
    enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    const struct fy_mark *mark = fy_event_start_mark(event);
    size_t length = 0;
    const char *text = token ? fy_token_get_text(token, &length) : NULL;
    struct orch_yaml *node = node_new(ORCH_YAML_SCALAR, mark);
    if (text && memchr(text, 0, length))
        complain(builder, mark, "leave \\0 out", "a text holds a NUL character");
    node->text = text ? g_strndup(text, length) : g_strdup("");
    node->quoted = is_alias || style != FYSS_PLAIN;
    set_scalar_place(builder, node, mark, style);
    check_split(builder, node, mark);
    check_odd(builder, node, key_is_next(builder));
    if (key_is_next(builder))
        take_key(builder, top(builder), node);
    else if (!place_value(builder, node))
        orch_yaml_free(node);
}

static void on_open(struct builder *builder, struct fy_event *event)
{
    bool is_map = event->type == FYET_MAPPING_START;
    const struct fy_mark *mark = fy_event_start_mark(event);
    if (builder->stack->len >= ORCH_YAML_DEPTH_MAX) {
        complain(builder, mark, NULL, "nested deeper than 64 levels");
        builder->is_aborted = true;
        return;
    }
    if (key_is_next(builder)) {
        complain(builder, mark, "put quotes around a text with braces: \"${pretrain.weights}\"",
                 "a key must be plain text, found a list or map");
        builder->is_aborted = true;
        return;
    }
    struct orch_yaml *node = node_new(is_map ? ORCH_YAML_MAP : ORCH_YAML_LIST, mark);
    node->flow = fy_event_get_node_style(event) == FYNS_FLOW;
    struct frame frame = {.node = node};
    if (is_map)
        frame.seen = g_hash_table_new(g_str_hash, g_str_equal);
    frame.owns_node = !place_value(builder, node);
    g_array_append_val(builder->stack, frame);
}

static void on_close(struct builder *builder)
{
    if (builder->stack->len)
        g_array_set_size(builder->stack, builder->stack->len - 1);
}

static void on_event(struct builder *builder, struct fy_event *event)
{
    check_decoration(builder, event);
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++builder->document_count > 1) {
            complain(builder, fy_event_start_mark(event), "write one YAML document in each file",
                     "a second document ('---')");
            builder->is_aborted = true;
        }
        break;
    case FYET_SCALAR:
    case FYET_ALIAS:
        on_scalar(builder, event);
        break;
    case FYET_SEQUENCE_START:
    case FYET_MAPPING_START:
        on_open(builder, event);
        break;
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        on_close(builder);
        break;
    default:
        break;
    }
}

/* ---- syntax errors -----------------------------------------------------------------------------
 */

/* libfyaml may collect several errors; the first one is the cause. */
static void report_syntax(struct builder *builder, struct fy_diag *diag, struct orch_diags *diags)
{
    void *iterator = NULL;
    const struct fy_diag_error *problem = fy_diag_errors_iterate(diag, &iterator);
    int line = problem && problem->line > 0 ? problem->line : 1;
    int column = problem && problem->column > 0 ? problem->column : 1;
    const char *message =
        problem && problem->msg && *problem->msg ? problem->msg : "cannot be read";
    g_autofree char *what = g_strstrip(g_strdup(message));
    const char *hint = orch_yaml_syntax_hint(builder->text, builder->length, line, message);
    const char *begin = builder->text, *end = begin + builder->length, *next = begin;
    for (int i = 1; next && i <= line; i++) {
        begin = next;
        next = memchr(begin, '\n', (size_t)(end - begin));
        next = next ? next + 1 : NULL;
    }
    const char *odd = orch_odd_char_find(begin, (size_t)((next ? next : end) - begin), false);
    g_autofree char *odd_hint = NULL, *name = odd ? orch_odd_char_describe(odd, &odd_hint) : NULL;
    if (odd)
        orch_diags_add(diags, false, builder->name, line, column, odd_hint,
                       "not valid YAML: %s; the line holds %s", what, name);
    else
        orch_diags_add(diags, false, builder->name, line, column, hint, "not valid YAML: %s", what);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void silent(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag, (void)user, (void)text, (void)length;
}

static struct fy_diag *diag_new(void)
{
    struct fy_diag_cfg config;
    fy_diag_cfg_default(&config);
    config.fp = NULL;
    config.output_fn = silent;
    config.colorize = false;
    struct fy_diag *diag = fy_diag_create(&config);
    if (diag)
        fy_diag_set_collect_errors(diag, true);
    return diag;
}

/* Runs the parser over the text. Returns true if it reached the end or was stopped by a finding. */
static bool read_events(struct builder *builder, struct fy_diag *diag)
{
    struct fy_parse_cfg config = {
        .search_path = "",
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS,
        .diag = diag,
    };
    struct fy_parser *parser = fy_parser_create(&config);
    bool is_ready = parser && fy_parser_set_string(parser, builder->text, builder->length) == 0;
    bool is_well = is_ready;
    struct fy_event *event;
    while (is_ready && !builder->is_aborted && (event = fy_parser_parse(parser))) {
        on_event(builder, event);
        fy_parser_event_free(parser, event);
    }
    if (is_ready && !builder->is_aborted)
        is_well = !fy_parser_get_stream_error(parser) && !fy_diag_got_error(diag);
    if (parser)
        fy_parser_destroy(parser);
    return is_well;
}

static void move_findings(struct orch_diags *from, struct orch_diags *to)
{
    for (guint i = 0; i < from->items->len; i++) {
        const struct orch_diag *diag = from->items->pdata[i];
        orch_diags_add(to, diag->warning, diag->file, diag->line, diag->column, diag->hint, "%s",
                       diag->what);
    }
    to->error_count += from->error_count + from->warning_count - from->items->len;
    to->dropped_count += from->dropped_count;
}

struct orch_yaml *orch_yaml_parse(const char *name, const char *text, size_t length,
                                  struct orch_diags *diags)
{
    if (length > ORCH_YAML_BYTES_MAX) {
        orch_diags_add(diags, false, name, 0, 0, "keep data in files of its own",
                       "'%s' is larger than 1 MiB", name);
        return NULL;
    }
    text = skip_mark(text, &length);
    if (!bytes_are_text(name, text, length, diags) || !spaces_are_plain(name, text, length, diags))
        return NULL;
    struct builder builder = {.name = name, .text = text, .length = length};
    builder.found = orch_diags_new();
    builder.stack = g_array_new(FALSE, TRUE, sizeof(struct frame));
    g_array_set_clear_func(builder.stack, frame_clear);
    struct fy_diag *diag = diag_new();

    bool is_well = diag && read_events(&builder, diag);
    if (!is_well)
        report_syntax(&builder, diag, diags);
    else if (!builder.root && builder.found->error_count == 0)
        orch_diags_add(diags, false, name, 1, 1, NULL, "'%s' is empty", name);
    else
        move_findings(builder.found, diags);
    is_well = is_well && builder.found->error_count == 0;

    g_array_unref(builder.stack);
    orch_diags_free(builder.found);
    if (diag)
        fy_diag_destroy(diag);
    if (!is_well || !builder.root) {
        orch_yaml_free(builder.root);
        return NULL;
    }
    return builder.root;
}

struct orch_yaml *orch_yaml_parse_file(const char *path, struct orch_diags *diags)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    g_autoptr(GError) error = NULL;
    if (!orch_file_read(path, ORCH_YAML_BYTES_MAX, &text, &length, &error)) {
        g_autofree char *what = orch_error_what(error);
        orch_diags_add(diags, false, path, 0, 0, orch_error_hint(error), "%s", what);
        return NULL;
    }
    return orch_yaml_parse(path, text, length, diags);
}

/* ---- reading the tree --------------------------------------------------------------------------
 */

static int find(const struct orch_yaml *map, const char *key)
{
    if (!map || map->kind != ORCH_YAML_MAP)
        return -1;
    for (guint i = 0; i < map->keys->len; i++)
        if (strcmp(((const struct orch_yaml *)map->keys->pdata[i])->text, key) == 0)
            return (int)i;
    return -1;
}

const struct orch_yaml *orch_yaml_get(const struct orch_yaml *map, const char *key)
{
    int i = find(map, key);
    return i < 0 ? NULL : map->items->pdata[i];
}

const struct orch_yaml *orch_yaml_get_key(const struct orch_yaml *map, const char *key)
{
    int i = find(map, key);
    return i < 0 ? NULL : map->keys->pdata[i];
}

bool orch_yaml_is_null(const struct orch_yaml *node)
{
    return node && node->kind == ORCH_YAML_SCALAR && !node->quoted &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

void orch_yaml_check_keys(const struct orch_yaml *map, const char *name, const char *where,
                          const char *const *known, struct orch_diags *diags)
{
    if (!map || map->kind != ORCH_YAML_MAP)
        return;
    for (guint i = 0; i < map->keys->len; i++) {
        const struct orch_yaml *key = map->keys->pdata[i];
        if (g_strv_contains(known, key->text))
            continue;
        g_autofree char *hint = orch_suggest_hint(key->text, known);
        if (!hint) {
            g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)known);
            hint = g_strdup_printf("known are: %s", all);
        }
        orch_diags_add(diags, false, name, key->line, key->column, hint, "unknown key '%s' in %s",
                       key->text, where);
    }
}

void orch_yaml_check_table(const struct orch_yaml *map, const char *name, const char *where,
                           const struct orch_yaml_key *known, struct orch_diags *diags)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct orch_yaml_key *key = known; key->name; key++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)key->name);
    g_ptr_array_add(names, NULL);
    orch_yaml_check_keys(map, name, where, (const char *const *)names->pdata, diags);
}
