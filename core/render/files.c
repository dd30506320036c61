/* SPDX-License-Identifier: GPL-3.0-or-later */
/* WeasyPrint converts the page to PDF: it supports print styles, page numbers and SVG in HTML,
 * needs no browser, and is in Debian and conda. LaTeX is ten times its size and would need a
 * second writer for everything; Pango and Cairo would need our own page layout. */
#include "core/render/files.h"

#include "core/render/draw.h"
#include "core/render/latex.h"
#include "core/render/outline.h"
#include "core/render/page.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/temporary.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* ---- other programs -----------------------------------------------------------------------------
 */

enum { LIMIT_S = 600, LINES_MAX = 20 };

/* Runs `argv` (NULL-terminated; looked up in PATH) in `folder` (NULL: the current one) and waits
 * for it. ORCH_ERROR_IO with its output when it fails; the hints for a missing and for a failed
 * program may be NULL. */
static bool tool_run(const char *folder, const char *const *argv, const char *hint_absent,
                     const char *hint_failed, GError **error)
{
    struct orch_subprocess_end end;
    GError *problem = NULL;
    const struct orch_subprocess command = {.argv = argv, .folder = folder, .timeout_s = LIMIT_S};
    if (!orch_subprocess_run(&command, &end, &problem)) {
        bool is_absent = g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND);
        g_autofree char *what = orch_error_what(problem);
        orch_error_set(
            error, problem->code == ORCH_ERROR_INTERRUPTED ? ORCH_ERROR_INTERRUPTED : ORCH_ERROR_IO,
            is_absent ? hint_absent : hint_failed, "%s", what);
        g_error_free(problem);
        return false;
    }
    bool ok = end.status == 0;
    g_autofree char *said = orch_subprocess_complaint(end.err, LINES_MAX);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, hint_failed, "%s failed: %s", argv[0], said);
    orch_subprocess_end_clear(&end);
    return ok;
}

/* ---- the files ----------------------------------------------------------------------------------
 */

/* Returns the file names of a document's tables and charts without folder and suffix, made from
 * question and title: block -> char * ("1.1c-which-learning-rate-wins"). All names are distinct.
 * The caller unrefs. */
static GHashTable *names_of(const struct orch_document *document)
{
    GHashTable *names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        const char *title = section->title ? section->title : section->kind;
        for (guint j = 0; j < section->blocks->len; j++) {
            struct orch_block *block = section->blocks->pdata[j];
            if (block->kind == ORCH_BLOCK_SCALE)
                continue;
            g_autofree char *obstacle = block->chart ? orch_chart_obstacle(block->chart) : NULL;
            if (block->table || block->pictures || (block->chart && !obstacle))
                g_hash_table_insert(names, block,
                                    orch_outline_slug_unique(taken, section->question, title));
        }
    }
    return names;
}

struct folder {
    const char *path;
    GPtrArray *written;
};

/* Returns DIR/KIND/NAME.ENDING. */
static char *path_of(const struct folder *folder, const char *kind, const char *name,
                     const char *ending)
{
    g_autofree char *file = g_strconcat(name, ".", ending, NULL);
    return g_build_filename(folder->path, kind, file, NULL);
}

static void note(const struct folder *folder, const char *path)
{
    if (folder->written)
        g_ptr_array_add(folder->written, g_strdup(path));
}

/* Larger pictures are not copied. */
#define PICTURE_BYTES_MAX ((size_t)4 << 20)

static bool write_text(const struct folder *folder, const char *kind, const char *name,
                       const char *ending, const char *text, GError **error)
{
    g_autofree char *path = path_of(folder, kind, name, ending);
    if (!orch_file_write(path, text, strlen(text), false, error))
        return false;
    note(folder, path);
    return true;
}

static bool write_table(const struct folder *folder, const struct orch_table *table,
                        const char *name, GError **error)
{
    static const struct {
        enum orch_table_format format;
        const char *ending;
    } formats[] = {{ORCH_TABLE_CSV, "csv"}, {ORCH_TABLE_MARKDOWN, "md"}, {ORCH_TABLE_LATEX, "tex"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *text = orch_table_format(table, formats[i].format);
        if (!write_text(folder, "tables", name, formats[i].ending, text, error))
            return false;
    }
    return true;
}

static bool write_chart(const struct folder *folder, const struct orch_chart *chart,
                        const char *name, GError **error)
{
    static const char *const endings[] = {"svg", "png", "pdf"};
    g_autofree char *data = orch_chart_csv(chart);
    if (!write_text(folder, "charts", name, "csv", data, error))
        return false;
    for (unsigned i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *path = path_of(folder, "charts", name, endings[i]);
        if (!orch_chart_write(chart, path, error))
            return false;
        note(folder, path);
    }
    return true;
}

/* Copies the pictures that are PNG files, and names them for the article. */
static bool write_pictures(const struct folder *folder, const struct orch_block *block,
                           const char *name, GHashTable *names, GError **error)
{
    for (guint i = 0; i < block->pictures->len; i++) {
        struct orch_picture *picture = block->pictures->pdata[i];
        g_autofree char *base64 = orch_picture_base64(picture->path, PICTURE_BYTES_MAX, NULL);
        if (!base64)
            continue;
        gsize length = 0;
        g_autofree guchar *bytes = g_base64_decode(base64, &length);
        g_autofree char *own = g_strdup_printf("%s-%u", name, i + 1);
        g_autofree char *path = path_of(folder, "pictures", own, "png");
        if (!orch_file_write(path, (const char *)bytes, length, false, error))
            return false;
        note(folder, path);
        g_hash_table_insert(names, picture, g_strconcat("pictures/", own, NULL));
    }
    return true;
}

static bool make_folder(const char *parent, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(parent, name, NULL);
    return orch_dir_make(path, error);
}

/* Writes the blocks in the document's order. */
static bool write_blocks(const struct folder *folder, const struct orch_document *document,
                         GHashTable *names, GError **error)
{
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint j = 0; j < section->blocks->len; j++) {
            const struct orch_block *block = section->blocks->pdata[j];
            const char *name = g_hash_table_lookup(names, block);
            if (name && block->table && !write_table(folder, block->table, name, error))
                return false;
            if (name && block->chart && !write_chart(folder, block->chart, name, error))
                return false;
            if (name && block->pictures && !write_pictures(folder, block, name, names, error))
                return false;
        }
    }
    return true;
}

/* Bounds the existing page that is read. */
#define PAGE_MAX_BYTES ((size_t)1 << 30)

/* Returns whether the file may be written: only one that orch wrote, with its mark, is overwritten.
 */
static bool is_ours(const char *folder, const char *name, const char *mark, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    if (access(path, F_OK) != 0)
        return true;
    if (orch_file_read(path, PAGE_MAX_BYTES, &text, NULL, NULL) && strstr(text, mark))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "choose another folder, or move that file away",
                   "'%s' already exists, and was not written by orch", path);
    return false;
}

bool orch_files_write(const struct orch_document *document, const char *path, GPtrArray *written,
                      GError **error)
{
    const struct folder folder = {path, written};
    g_autoptr(GHashTable) names = names_of(document);
    bool has_tables = false, has_charts = false, has_pictures = false;
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const struct orch_block *block = key;
        *(block->chart ? &has_charts : block->pictures ? &has_pictures : &has_tables) = true;
    }
    if (!is_ours(path, "index.html", ORCH_PAGE_MARK, error) ||
        !is_ours(path, "report.tex", ORCH_LATEX_MARK, error) || !orch_dir_make(path, error) ||
        (has_tables && !make_folder(path, "tables", error)) ||
        (has_charts && !make_folder(path, "charts", error)) ||
        (has_pictures && !make_folder(path, "pictures", error)) ||
        !write_blocks(&folder, document, names, error))
        return false;
    const struct orch_page_options options = {.files = names};
    g_autofree char *html = orch_page_html(document, &options);
    g_autofree char *article = orch_latex_document(document, names);
    return write_text(&folder, "", "report", "tex", article, error) &&
           write_text(&folder, "", "index", "html", html, error);
}

/* ---- PDF ---------------------------------------------------------------------------------------
 */

static bool run_weasyprint(const char *html, const char *pdf, GError **error)
{
    const char *argv[] = {"weasyprint", "--quiet", "--encoding", "utf-8", html, pdf, NULL};
    return tool_run(NULL, argv,
                    "apt install weasyprint; or print the page of --output from a browser",
                    "print the page of --output from a browser", error);
}

bool orch_files_pdf(const struct orch_document *document, const char *path, GError **error)
{
    g_autofree char *folder = orch_temporary_folder("pdf", error);
    if (!folder)
        return false;
    g_autofree char *html = g_build_filename(folder, "page.html", NULL);
    g_autofree char *pdf = g_build_filename(folder, "page.pdf", NULL);
    const struct orch_page_options options = {.is_for_paper = true};
    g_autofree char *page = orch_page_html(document, &options);
    g_autofree char *bytes = NULL;
    gsize length = 0;
    bool ok = orch_file_write(html, page, strlen(page), false, error) &&
              run_weasyprint(html, pdf, error) &&
              orch_file_read(pdf, (size_t)1 << 30, &bytes, &length, error) &&
              orch_file_write(path, bytes, length, false, error);
    unlink(html);
    unlink(pdf);
    rmdir(folder);
    return ok;
}
