/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats a document as one self-contained HTML page: charts as inline SVG, pictures as data URLs,
 * no scripts and no external resources. It has light and dark schemes, and styles for phone,
 * desktop and print. */
#ifndef ORCH_CORE_RENDER_PAGE_H
#define ORCH_CORE_RENDER_PAGE_H

#include "core/render/document.h"

/** Identifies a page that orch wrote. */
#define ORCH_PAGE_MARK "<meta name=\"generator\" content=\"orch\">"

struct orch_page_options {
    bool charts_are_text; /* charts as text instead of drawings */
    GHashTable *files; /* block -> name: adds links to "tables/NAME.csv", "charts/NAME.svg", ..., as
                          written by orch_files_write; NULL: no links */
    bool is_for_paper; /* open the parts that are folded on a screen */
};

/** Formats the page as valid HTML in UTF-8 with all texts escaped. A picture is replaced by its
 * name when it is over 4 MiB, when all pictures together exceed 32 MiB, or when it is not a
 * readable PNG. `options` may be NULL. The caller frees. */
char *orch_page_html(const struct orch_document *document, const struct orch_page_options *options);

/** Reads a PNG of at most `bytes_max` as base64; NULL with an error. The caller frees. */
char *orch_picture_base64(const char *path, size_t bytes_max, GError **error);

/** The page's style sheet. */
extern const char ORCH_PAGE_STYLE[];

#endif
