/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a page while it is written. page.c writes head, contents and sections, page_blocks.c
 * what stands in a section. */
#ifndef ORCH_CORE_RENDER_PAGE_PARTS_H
#define ORCH_CORE_RENDER_PAGE_PARTS_H

#include "core/render/page.h"

struct page {
    GString *out;
    const struct orch_document *document;
    const struct orch_page_options *options;
    GHashTable *anchors;   /* part -> char * */
    size_t picture_bytes;  /* total so far */
    unsigned region_count; /* scrolling boxes so far */
    unsigned chart_count;  /* drawings so far */
    unsigned figure_count, table_count;
    const struct orch_section *section; /* the one that is written */
};

/** Begins a box that scrolls when its content is wider than the screen; the caller ends it with
 * </div>. */
void orch_page_scroll(struct page *page, const char *what);
/** Writes a block of page->section. */
void orch_page_block(struct page *page, const struct orch_block *block);

#endif
