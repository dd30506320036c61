/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document as one page of HTML that stands alone: charts inside as SVG, pictures as data, no
 * script, nothing fetched. Light and dark, for a phone, a desk and a printer. */
#ifndef ORCH_CORE_REPORT_PAGE_H
#define ORCH_CORE_REPORT_PAGE_H

#include "core/report/drawn.h"

/** By this a page that orch wrote is known. */
#define ORCH_PAGE_MARK "<meta name=\"generator\" content=\"orch\">"

struct orch_page_options {
    const struct orch_drawn *drawn; /* charts; NULL: as text */
    GHashTable *files;              /* block -> name: "tables/NAME.csv", "charts/NAME.svg", ... are
                                       linked, as orch_files_write lays them out; NULL: no links */
    bool is_for_paper;              /* what is folded on a screen lies open */
};

/** The page, valid HTML in UTF-8; every text escaped. A picture over 4 MiB, or beyond 32 MiB of all
 * pictures, or that is no PNG or cannot be read, is named in place of being shown. `options`: NULL
 * is none. The caller frees. */
char *orch_page_html(const struct orch_document *document, const struct orch_page_options *options);

/** Reads a PNG of at most `bytes_max` as base64; NULL with an error. The caller frees. */
char *orch_picture_base64(const char *path, size_t bytes_max, GError **error);

/** The page's style sheet. */
extern const char ORCH_PAGE_STYLE[];

#endif
