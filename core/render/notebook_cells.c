/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The student's cells are recognised by a digest: each cell that orch makes stores the digest of
 * its source in its metadata. A cell whose source or type has changed was edited, and is kept
 * whole with its outputs and attachments. Ids are stored in the metadata too, because some editors
 * drop them. */
#include "core/render/notebook_cells.h"

#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>

#define ID_MAX 60

/* ---- making ------------------------------------------------------------------------------------
 */

json_t *orch_notebook_lines(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_t *lines = json_array();
    for (const char *p = valid; *p;) {
        const char *end = strchr(p, '\n');
        const size_t length = end ? (size_t)(end - p) + 1 : strlen(p);
        json_array_append_new(lines, json_stringn(p, length));
        p += length;
    }
    return lines;
}

char *orch_notebook_text(const json_t *lines)
{
    if (json_is_string(lines))
        return g_strdup(json_string_value(lines));
    GString *out = g_string_new(NULL);
    size_t i;
    json_t *line;
    json_array_foreach((json_t *)(uintptr_t)lines, i, line)
        g_string_append(out, json_is_string(line) ? json_string_value(line) : "");
    return g_string_free(out, FALSE);
}

void orch_markdown_append(GString *out, const char *text)
{
    for (const char *p = text ? text : ""; *p; p++) {
        if (*p == '&' || *p == '<' || *p == '>')
            g_string_append(out, *p == '&' ? "&amp;" : *p == '<' ? "&lt;" : "&gt;");
        else if (*p == '\n' || *p == '\r')
            g_string_append_c(out, ' ');
        else if (strchr("\\`*_[]{}#|$~", *p))
            g_string_append_printf(out, "\\%c", *p);
        else
            g_string_append_c(out, *p);
    }
}

static char *valid_id(const char *id)
{
    char *valid = g_strndup(id, ID_MAX);
    for (char *p = valid; *p; p++)
        if (!g_ascii_isalnum(*p) && !strchr("-_", *p))
            *p = '-';
    return valid;
}

static json_t *make_cell(const char *type, const char *id, const char *source)
{
    g_autofree char *valid = valid_id(id);
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(source, strlen(source), digest);
    return json_pack("{s:s, s:s, s:{s:{s:s, s:s}}, s:o}", "cell_type", type, "id", valid,
                     "metadata", "orch", "cell", valid, "source", digest, "source",
                     orch_notebook_lines(source));
}

json_t *orch_notebook_markdown(const char *id, const char *source)
{
    return make_cell("markdown", id, source);
}

json_t *orch_notebook_code(const char *id, const char *source, json_t *outputs)
{
    json_t *cell = make_cell("code", id, source);
    json_object_set_new(cell, "execution_count", json_null());
    json_object_set_new(cell, "outputs", outputs);
    return cell;
}

/* ---- carrying over -----------------------------------------------------------------------------
 */

static const json_t *orch_of(const json_t *cell)
{
    return json_object_get(json_object_get(cell, "metadata"), "orch");
}

/* Returns the id that orch gave the cell; NULL when orch did not make it. */
static const char *made_id(const json_t *cell)
{
    return orch_json_text(orch_of(cell), "cell", NULL);
}

static bool is_untouched(const json_t *cell)
{
    g_autofree char *source = orch_notebook_text(json_object_get(cell, "source"));
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(source, strlen(source), digest);
    return g_strcmp0(digest, orch_json_text(orch_of(cell), "source", NULL)) == 0;
}

static bool is_type(const json_t *a, const json_t *b)
{
    return g_strcmp0(orch_json_text(a, "cell_type", NULL), orch_json_text(b, "cell_type", NULL)) ==
           0;
}

static bool find_cell(const json_t *cells, const char *id, size_t *out)
{
    for (size_t i = 0; i < json_array_size(cells); i++)
        if (g_strcmp0(made_id(json_array_get(cells, i)), id) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* Members of a cell's metadata that orch makes. */
static const char *const MADE[] = {"orch", "nbgrader"};

static void take_made(json_t *cell, const json_t *from)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(MADE); i++) {
        json_t *made = json_object_get(json_object_get(from, "metadata"), MADE[i]);
        if (made)
            json_object_set(json_object_get(cell, "metadata"), MADE[i], made);
    }
}

/* Returns a copy without orch's metadata. A student's copy of one of orch's cells would still have
 * it. */
static json_t *own_cell(const json_t *cell)
{
    json_t *own = json_deep_copy(cell);
    if (!json_is_object(json_object_get(own, "metadata")))
        json_object_set_new(own, "metadata", json_object());
    for (unsigned i = 0; i < G_N_ELEMENTS(MADE); i++)
        json_object_del(json_object_get(own, "metadata"), MADE[i]);
    return own;
}

/* Gives every cell a unique id, which nbformat requires. */
static void mend_ids(json_t *cells)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    size_t i;
    json_t *cell;
    json_array_foreach(cells, i, cell) if (made_id(cell))
    {
        json_object_set_new(cell, "id", json_string(made_id(cell)));
        g_hash_table_add(taken, g_strdup(made_id(cell)));
    }
    unsigned next = 1;
    json_array_foreach(cells, i, cell)
    {
        if (made_id(cell))
            continue;
        g_autofree char *name = valid_id(orch_json_text(cell, "id", ""));
        while (!*name || g_hash_table_contains(taken, name)) {
            g_free(name);
            name = g_strdup_printf("own-%u", next++);
        }
        json_object_set_new(cell, "id", json_string(name));
        g_hash_table_add(taken, g_strdup(name));
    }
}

unsigned orch_notebook_carry(json_t *cells, const json_t *before)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    unsigned kept = 0;
    size_t at = 0; /* where the student's next cell is inserted */
    for (size_t i = 0; i < json_array_size(before); i++) {
        json_t *cell = json_array_get(before, i);
        if (!json_is_object(cell)) /* not a valid cell */
            continue;
        const char *id = made_id(cell);
        size_t place;
        const bool is_ours = id && g_hash_table_add(seen, (char *)(uintptr_t)id);
        if (is_ours && find_cell(cells, id, &place)) {
            at = place + 1;
            if (is_untouched(cell) && is_type(cell, json_array_get(cells, place)))
                continue;
            json_t *changed = json_deep_copy(cell);
            /* the question may have changed, so take its new metadata; the student's text is kept
             */
            take_made(changed, json_array_get(cells, place));
            json_array_set_new(cells, place, changed);
            kept++;
        } else if (!is_ours || !is_untouched(cell)) {
            json_array_insert_new(cells, at++, own_cell(cell));
            kept++;
        }
    }
    mend_ids(cells);
    return kept;
}
