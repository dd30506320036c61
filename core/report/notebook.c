/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/notebook.h"

#include "core/report/draw.h"
#include "core/report/drawn.h"
#include "core/report/markup.h"
#include "core/report/notebook_cells.h"
#include "core/report/numbers.h"
#include "core/report/page.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>
#include <unistd.h>

#define PICTURE_BYTES_MAX ((size_t)4 << 20)
#define NOTEBOOK_BYTES_MAX ((size_t)256 << 20)
#define PROGRAM_CHARS_MAX 200000

/* ---- outputs -----------------------------------------------------------------------------------
 */

/* Text as a command prints it; behind text it goes on. */
static void add_text(json_t *outputs, const char *text)
{
    json_t *last = json_array_get(outputs, json_array_size(outputs) - 1);
    json_t *lines = orch_notebook_lines(text);
    if (last && strcmp(orch_json_text(last, "output_type", ""), "stream") == 0) {
        json_array_extend(json_object_get(last, "text"), lines);
        json_decref(lines);
        return;
    }
    json_array_append_new(outputs, json_pack("{s:s, s:s, s:o}", "name", "stdout", "output_type",
                                             "stream", "text", lines));
}

static void add_line(json_t *outputs, const char *before, const char *text)
{
    g_autofree char *line = g_strconcat(before, text ? text : "", "\n", NULL);
    add_text(outputs, line);
}

/* Steals `data`: MIME types and what to show of each. */
static void add_display(json_t *outputs, json_t *data)
{
    json_array_append_new(outputs, json_pack("{s:o, s:{}, s:s}", "data", data, "metadata",
                                             "output_type", "display_data"));
}

static void add_table(json_t *outputs, const struct orch_block *block)
{
    g_autoptr(GString) html = g_string_new(NULL);
    orch_html_table(html, block->table, block->text, true);
    g_autofree char *text = orch_table_format(block->table, ORCH_TABLE_TEXT);
    add_display(outputs, json_pack("{s:o, s:o}", "text/html", orch_notebook_lines(html->str),
                                   "text/plain", orch_notebook_lines(text)));
}

/* The PNG as HTML, too, which goes before SVG where both can be shown: nbconvert 6 leaves nothing
 * of an SVG. */
static json_t *image_html(const char *title, const char *base64)
{
    g_autoptr(GString) html = g_string_new(NULL);
    orch_html_printf(html,
                     "<img alt=\"%s\" style=\"width:640px;max-width:100%%;background:white\" "
                     "src=\"data:image/png;base64,",
                     title ? title : "chart");
    g_string_append(html, base64);
    g_string_append(html, "\">");
    return json_string(html->str);
}

/* The chart as a file of that ending, NULL where it cannot be drawn. */
static char *drawn_as(const struct orch_chart *chart, const char *ending, size_t *length)
{
    g_autofree char *folder = g_dir_make_tmp("orch-chart-XXXXXX", NULL);
    if (!folder)
        return NULL;
    g_autofree char *path = g_strconcat(folder, "/chart.", ending, NULL);
    char *bytes = NULL;
    if (orch_chart_write(chart, path, NULL))
        orch_file_read(path, PICTURE_BYTES_MAX, &bytes, length, NULL);
    unlink(path);
    rmdir(folder);
    return bytes;
}

static void add_chart(json_t *outputs, const struct orch_block *block)
{
    const struct orch_chart *chart = block->chart;
    if (orch_chart_is_empty(chart)) {
        add_line(outputs, "nothing to draw yet: ", chart->title);
        return;
    }
    size_t png_length = 0, svg_length = 0;
    g_autofree char *png = drawn_as(chart, "png", &png_length);
    g_autofree char *svg = png ? drawn_as(chart, "svg", &svg_length) : NULL;
    g_autofree char *text = orch_drawn_text(chart);
    json_t *data = json_pack("{s:o}", "text/plain", orch_notebook_lines(text));
    if (png) {
        g_autofree char *base64 = g_base64_encode((const guchar *)png, png_length);
        json_object_set_new(data, "image/png", json_string(base64));
        json_object_set_new(data, "text/html", image_html(chart->title, base64));
    }
    const char *element = svg ? strstr(svg, "<svg") : NULL; /* without the prolog */
    if (element)
        json_object_set_new(data, "image/svg+xml", orch_notebook_lines(element));
    add_display(outputs, data);
    const char *note = png ? NULL : chart->note; /* a drawn chart holds its note */
    if (block->text || note)
        add_line(outputs, "", block->text ? block->text : note);
}

static void add_pictures(json_t *outputs, const struct orch_block *block)
{
    for (guint i = 0; i < block->pictures->len; i++) {
        const struct orch_picture *picture = block->pictures->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autofree char *data = orch_picture_base64(picture->path, PICTURE_BYTES_MAX, &error);
        add_line(outputs, "", picture->caption);
        if (data)
            add_display(outputs, json_pack("{s:s, s:o}", "image/png", data, "text/plain",
                                           orch_notebook_lines(picture->caption ? picture->caption
                                                                                : "picture")));
        else
            add_line(outputs, "not shown: ", error->message);
    }
}

static void add_block(json_t *outputs, const struct orch_block *block)
{
    switch (block->kind) {
    case ORCH_BLOCK_TEXT:
    case ORCH_BLOCK_NOTE:
        add_line(outputs, "", block->text);
        return;
    case ORCH_BLOCK_MISSING:
        add_line(outputs, "missing: ", block->text);
        if (block->cure)
            add_line(outputs, "  get it with: ", block->cure);
        return;
    case ORCH_BLOCK_TABLE:
        add_table(outputs, block);
        return;
    case ORCH_BLOCK_CHART:
        add_chart(outputs, block);
        return;
    case ORCH_BLOCK_PICTURES:
        add_pictures(outputs, block);
        return;
    case ORCH_BLOCK_STUDENT: /* a cell of its own */
        return;
    }
}

static void add_runs(json_t *outputs, const struct orch_section *section)
{
    if (!section->runs->len)
        return;
    g_autoptr(GString) line = g_string_new("made of ");
    g_string_append_printf(line, "%u run%s:", section->runs->len,
                           section->runs->len == 1 ? "" : "s");
    for (guint i = 0; i < MIN(section->runs->len, 40u); i++) {
        const char *key = ((struct orch_section_run *)section->runs->pdata[i])->key;
        const size_t length = strlen(key);
        g_string_append_printf(line, " %s", length > 8 ? key + length - 8 : key);
    }
    add_line(outputs, line->str, section->runs->len > 40 ? " ..." : "");
}

static bool is_empty_handed(const struct orch_section *section)
{
    for (guint i = 0; i < section->blocks->len; i++)
        if (((const struct orch_block *)section->blocks->pdata[i])->kind != ORCH_BLOCK_STUDENT)
            return false;
    return true;
}

static void add_section(json_t *outputs, const struct orch_section *section)
{
    if (is_empty_handed(section))
        return;
    if (section->title)
        add_line(outputs, json_array_size(outputs) ? "\n" : "", section->title);
    for (guint i = 0; i < section->blocks->len; i++)
        add_block(outputs, section->blocks->pdata[i]);
    add_runs(outputs, section);
}

/* ---- cells of a part ---------------------------------------------------------------------------
 */

/* The line that makes IPython run a command of the shell: it would read {x} and $x itself. */
static char *shell_line(const char *command)
{
    GString *out = g_string_new("!");
    for (const char *p = command; *p; p++) {
        if (strchr("{}$", *p))
            g_string_append_c(out, *p);
        g_string_append_c(out, *p == '\n' ? ' ' : *p);
    }
    return g_string_free(out, FALSE);
}

static void append_points(GString *out, double points)
{
    g_autofree char *number = orch_number_format(points);
    if (points > 0)
        g_string_append_printf(out, " (%s point%s)", number, points == 1 ? "" : "s");
}

/* What the student is to write, one line an item. */
static void append_asked(GString *out, const struct orch_outline_part *part)
{
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        for (guint j = 0; j < section->blocks->len; j++) {
            const struct orch_block *block = section->blocks->pdata[j];
            if (block->kind != ORCH_BLOCK_STUDENT)
                continue;
            g_string_append_printf(out, "\n\nYours to write, in the empty cell%s",
                                   block->text ? ": " : ".");
            orch_markdown_append(out, block->text);
        }
    }
}

static json_t *heading_cell(const char *id, const struct orch_outline_part *part)
{
    const struct orch_section *first = part->sections->pdata[0];
    const char *title = orch_outline_title(part);
    g_autoptr(GString) text = g_string_new("## ");
    if (part->question) {
        orch_markdown_append(text, part->question);
        g_string_append_c(text, ' ');
    }
    orch_markdown_append(text, title ? title : first->kind);
    append_points(text, part->points);
    append_asked(text, part);
    return orch_notebook_markdown(id, text->str);
}

static void add_programs(json_t *cells, const char *id, const struct orch_outline_part *part,
                         const GPtrArray *programs)
{
    for (guint i = 0, n = 0; programs && i < programs->len; i++) {
        const struct orch_notebook_program *program = programs->pdata[i];
        if (g_strcmp0(program->question, part->question) != 0)
            continue;
        g_autofree char *quoted = g_shell_quote(program->path);
        g_autofree char *command = g_strconcat("cat ", quoted, NULL);
        g_autofree char *source = shell_line(command);
        g_autofree char *cell_id = g_strdup_printf("%s-program-%u", id, ++n);
        g_autofree char *text = g_strndup(program->text, PROGRAM_CHARS_MAX);
        json_t *outputs = json_array();
        add_text(outputs, text);
        json_array_append_new(cells, orch_notebook_code(cell_id, source, outputs));
    }
}

/* A cell for each command: sections of one question mostly share theirs. */
static void add_commands(json_t *cells, const char *id, const struct orch_outline_part *part)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        const char *command = section->command ? section->command : "";
        if (is_empty_handed(section) || !g_hash_table_add(done, (char *)(uintptr_t)command))
            continue;
        json_t *outputs = json_array();
        for (guint j = i; j < part->sections->len; j++) {
            const struct orch_section *other = part->sections->pdata[j];
            if (g_strcmp0(other->command ? other->command : "", command) == 0)
                add_section(outputs, other);
        }
        g_autofree char *source = *command ? shell_line(command) : g_strdup("");
        g_autofree char *cell_id = g_hash_table_size(done) == 1
                                       ? g_strconcat(id, "-run", NULL)
                                       : g_strdup_printf("%s-run-%u", id, g_hash_table_size(done));
        json_array_append_new(cells, orch_notebook_code(cell_id, source, outputs));
    }
}

/* The empty cell. */
static void add_answer(json_t *cells, const char *id, const struct orch_outline_part *part)
{
    if (!orch_outline_is_student(part))
        return;
    g_autofree char *cell_id = g_strconcat(id, "-answer", NULL);
    json_t *cell = orch_notebook_markdown(cell_id, "");
    json_t *orch = json_object_get(json_object_get(cell, "metadata"), "orch");
    json_object_set_new(orch, "question", json_string(part->question ? part->question : ""));
    json_object_set_new(orch, "points", json_real(part->points));
    json_object_set_new(orch, "student", json_true());
    json_array_append_new(cells, cell);
}

static void add_part(json_t *cells, const struct orch_outline_part *part, const GPtrArray *programs,
                     GHashTable *taken)
{
    const char *name = part->question ? part->question : orch_outline_title(part);
    g_autofree char *short_name = g_strndup(name ? name : "part", 40); /* ids: up to 64 */
    g_autofree char *slug = orch_outline_slug_unique(taken, short_name, NULL);
    g_autofree char *id = g_strconcat("orch-", slug, NULL);
    json_array_append_new(cells, heading_cell(id, part));
    add_programs(cells, id, part, programs);
    add_commands(cells, id, part);
    add_answer(cells, id, part);
}

/* ---- a notebook --------------------------------------------------------------------------------
 */

static void append_fact(GString *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    g_string_append_printf(out, "\n- %s: ", name);
    orch_markdown_append(out, value);
}

static json_t *head_cell(const struct orch_document *d, const struct orch_outline_problem *problem)
{
    g_autoptr(GString) text = g_string_new("# ");
    orch_markdown_append(text, d->name);
    if (problem->number) {
        g_string_append(text, ", problem ");
        orch_markdown_append(text, problem->number);
    }
    if (d->about) {
        g_string_append(text, "\n\n");
        orch_markdown_append(text, d->about);
    }
    g_string_append(text, "\n");
    append_fact(text, "recipe", d->recipe);
    append_fact(text, "profile", d->profile);
    append_fact(text, "commit", d->commit);
    if (d->is_dirty)
        g_string_append(text, ", with changes that are not committed");
    append_fact(text, "by", d->who);
    append_fact(text, "machine", d->machine);
    append_fact(text, "made", d->made);
    append_fact(text, "store", d->store_digest);
    return orch_notebook_markdown("orch-head", text->str);
}

/* A notebook may lie anywhere below the folder that the commands were typed in. */
static void add_setup(json_t *cells, const struct orch_document *d)
{
    if (!d->recipe || g_path_is_absolute(d->recipe) || g_str_has_prefix(d->recipe, "../"))
        return;
    json_t *path = json_string(d->recipe);
    g_autofree char *literal = json_dumps(path, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(path);
    g_autofree char *source = g_strdup_printf(
        "# The commands below run where the recipe's path begins: in this folder or one above.\n"
        "import os\n"
        "while not os.path.exists(%s) and os.getcwd() != os.path.dirname(os.getcwd()):\n"
        "    os.chdir(\"..\")",
        literal);
    json_array_append_new(cells, orch_notebook_code("orch-setup", source, json_array()));
}

/* Whose runs were used besides one's own: said without being asked. */
static void add_others(json_t *cells, const struct orch_document *document,
                       const struct orch_outline_problem *problem)
{
    g_autoptr(GPtrArray) others = orch_outline_others(document, problem);
    if (!others->len)
        return;
    g_autoptr(GString) text = g_string_new("## Collaborators\n\nRuns of others are used above:\n");
    for (guint i = 0; i < others->len; i++) {
        const struct orch_outline_other *other = others->pdata[i];
        g_string_append(text, "\n- ");
        orch_markdown_append(text, other->who);
        g_string_append_c(text, ':');
        for (guint j = 0; j < other->runs->len; j++) {
            const struct orch_section_run *run = other->runs->pdata[j];
            g_string_append(text, j ? "; " : " ");
            orch_markdown_append(text, run->experiment ? run->experiment : run->key);
            g_string_append_c(text, ' ');
            orch_markdown_append(text, orch_section_run_setting(run));
        }
    }
    json_array_append_new(cells, orch_notebook_markdown("orch-others", text->str));
}

static bool is_ours(const json_t *before)
{
    return json_is_object(json_object_get(json_object_get(before, "metadata"), "orch")) &&
           json_is_array(json_object_get(before, "cells")) &&
           orch_json_int(before, "nbformat", 0) == 4;
}

static json_t *metadata_of(const struct orch_document *document,
                           const struct orch_outline_problem *problem, const json_t *before)
{
    json_t *metadata = before ? json_deep_copy(json_object_get(before, "metadata"))
                              : json_pack("{s:{s:s, s:s, s:s}, s:{s:s}}", "kernelspec",
                                          "display_name", "Python 3", "language", "python", "name",
                                          "python3", "language_info", "name", "python");
    json_object_set_new(metadata, "orch",
                        json_pack("{s:s, s:s?, s:s?}", "name", document->name, "recipe",
                                  document->recipe, "problem", problem->number));
    return metadata;
}

json_t *orch_notebook_make(const struct orch_document *document,
                           const struct orch_outline_problem *problem, const GPtrArray *programs,
                           const json_t *before, unsigned *kept)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    json_t *cells = json_array();
    json_array_append_new(cells, head_cell(document, problem));
    add_setup(cells, document);
    for (guint i = 0; i < problem->parts->len; i++)
        add_part(cells, problem->parts->pdata[i], programs, taken);
    add_others(cells, document, problem);
    *kept = before ? orch_notebook_carry(cells, json_object_get(before, "cells")) : 0;
    return json_pack("{s:o, s:o, s:i, s:i}", "cells", cells, "metadata",
                     metadata_of(document, problem, before), "nbformat", 4, "nbformat_minor", 5);
}

static void free_answer(gpointer pointer)
{
    struct orch_notebook_answer *answer = pointer;
    g_free(answer->question);
    g_free(answer);
}

GPtrArray *orch_notebook_answers(const json_t *notebook)
{
    GPtrArray *answers = g_ptr_array_new_with_free_func(free_answer);
    const json_t *cells = json_object_get(notebook, "cells");
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        const json_t *orch = json_object_get(json_object_get(cell, "metadata"), "orch");
        if (!json_is_true(json_object_get(orch, "student")))
            continue;
        struct orch_notebook_answer *answer = g_new0(struct orch_notebook_answer, 1);
        g_autofree char *text = orch_notebook_text(json_object_get(cell, "source"));
        answer->question = g_strdup(orch_json_text(orch, "question", ""));
        answer->points = json_number_value(json_object_get(orch, "points"));
        answer->is_empty = !*g_strstrip(text);
        g_ptr_array_add(answers, answer);
    }
    return answers;
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void free_notebook(gpointer pointer)
{
    struct orch_notebook *notebook = pointer;
    g_free(notebook->number);
    g_free(notebook->name);
    g_free(notebook->path);
    g_free(notebook->text);
    g_clear_pointer(&notebook->answers, g_ptr_array_unref);
    g_free(notebook);
}

/* The notebook that is there: NULL when none is; false when it cannot be read as one. */
static bool read_before(const char *path, json_t **out, GError **error)
{
    *out = NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return true;
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, NOTEBOOK_BYTES_MAX, &text, &length, error))
        return false;
    g_autoptr(json_t) before = orch_json_parse(text, length, NOTEBOOK_BYTES_MAX, NULL);
    if (!before || !is_ours(before)) {
        orch_error_set(error, ORCH_ERROR_IO, "move it away, or choose another --out",
                       "'%s' is there, and is no notebook of orch's", path);
        return false;
    }
    *out = g_steal_pointer(&before);
    return true;
}

static struct orch_notebook *write_notebook(const struct orch_document *document,
                                            const struct orch_outline_problem *problem,
                                            const GPtrArray *programs, const char *folder,
                                            GError **error)
{
    struct orch_notebook *notebook = g_new0(struct orch_notebook, 1);
    g_autofree char *name = orch_outline_slug(document->name, NULL);
    g_autofree char *number = problem->number ? orch_outline_slug(problem->number, NULL) : NULL;
    notebook->number = g_strdup(problem->number);
    notebook->name =
        number ? g_strdup_printf("%s_p%s.ipynb", name, number) : g_strconcat(name, ".ipynb", NULL);
    notebook->path = g_build_filename(folder, notebook->name, NULL);
    g_autoptr(json_t) before = NULL;
    g_autoptr(json_t) made = NULL;
    if (read_before(notebook->path, &before, error)) {
        made = orch_notebook_make(document, problem, programs, before, &notebook->kept);
        g_autofree char *text = json_dumps(made, JSON_INDENT(1) | JSON_SORT_KEYS);
        notebook->text = g_strconcat(text, "\n", NULL);
        notebook->answers = orch_notebook_answers(made);
    }
    if (made &&
        orch_file_write(notebook->path, notebook->text, strlen(notebook->text), true, error))
        return notebook;
    free_notebook(notebook);
    return NULL;
}

/* What answers no question goes with the last problem; alone it is a notebook of its own. */
static void join_unasked(GPtrArray *problems)
{
    const struct orch_outline_problem *last =
        problems->len ? problems->pdata[problems->len - 1] : NULL;
    if (problems->len < 2 || last->number)
        return;
    struct orch_outline_problem *target = problems->pdata[problems->len - 2];
    while (last->parts->len)
        g_ptr_array_add(target->parts, g_ptr_array_steal_index(last->parts, 0));
    g_ptr_array_remove_index(problems, problems->len - 1);
}

GPtrArray *orch_notebooks_write(const struct orch_document *document, const GPtrArray *programs,
                                const char *folder, GError **error)
{
    g_autoptr(GPtrArray) problems = orch_outline_new(document);
    join_unasked(problems);
    if (!orch_dir_make(folder, error))
        return NULL;
    g_autoptr(GPtrArray) notebooks = g_ptr_array_new_with_free_func(free_notebook);
    for (guint i = 0; i < problems->len; i++) {
        struct orch_notebook *notebook =
            write_notebook(document, problems->pdata[i], programs, folder, error);
        if (!notebook)
            return NULL;
        g_ptr_array_add(notebooks, notebook);
    }
    return g_steal_pointer(&notebooks);
}
