/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/report_out.h"

#include "core/render/files.h"
#include "core/render/page.h"
#include "core/report/trials.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

#define PROGRAM_BYTES_MAX ((size_t)1 << 20)

/* ---- the student's programs --------------------------------------------------------------------
 */

static void free_program(gpointer pointer)
{
    struct orch_notebook_program *program = pointer;
    g_free(program->question);
    g_free(program->path);
    g_free(program->text);
    g_free(program);
}

static bool is_there(const GPtrArray *programs, const char *question, const char *path)
{
    for (guint i = 0; i < programs->len; i++) {
        const struct orch_notebook_program *program = programs->pdata[i];
        if (g_strcmp0(program->question, question) == 0 && strcmp(program->path, path) == 0)
            return true;
    }
    return false;
}

/* Adds the words of a command that are text files next to the recipe: "python3 mine.py" has one. */
static void add_programs(GPtrArray *programs, const char *recipe, const char *question,
                         char *const *words)
{
    g_autofree char *folder = g_path_get_dirname(recipe);
    for (; *words; words++) {
        g_autofree char *path =
            g_path_is_absolute(*words) ? g_strdup(*words) : g_build_filename(folder, *words, NULL);
        const char *shown = g_str_has_prefix(path, "./") ? path + 2 : path;
        char *text = NULL;
        size_t length = 0;
        if (is_there(programs, question, shown) ||
            !orch_file_read(path, PROGRAM_BYTES_MAX, &text, &length, NULL))
            continue;
        if (strlen(text) != length || !g_utf8_validate(text, -1, NULL)) {
            g_free(text);
            continue;
        }
        struct orch_notebook_program *program = g_new0(struct orch_notebook_program, 1);
        *program = (struct orch_notebook_program){g_strdup(question), g_strdup(shown), text};
        g_ptr_array_add(programs, program);
    }
}

GPtrArray *orch_cli_report_programs(const struct orch_cli *cli, const struct orch_plan *plan)
{
    GPtrArray *programs = g_ptr_array_new_with_free_func(free_program);
    const struct orch_expansion *expansion = plan->expansion;
    for (guint i = 0; i < expansion->report->len; i++) {
        const struct orch_report_item *item = expansion->report->pdata[i];
        if (!item->question || !json_is_object(item->spec))
            continue;
        g_autoptr(GPtrArray) names =
            orch_texts_from_json(json_object_get(item->spec, "experiments"));
        for (guint j = 0; j < expansion->experiments->len; j++) {
            const struct orch_experiment *experiment = expansion->experiments->pdata[j];
            if (experiment->program && (!names->len || orch_texts_have(names, experiment->name)))
                add_programs(programs, cli->args[0], item->question, experiment->program);
        }
    }
    return programs;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static bool write_notebooks(struct orch_cli *cli, const struct orch_document *document,
                            const struct orch_plan *plan, const char *folder, GPtrArray *written,
                            GError **error)
{
    g_autoptr(GPtrArray) programs = orch_cli_report_programs(cli, plan);
    g_autoptr(GPtrArray) notebooks = orch_notebooks_write(document, programs, folder, error);
    for (guint i = 0; notebooks && i < notebooks->len; i++) {
        const struct orch_notebook *notebook = notebooks->pdata[i];
        g_ptr_array_add(written, g_strdup(notebook->path));
        if (notebook->kept)
            orch_cli_info(cli, "%s: %u cell%s of yours kept", notebook->path, notebook->kept,
                          orch_plural(notebook->kept));
    }
    return notebooks != NULL;
}

/* Writes only the page. On standard output it is data, so no message is printed. */
static bool write_page(const struct orch_cli *cli, const struct orch_document *document,
                       const char *path, GPtrArray *written, GError **error)
{
    g_autofree char *page = orch_page_html(document, NULL);
    if (strcmp(path, "-") == 0) {
        orch_cli_write_data(cli, page, strlen(page));
        return true;
    }
    g_ptr_array_add(written, g_strdup(path));
    return orch_file_write(path, page, strlen(page), false, error);
}

static void print_written(struct orch_cli *cli, const GPtrArray *written,
                          const struct orch_report_out *out)
{
    if (cli->json) {
        json_t *files = json_array();
        for (guint i = 0; i < written->len; i++)
            json_array_append_new(files, json_string(written->pdata[i]));
        orch_cli_print_json(json_pack("{s:o}", "written", files));
        return;
    }
    if (out->folder && !out->is_notebook)
        orch_cli_info(cli, "wrote %u files with charts and tables: open %s/index.html",
                      written->len, out->folder);
    for (guint i = 0; i < written->len; i++)
        if (out->is_notebook || !out->folder || g_strcmp0(written->pdata[i], out->pdf) == 0 ||
            g_strcmp0(written->pdata[i], out->html) == 0)
            orch_cli_info(cli, "wrote %s", (char *)written->pdata[i]);
}

bool orch_cli_report_write(struct orch_cli *cli, const struct orch_document *document,
                           const struct orch_plan *plan, const struct orch_report_out *out,
                           GError **error)
{
    g_autoptr(GPtrArray) written = g_ptr_array_new_with_free_func(g_free);
    const bool has_page = out->folder && !out->is_notebook;
    bool ok = true;
    if (has_page)
        ok = orch_files_write(document, out->folder, written, error);
    if (ok && out->is_notebook)
        ok = write_notebooks(cli, document, plan, out->folder ? out->folder : ".", written, error);
    if (ok && out->html)
        ok = write_page(cli, document, out->html, written, error);
    if (ok && out->pdf) {
        ok = orch_files_pdf(document, out->pdf, error);
        g_ptr_array_add(written, g_strdup(out->pdf));
    }
    if (ok && written->len)
        print_written(cli, written, out);
    return ok;
}
