/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/document.h"

#include "core/stats/numbers.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------------------
 */

static void free_picture(gpointer pointer)
{
    struct orch_picture *picture = pointer;
    g_free(picture->path);
    g_free(picture->caption);
    g_free(picture);
}

static void free_block(gpointer pointer)
{
    struct orch_block *block = pointer;
    g_free(block->text);
    g_free(block->hint);
    if (block->table)
        orch_table_free(block->table);
    orch_chart_free(block->chart);
    g_clear_pointer(&block->pictures, g_ptr_array_unref);
    g_free(block);
}

static void free_run(gpointer pointer)
{
    struct orch_section_run *run = pointer;
    g_free(run->key);
    g_free(run->experiment);
    g_free(run->label);
    g_free(run->who);
    g_free(run->device_key);
    g_free(run->commit);
    g_free(run);
}

static void section_free(struct orch_section *section)
{
    if (!section)
        return;
    g_free(section->question);
    g_free(section->title);
    g_free(section->command);
    g_free(section->scale);
    g_ptr_array_unref(section->blocks);
    g_ptr_array_unref(section->runs);
    g_hash_table_unref(section->counted);
    g_clear_pointer(&section->labels, g_hash_table_unref);
    g_free(section);
}

struct orch_document *orch_document_new(const char *name)
{
    struct orch_document *document = g_new0(struct orch_document, 1);
    document->name = g_strdup(name);
    document->sections = g_ptr_array_new_with_free_func((GDestroyNotify)section_free);
    return document;
}

void orch_document_free(struct orch_document *document)
{
    if (!document)
        return;
    g_free(document->name);
    g_free(document->about);
    g_free(document->recipe);
    g_free(document->profile);
    g_free(document->settings);
    g_free(document->commit);
    g_free(document->who);
    g_free(document->machine);
    g_free(document->made);
    g_free(document->store_digest);
    g_ptr_array_unref(document->sections);
    g_free(document);
}

struct orch_section *orch_document_add(struct orch_document *document, const char *kind,
                                       const char *question, const char *title)
{
    struct orch_section *section = g_new0(struct orch_section, 1);
    section->kind = kind;
    section->question = g_strdup(question);
    section->title = g_strdup(title);
    section->blocks = g_ptr_array_new_with_free_func(free_block);
    section->runs = g_ptr_array_new_with_free_func(free_run);
    section->counted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_ptr_array_add(document->sections, section);
    return section;
}

static struct orch_block *add_block(struct orch_section *section, enum orch_block_kind kind)
{
    struct orch_block *block = g_new0(struct orch_block, 1);
    block->kind = kind;
    g_ptr_array_add(section->blocks, block);
    return block;
}

/* Capitalises the first letter of each sentence, unless the word is a name such as val_acc. */
static void capitalise(char *text)
{
    for (char *at = text; *at; at++) {
        const bool begins = at < text + 2 ? at == text : at[-2] == '.' && g_ascii_isspace(at[-1]);
        const size_t letters = begins ? strspn(at, "abcdefghijklmnopqrstuvwxyz") : 0;
        if (letters > 1 && at[letters] && strchr(" ,:-", at[letters]))
            *at = g_ascii_toupper(*at);
    }
}

void orch_section_answer(struct orch_section *section, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct orch_block *block = g_new0(struct orch_block, 1);
    block->kind = ORCH_BLOCK_ANSWER;
    g_autofree char *text = g_strdup_vprintf(format, args);
    block->text = orch_digits_grouped(text);
    capitalise(block->text);
    g_ptr_array_insert(section->blocks, 0, block);
    va_end(args);
}

void orch_section_answer_add(struct orch_section *section, const char *format, ...)
{
    va_list args;
    struct orch_block *block = section->blocks->len ? section->blocks->pdata[0] : NULL;
    if (!block || block->kind != ORCH_BLOCK_ANSWER)
        return;
    va_start(args, format);
    g_autofree char *before = block->text, *part = g_strdup_vprintf(format, args);
    block->text = g_strdup_printf("%s. %s", before, part);
    capitalise(block->text);
    va_end(args);
}

void orch_section_text(struct orch_section *section, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_block(section, ORCH_BLOCK_TEXT)->text = g_strdup_vprintf(format, args);
    va_end(args);
}

void orch_section_note(struct orch_section *section, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_block(section, ORCH_BLOCK_NOTE)->text = g_strdup_vprintf(format, args);
    va_end(args);
}

void orch_section_code(struct orch_section *section, const char *content)
{
    add_block(section, ORCH_BLOCK_CODE)->text = g_strdup(content);
}

void orch_section_student(struct orch_section *section, const char *format, ...)
{
    if (!section->blocks->len)
        section->state = ORCH_SECTION_STUDENT;
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    add_block(section, ORCH_BLOCK_STUDENT)->text = *text ? g_steal_pointer(&text) : NULL;
}

void orch_section_missing(struct orch_section *section, const char *hint, const char *format, ...)
{
    struct orch_block *block = add_block(section, ORCH_BLOCK_MISSING);
    va_list args;
    va_start(args, format);
    block->text = g_strdup_vprintf(format, args);
    va_end(args);
    block->hint = g_strdup(hint);
    if (section->state == ORCH_SECTION_COMPLETE)
        section->state = section->done ? ORCH_SECTION_PARTIAL : ORCH_SECTION_MISSING;
}

void orch_section_table(struct orch_section *section, struct orch_table *table)
{
    add_block(section, ORCH_BLOCK_TABLE)->table = table;
    orch_table_group_digits(table);
}

void orch_section_scale(struct orch_section *section, const char *text, struct orch_table *table)
{
    struct orch_block *block = add_block(section, ORCH_BLOCK_SCALE);
    block->text = g_strdup(text);
    block->table = table;
}

void orch_section_chart(struct orch_section *section, struct orch_chart *chart)
{
    add_block(section, ORCH_BLOCK_CHART)->chart = chart;
}

void orch_section_picture(struct orch_section *section, const char *path, const char *caption)
{
    guint count = section->blocks->len;
    struct orch_block *block = count ? section->blocks->pdata[count - 1] : NULL;
    if (!block || block->kind != ORCH_BLOCK_PICTURES) {
        block = add_block(section, ORCH_BLOCK_PICTURES);
        block->pictures = g_ptr_array_new_with_free_func(free_picture);
    }
    struct orch_picture *picture = g_new0(struct orch_picture, 1);
    picture->path = g_strdup(path);
    picture->caption = g_strdup(caption);
    g_ptr_array_add(block->pictures, picture);
}

void orch_section_run_add(struct orch_section *section, const struct orch_section_run *run)
{
    for (guint i = 0; i < section->runs->len; i++)
        if (strcmp(((struct orch_section_run *)section->runs->pdata[i])->key, run->key) == 0)
            return;
    struct orch_section_run *copy = g_new0(struct orch_section_run, 1);
    *copy = (struct orch_section_run){
        g_strdup(run->key), g_strdup(run->experiment), g_strdup(run->label),
        g_strdup(run->who), g_strdup(run->device_key), g_strdup(run->commit),
        run->is_ours};
    g_ptr_array_add(section->runs, copy);
}

void orch_section_small(struct orch_section *section, const char *why)
{
    section->state = ORCH_SECTION_SMALL;
    g_free(section->scale);
    section->scale = g_strdup(why);
}

const char *orch_section_run_setting(const struct orch_section_run *run)
{
    const size_t length = run->experiment ? strlen(run->experiment) : 0;
    if (!run->label)
        return "";
    if (!length || !g_str_has_prefix(run->label, run->experiment))
        return run->label;
    const char *rest = run->label + length;
    return !*rest ? rest : *rest == ' ' ? rest + 1 : run->label;
}

const char *orch_section_state_name(enum orch_section_state state)
{
    static const char *const names[] = {"complete", "small_scale", "simulated", "partial",
                                        "missing",  "skipped",     "student"};
    return names[state];
}

/* ---- as JSON -----------------------------------------------------------------------------------
 */

static json_t *pictures_json(const GPtrArray *pictures)
{
    json_t *out = json_array();
    for (guint i = 0; pictures && i < pictures->len; i++) {
        const struct orch_picture *p = pictures->pdata[i];
        json_array_append_new(out, json_pack("{s:s, s:o}", "path", p->path, "caption",
                                             orch_json_text_or_null(p->caption)));
    }
    return out;
}

/* Returns a table as it is shown: {"headers":[], "labels":[], "groups":[], "is_right":[],
 * "cells":[[]]}; people read the labels below their groups. The objects of
 * orch_table_json lack the order of columns, and their numbers lack intervals. */
static json_t *shown_json(const struct orch_table *table)
{
    json_t *headers = json_array(), *is_right = json_array(), *cells = json_array();
    json_t *labels = json_array(), *groups = json_array();
    for (unsigned c = 0; c < orch_table_columns(table); c++) {
        json_array_append_new(headers, orch_json_text_or_null(orch_table_header(table, c)));
        json_array_append_new(labels, orch_json_text_or_null(orch_table_label(table, c)));
        json_array_append_new(groups, orch_json_text_or_null(orch_table_group(table, c)));
        json_array_append_new(is_right, json_boolean(orch_table_is_right(table, c)));
    }
    for (unsigned r = 0; r < orch_table_rows(table); r++) {
        json_t *row = json_array();
        for (unsigned c = 0; c < orch_table_columns(table); c++) {
            g_autofree char *text = orch_table_shown(table, r, c);
            json_array_append_new(row, orch_json_text_or_null(text));
        }
        json_array_append_new(cells, row);
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "headers", headers, "labels", labels, "groups",
                     groups, "is_right", is_right, "cells", cells);
}

static json_t *block_json(const struct orch_block *block)
{
    static const char *const names[] = {"answer", "text",     "note", "missing", "table",
                                        "chart",  "pictures", "code", "scale",   "student"};
    json_t *out = json_pack("{s:s}", "kind", names[block->kind]);
    if (block->text)
        json_object_set_new(out, "text", json_string(block->text));
    if (block->hint)
        json_object_set_new(out, "hint", json_string(block->hint));
    if (block->table) {
        json_object_set_new(out, "rows", orch_table_json(block->table));
        json_object_set_new(out, "shown", shown_json(block->table));
    }
    if (block->chart)
        json_object_set_new(out, "chart", orch_chart_json(block->chart));
    if (block->pictures)
        json_object_set_new(out, "pictures", pictures_json(block->pictures));
    return out;
}

static json_t *run_json(const struct orch_section_run *run)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "key", run->key, "experiment",
                     orch_json_text_or_null(run->experiment), "label",
                     orch_json_text_or_null(run->label), "who", orch_json_text_or_null(run->who),
                     "device_key", orch_json_text_or_null(run->device_key), "commit",
                     orch_json_text_or_null(run->commit), "is_ours", run->is_ours);
}

static json_t *section_json(const struct orch_section *section)
{
    json_t *blocks = json_array(), *runs = json_array();
    for (guint i = 0; i < section->blocks->len; i++)
        json_array_append_new(blocks, block_json(section->blocks->pdata[i]));
    for (guint i = 0; i < section->runs->len; i++)
        json_array_append_new(runs, run_json(section->runs->pdata[i]));
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:s, s:o, s:i, s:i, s:o, s:o, s:o}", "question",
        orch_json_text_or_null(section->question), "title", orch_json_text_or_null(section->title),
        "points", orch_json_finite(section->points), "kind", section->kind, "state",
        orch_section_state_name(section->state), "scale", orch_json_text_or_null(section->scale),
        "planned", (int)section->planned, "done", (int)section->done, "command",
        orch_json_text_or_null(section->command), "blocks", blocks, "runs", runs);
}

json_t *orch_document_json(const struct orch_document *document)
{
    json_t *sections = json_array();
    for (guint i = 0; i < document->sections->len; i++)
        json_array_append_new(sections, section_json(document->sections->pdata[i]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "name",
                     document->name, "about", orch_json_text_or_null(document->about), "recipe",
                     orch_json_text_or_null(document->recipe), "profile",
                     orch_json_text_or_null(document->profile), "settings",
                     orch_json_text_or_null(document->settings), "commit",
                     orch_json_text_or_null(document->commit), "dirty", document->is_dirty, "who",
                     orch_json_text_or_null(document->who), "machine",
                     orch_json_text_or_null(document->machine), "made",
                     orch_json_text_or_null(document->made), "store_digest",
                     orch_json_text_or_null(document->store_digest), "sections", sections);
}
