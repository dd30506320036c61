/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A note explains one table or chart, so each report item adds its own, and a report of 80 sections
 * says the same thing 20 times. Items do not know of each other; therefore repeats are found when
 * the document is complete. A statement is a part of a note that ends with "; " or ". " outside of
 * parentheses. */
#include "core/report/shared_notes.h"

#include <string.h>

/* A statement that is no longer than this is read at a glance, as a reference to it would be. */
enum { SHORT_MOST = 20 };

struct statement {
    char *text, *end; /* end: what separates it from the next one */
};

static void statement_free(gpointer pointer)
{
    struct statement *s = pointer;
    g_free(s->text);
    g_free(s->end);
    g_free(s);
}

static void add_statement(GPtrArray *out, const char *from, const char *to, const char *next)
{
    struct statement *s = g_new0(struct statement, 1);
    s->text = g_strndup(from, (gsize)(to - from));
    s->end = g_strndup(to, (gsize)(next - to));
    g_ptr_array_add(out, s);
}

/* Returns a note's statements (struct statement *). The caller unrefs. */
static GPtrArray *statements_of(const char *note)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(statement_free);
    const char *from = note;
    int depth = 0;
    for (const char *at = note; *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        const bool is_end =
            depth <= 0 && at[1] == ' ' && (*at == ';' || (*at == '.' && g_ascii_isupper(at[2])));
        if (!is_end)
            continue;
        add_statement(out, from, at, at + 2);
        from = at + 2;
    }
    add_statement(out, from, from + strlen(from), from + strlen(from));
    return out;
}

/* The note of a block that explains, or NULL: that of a chart stands below it. */
static char **note_of(struct orch_block *block)
{
    return block->kind == ORCH_BLOCK_NOTE    ? &block->text
           : block->kind == ORCH_BLOCK_CHART ? &block->chart->note
                                             : NULL;
}

/* ---- counting -------------------------------------------------------------------------------- */

struct method {
    GHashTable *counts;  /* char * -> how often a statement stands in notes */
    GHashTable *missing; /* char * (missing_key) -> how often that is said to be missing */
    GPtrArray *moved;    /* char *: the statements of the section, in order */
};

static void count(GHashTable *counts, const char *text)
{
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(counts, text));
    g_hash_table_insert(counts, g_strdup(text), GUINT_TO_POINTER(before + 1));
}

static bool is_repeated(GHashTable *counts, const char *text)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(counts, text)) > ORCH_METHOD_REPEATS_MOST;
}

/* What is missing, and the command that makes it: other trials may be as many. The caller frees. */
static char *missing_key(const struct orch_block *block)
{
    return g_strdup_printf("%s\n%s", block->text, block->hint ? block->hint : "");
}

static void count_block(struct method *m, struct orch_block *block)
{
    char **note = note_of(block);
    g_autofree char *missing = block->kind == ORCH_BLOCK_MISSING ? missing_key(block) : NULL;
    if (missing)
        count(m->missing, missing);
    if (!note || !*note)
        return;
    g_autoptr(GPtrArray) statements = statements_of(*note);
    for (guint i = 0; i < statements->len; i++) {
        const char *text = ((const struct statement *)statements->pdata[i])->text;
        if (strlen(text) > SHORT_MOST)
            count(m->counts, text);
    }
}

/* ---- moving ---------------------------------------------------------------------------------- */

static guint number_of(GPtrArray *moved, const char *text)
{
    guint at;
    if (!g_ptr_array_find_with_equal_func(moved, text, g_str_equal, &at)) {
        at = moved->len;
        g_ptr_array_add(moved, g_strdup(text));
    }
    return at + 1;
}

/* Returns the note without the statements that are moved, and adds their numbers; NULL when
 * nothing is left of it. The caller frees. */
static char *shortened(struct method *m, const char *note, GArray *numbers)
{
    g_autoptr(GPtrArray) statements = statements_of(note);
    g_autoptr(GString) left = g_string_new(NULL);
    const char *end = "";
    for (guint i = 0; i < statements->len; i++) {
        const struct statement *s = statements->pdata[i];
        if (!is_repeated(m->counts, s->text)) {
            g_string_append_printf(left, "%s%s", end, s->text);
            end = s->end;
            continue;
        }
        const guint number = number_of(m->moved, s->text);
        guint k = 0;
        while (k < numbers->len && g_array_index(numbers, guint, k) != number)
            k++;
        if (k == numbers->len)
            g_array_append_val(numbers, number);
    }
    return left->len ? g_strdup(left->str) : NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    const guint x = *(const guint *)a, y = *(const guint *)b;
    return (x > y) - (x < y);
}

/* Adds "simulated; how this was computed: method 1, 3 at the end of the report". */
static void refer(struct orch_section *section, GArray *numbers)
{
    const bool is_simulated = section->state == ORCH_SECTION_SIMULATED && numbers->len;
    g_autoptr(GString) text = g_string_new(is_simulated ? "simulated" : NULL);
    const char *before =
        text->len ? "; how this was computed: method " : "how this was computed: method ";
    g_array_sort(numbers, compare_numbers);
    for (guint i = 0; i < numbers->len; i++)
        g_string_append_printf(text, "%s%u", i ? ", " : before, g_array_index(numbers, guint, i));
    if (text->len)
        orch_section_note(section, "%s at the end of the report", text->str);
}

/* The part of an assignment, or the title, by which a section is found. */
static const char *name_of(const struct orch_section *section)
{
    return section->question ? section->question : section->title ? section->title : "above";
}

static void refer_to_missing(struct method *m, struct orch_block *block, GHashTable *firsts,
                             const struct orch_section *section)
{
    g_autofree char *key = missing_key(block);
    if (!is_repeated(m->missing, key))
        return;
    const struct orch_section *first = g_hash_table_lookup(firsts, key);
    if (!first) {
        g_hash_table_insert(firsts, g_steal_pointer(&key), (gpointer)(uintptr_t)section);
        return;
    }
    g_free(block->text);
    block->text = g_strdup_printf("the same as in %s", name_of(first));
}

static void shorten_section(struct method *m, struct orch_section *section, GHashTable *firsts)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < section->blocks->len; i++) {
        struct orch_block *block = section->blocks->pdata[i];
        char **note = note_of(block);
        if (block->kind == ORCH_BLOCK_MISSING)
            refer_to_missing(m, block, firsts, section);
        if (!note || !*note)
            continue;
        char *left = shortened(m, *note, numbers);
        g_free(*note);
        *note = left;
        if (!left && block->kind == ORCH_BLOCK_NOTE)
            g_ptr_array_remove_index(section->blocks, i--);
    }
    refer(section, numbers);
}

/* ---- the section ----------------------------------------------------------------------------- */

void orch_method_gather(struct orch_document *document)
{
    struct method m = {
        .counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .missing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .moved = g_ptr_array_new_with_free_func(g_free),
    };
    g_autoptr(GHashTable) firsts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const guint sections = document->sections->len;
    for (guint i = 0; i < sections; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint k = 0; k < section->blocks->len; k++)
            count_block(&m, section->blocks->pdata[k]);
    }
    for (guint i = 0; i < sections; i++)
        shorten_section(&m, document->sections->pdata[i], firsts);
    struct orch_section *section =
        m.moved->len ? orch_document_add(document, "method", NULL, "Method") : NULL;
    for (guint i = 0; i < m.moved->len; i++)
        orch_section_text(section, "method %u: %s", i + 1, (char *)m.moved->pdata[i]);
    g_hash_table_unref(m.counts);
    g_hash_table_unref(m.missing);
    g_ptr_array_unref(m.moved);
}
