/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/notebook.h"

#include "core/render/notebook_cells.h"
#include "core/stats/numbers.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>

#define NOTEBOOK_BYTES_MAX ((size_t)256 << 20)
#define PROGRAM_CHARS_MAX 200000

/* ---- cells of a part ---------------------------------------------------------------------------
 */

/* Formats the line with which IPython runs a shell command. IPython would expand {x} and $x
 * itself, so these are escaped. */
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

/* Appends the questions that the student has to answer, one line each. */
static void append_question(GString *out, const struct orch_outline_part *part)
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
    append_question(text, part);
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
        g_autofree char *line = shell_line(command);
        g_autofree char *source =
            g_strconcat("# The program of this part, as it was run.\n", line, NULL);
        g_autofree char *cell_id = g_strdup_printf("%s-program-%u", id, ++n);
        g_autofree char *text = g_strndup(program->text, PROGRAM_CHARS_MAX);
        json_t *outputs = json_array();
        orch_notebook_add_text(outputs, text);
        json_array_append_new(cells, orch_notebook_code(cell_id, source, outputs));
    }
}

static void append_literal(GString *out, const char *text)
{
    json_t *string = json_string(text);
    g_autofree char *literal = json_dumps(string, JSON_ENCODE_ANY);
    json_decref(string);
    g_string_append(out, literal ? literal : "\"\"");
}

/* The comment above a cell's statement, on one line. */
static void append_comment(GString *out, const struct orch_section *section)
{
    g_autofree char *title = g_strdup(section->title ? section->title : section->kind);
    const char *question = section->question;
    g_strdelimit(title, "\r\n", ' ');
    g_string_append_printf(out, "# Computes %s%s from the stored runs: %s\n",
                           question ? "question " : "this part", question ? question : "", title);
}

/* The statement of orch's Python module that shows what a command 'orch report RECIPE OPTION...
 * --only QUESTION' prints, with a comment; of a section without a question by its title. The caller
 * frees. */
static char *python_call(const char *command, const struct orch_section *section)
{
    g_auto(GStrv) words = NULL;
    if (!g_shell_parse_argv(command, NULL, &words, NULL) || g_strv_length(words) < 3)
        return shell_line(command);
    GString *out = g_string_new(NULL);
    const char *only = NULL;
    append_comment(out, section);
    g_string_append(out, "orch.report(");
    for (guint i = 2; words[i]; i++) {
        const bool is_only = strcmp(words[i], "--only") == 0 && words[i + 1];
        only = is_only ? words[++i] : only;
        if (is_only)
            continue;
        g_string_append(out, i > 2 ? ", " : "");
        append_literal(out, words[i]);
    }
    if (only) {
        g_string_append(out, ", only=");
        append_literal(out, only);
    }
    g_string_append_c(out, ')');
    if (!only && !section->question && section->title) {
        g_string_append_c(out, '[');
        append_literal(out, section->title);
        g_string_append_c(out, ']');
    }
    return g_string_free(out, FALSE);
}

/* Adds one code cell for each distinct command, since sections of one question mostly share
 * theirs. */
static void add_commands(json_t *cells, const char *id, const struct orch_outline_part *part)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        const char *command = section->command ? section->command : "";
        if (orch_notebook_is_for_student(section) ||
            !g_hash_table_add(done, (char *)(uintptr_t)command))
            continue;
        json_t *outputs = json_array();
        for (guint j = i; j < part->sections->len; j++) {
            const struct orch_section *other = part->sections->pdata[j];
            if (g_strcmp0(other->command ? other->command : "", command) == 0)
                orch_notebook_add_section(outputs, other);
        }
        g_autofree char *source = *command ? python_call(command, section) : g_strdup("");
        g_autofree char *cell_id = g_hash_table_size(done) == 1
                                       ? g_strconcat(id, "-run", NULL)
                                       : g_strdup_printf("%s-run-%u", id, g_hash_table_size(done));
        json_array_append_new(cells, orch_notebook_code(cell_id, source, outputs));
    }
}

/* Marks the cell of a part that nbgrader's formgrader grades by hand. */
static void mark_graded(json_t *cell, double points)
{
    json_t *metadata = json_object_get(cell, "metadata");
    json_object_set_new(metadata, "nbgrader",
                        json_pack("{s:i s:s s:s s:b s:b s:b s:b s:o}", "schema_version", 3,
                                  "grade_id", orch_json_text(cell, "id", ""), "cell_type",
                                  orch_json_text(cell, "cell_type", ""), "grade", 1, "solution", 1,
                                  "locked", 0, "task", 0, "points", orch_json_finite(points)));
}

/* Adds the empty cell for the student's answer. */
static void add_answer(json_t *cells, const char *id, const struct orch_outline_part *part)
{
    if (!orch_outline_is_student(part))
        return;
    g_autofree char *cell_id = g_strconcat(id, "-answer", NULL);
    json_t *cell = orch_notebook_markdown(cell_id, "");
    json_t *orch = json_object_get(json_object_get(cell, "metadata"), "orch");
    json_object_set_new(orch, "question", json_string(part->question ? part->question : ""));
    json_object_set_new(orch, "points", orch_json_finite(part->points));
    json_object_set_new(orch, "student", json_true());
    mark_graded(cell, part->points);
    json_array_append_new(cells, cell);
}

static void add_part(json_t *cells, const struct orch_outline_part *part, const GPtrArray *programs,
                     GHashTable *taken)
{
    const char *name = part->question ? part->question : orch_outline_title(part);
    g_autofree char *short_name = g_strndup(name ? name : "part", 40); /* id limit: 64 */
    g_autofree char *slug = orch_outline_slug_unique(taken, short_name, NULL);
    g_autofree char *id = g_strconcat("orch-", slug, NULL);
    json_array_append_new(cells, heading_cell(id, part));
    add_programs(cells, id, part, programs);
    const size_t first = json_array_size(cells);
    add_commands(cells, id, part);
    if (part->points > 0 && !orch_outline_is_student(part) && json_array_size(cells) > first)
        mark_graded(json_array_get(cells, first), part->points);
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
    append_fact(text, "settings", d->settings);
    append_fact(text, "commit", d->commit);
    if (d->is_dirty)
        g_string_append(text, ", with changes that are not committed");
    append_fact(text, "by", d->who);
    append_fact(text, "machine", d->machine);
    append_fact(text, "made", d->made);
    append_fact(text, "store", d->store_digest);
    return orch_notebook_markdown("orch-head", text->str);
}

/* Adds a cell that imports orch's Python module, also where it only lies beside the program, and
 * changes to the directory of the recipe's path, because the notebook can be in any directory below
 * it. */
static void add_setup(json_t *cells, const struct orch_document *d)
{
    g_autoptr(GString) source = g_string_new("import os, shutil, sys\n");
    if (d->recipe && !g_path_is_absolute(d->recipe) && !g_str_has_prefix(d->recipe, "../")) {
        g_string_append(source, "# The recipe's path begins in this folder or one above.\n"
                                "while not os.path.exists(");
        append_literal(source, d->recipe);
        g_string_append(source, ") and os.getcwd() != os.path.dirname(os.getcwd()):\n"
                                "    os.chdir(\"..\")\n");
    }
    g_string_append(
        source,
        "# orch's Python module reads the store; it is installed, or lies beside the program.\n"
        "program = os.environ.get(\"ORCH_PROGRAM\") or shutil.which(\"orch\") or \"orch\"\n"
        "folder = os.path.dirname(os.path.realpath(program))\n"
        "sys.path += [os.path.join(folder, \"..\", *place) for place in "
        "((\"share\", \"orch\", \"python\"), (\"share\", \"python\"))]\n"
        "import orch");
    json_array_append_new(cells, orch_notebook_code("orch-setup", source->str, json_array()));
}

/* Lists the other users whose runs were used. This is always shown. */
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

/* Reads the existing notebook. `*out` is NULL when there is none; false when the file is not a
 * notebook. */
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
        orch_error_set(error, ORCH_ERROR_IO, "move that file away, or choose another --output",
                       "'%s' already exists, and is not a notebook written by orch", path);
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

/* The problem of a section without a question: that of the question before it, else the first. */
static struct orch_outline_problem *problem_near(const struct orch_document *document,
                                                 const GPtrArray *problems,
                                                 const struct orch_section *section)
{
    const char *question = NULL;
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *other = document->sections->pdata[i];
        if (other == section)
            break;
        question = other->question && *other->question ? other->question : question;
    }
    const size_t length = question ? strcspn(question, ".") : 0;
    for (guint i = 0; question && i < problems->len; i++) {
        struct orch_outline_problem *problem = problems->pdata[i];
        if (problem->number && strlen(problem->number) == length &&
            strncmp(problem->number, question, length) == 0)
            return problem;
    }
    return problems->pdata[0];
}

static void add_section(struct orch_outline_problem *problem, struct orch_section *section)
{
    struct orch_outline_part *part = g_new0(struct orch_outline_part, 1);
    part->sections = g_ptr_array_new();
    g_ptr_array_add(part->sections, section);
    g_ptr_array_add(problem->parts, part);
}

/* Puts the parts without a question into the notebook of the problem beside which the recipe has
 * them, and the notes of Method into each. Without a problem they get their own notebook. */
static void join_unasked(const struct orch_document *document, GPtrArray *problems)
{
    const struct orch_outline_problem *last =
        problems->len ? problems->pdata[problems->len - 1] : NULL;
    if (problems->len < 2 || last->number)
        return;
    for (guint i = 0; i < last->parts->len; i++) {
        const struct orch_outline_part *part = last->parts->pdata[i];
        struct orch_section *section = part->sections->pdata[0];
        if (strcmp(section->kind, "method") != 0)
            add_section(problem_near(document, problems, section), section);
        for (guint k = 0; strcmp(section->kind, "method") == 0 && k + 1 < problems->len; k++)
            add_section(problems->pdata[k], section);
    }
    g_ptr_array_remove_index(problems, problems->len - 1);
}

GPtrArray *orch_notebooks_write(const struct orch_document *document, const GPtrArray *programs,
                                const char *folder, GError **error)
{
    g_autoptr(GPtrArray) problems = orch_outline_new(document);
    join_unasked(document, problems);
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
