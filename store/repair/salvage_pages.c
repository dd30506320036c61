/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounds what can be read of a damaged copy by its size.
 *
 * SQLite follows the page numbers in interior pages and in chains of overflow pages unchecked. A
 * page that references itself, or the same child many times, gives a tree with any number of rows,
 * and a circular chain gives a value of any length: the query that reads it never ends. pages.c
 * refuses such a file, but repair has to read it. When reading a tree would take much longer than
 * the size of the file allows, every reference to a page that the tree contains already is replaced
 * in the copy by an impossible page number. SQLite reports that as damage when it gets there, and
 * repair continues after it.
 *
 * A tree with only a few repeated pages is left alone: a page that was not written before a crash
 * references pages that now belong to another page, and its rows can still be found by key.
 *
 * A page whose references overlap is made unreadable as a whole, because replacing one reference
 * would change the others. A page may occur in several trees, because a damaged page of one table
 * must not take away the pages of another; the number of trees is bounded (TREES_MAX).
 */
#include "store/repair/salvage.h"

#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_1_HEADER = 100,
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12,
    INTERIOR_INDEX = 2,
    INTERIOR_TABLE = 5,
    LEAF_INDEX = 10,
    LEAF_TABLE = 13,
    VISITS_A_PAGE = 4,
    RESERVED_AT =
        20, /* offset in the file header of the number of reserved bytes at the end of each page */
};

#define NO_PAGE 0xffffffffu

struct pages {
    uint8_t *bytes;
    uint32_t page_bytes, usable, count;
    uint8_t *met;  /* a bit for each page that was reached in the current tree */
    GArray *left;  /* uint32_t: pages of the tree that are still to be visited */
    GArray *slots; /* struct slot: the references of the current page */
};

/* A reference to a page. */
struct slot {
    uint32_t at;      /* offset in the page */
    uint32_t page;    /* the page number stored there */
    uint32_t follows; /* length of the chain of overflow pages; 0: a child page */
};

static uint32_t big_16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t big_32(const uint8_t *at)
{
    return big_16(at) << 16 | big_16(at + 2);
}

static uint8_t *page_at(const struct pages *pages, uint32_t page)
{
    return pages->bytes + (size_t)(page - 1) * pages->page_bytes;
}

static void set_no_page(uint8_t *at)
{
    memset(at, 0xff, 4);
}

/* Fills the page header with 0xff, so that SQLite rejects the type, the number of cells and the
 * next page. */
static void make_unreadable(const struct pages *pages, uint32_t page)
{
    memset(page_at(pages, page) + (page == 1 ? PAGE_1_HEADER : 0), 0xff, LEAF_HEADER);
}

/* Marks a page as reached; true when it is new in this tree. */
static bool visit_page(struct pages *pages, uint32_t page)
{
    uint8_t *byte = &pages->met[page / 8], bit = (uint8_t)(1 << page % 8);
    bool is_new = !(*byte & bit);
    *byte |= bit;
    return is_new;
}

static bool is_page(const struct pages *pages, uint32_t page)
{
    return page > 0 && page <= pages->count;
}

/* ---- the references of a page -----------------------------------------------------------------
 */

/* Reads a number of 1 to 9 bytes; false when it reaches beyond the page. */
static bool read_varint(const struct pages *pages, const uint8_t *page, uint32_t *at, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < 9 && *at < pages->page_bytes; i++) {
        uint8_t byte = page[(*at)++];
        *out = i == 8 ? *out << 8 | byte : *out << 7 | (byte & 0x7f);
        if (i == 8 || !(byte & 0x80))
            return true;
    }
    return false;
}

static bool add_slot(struct pages *pages, const uint8_t *page, uint32_t header, uint32_t at,
                     uint32_t follows)
{
    if (at < header + LEAF_HEADER || at + 4 > pages->page_bytes)
        return false;
    struct slot slot = {at, big_32(page + at), follows};
    g_array_append_val(pages->slots, slot);
    return true;
}

/* Adds the reference to the overflow pages of a payload of `bytes` bytes that begins at `at`
 * (sqlite.org, "Database File Format", 1.6). */
static bool add_overflow(struct pages *pages, const uint8_t *page, uint32_t header, uint32_t at,
                         uint64_t bytes)
{
    uint32_t usable = pages->usable, least = (usable - 12) * 32 / 255 - 23;
    uint32_t most = page[header] == LEAF_TABLE ? usable - 35 : (usable - 12) * 64 / 255 - 23;
    if (bytes <= most)
        return true;
    uint32_t local = least + (uint32_t)((bytes - least) % (usable - 4));
    local = local <= most ? local : least;
    uint64_t follows = (bytes - local + usable - 5) / (usable - 4);
    return add_slot(pages, page, header, at + local, (uint32_t)MIN(follows, pages->count));
}

static bool add_cell(struct pages *pages, const uint8_t *page, uint32_t header, uint32_t at)
{
    uint8_t type = page[header];
    bool is_interior = type == INTERIOR_INDEX || type == INTERIOR_TABLE;
    uint64_t bytes, number;
    if (is_interior && !add_slot(pages, page, header, at, 0))
        return false;
    at += is_interior ? 4 : 0;
    return type == INTERIOR_TABLE ||
           (read_varint(pages, page, &at, &bytes) &&
            (type != LEAF_TABLE || read_varint(pages, page, &at, &number)) &&
            add_overflow(pages, page, header, at, bytes));
}

/* Collects the references of a page. False when SQLite cannot have written the page. */
static bool collect(struct pages *pages, uint32_t number)
{
    const uint8_t *page = page_at(pages, number);
    uint32_t header = number == 1 ? PAGE_1_HEADER : 0;
    uint8_t type = page[header];
    bool is_interior = type == INTERIOR_INDEX || type == INTERIOR_TABLE;
    uint32_t array = header + (is_interior ? INTERIOR_HEADER : LEAF_HEADER);
    uint32_t cells = big_16(page + header + 3);
    g_array_set_size(pages->slots, 0);
    if (!is_interior && type != LEAF_INDEX && type != LEAF_TABLE)
        return true; /* SQLite reports such a page */
    if (cells > (pages->page_bytes - array) / 2)
        return false;
    for (uint32_t i = 0; i < cells; i++)
        if (!add_cell(pages, page, header,
                      big_16(page + array + 2 * (size_t)i) & (pages->page_bytes - 1)))
            return false;
    return !is_interior || add_slot(pages, page, header, header + LEAF_HEADER, 0);
}

/* ---- cutting ----------------------------------------------------------------------------------
 */

/* Ends the chain of overflow pages at a slot before the first page that was reached before. Returns
 * true when the slot itself changed. */
static bool cut_chain(struct pages *pages, uint8_t *at, uint32_t length)
{
    uint8_t *first = at;
    for (; length > 0; length--) {
        uint32_t page = big_32(at);
        if (!is_page(pages, page))
            return false;
        if (!visit_page(pages, page)) {
            set_no_page(at);
            return at == first;
        }
        at = page_at(pages, page);
    }
    return false;
}

/* Returns true when the page's own bytes changed. */
static bool cut_slots(struct pages *pages, uint8_t *page)
{
    bool changed = false;
    for (guint i = 0; i < pages->slots->len; i++) {
        const struct slot *slot = &g_array_index(pages->slots, struct slot, i);
        if (slot->follows) {
            changed = cut_chain(pages, page + slot->at, slot->follows) || changed;
        } else if (is_page(pages, slot->page) && visit_page(pages, slot->page)) {
            g_array_append_val(pages->left, slot->page);
        } else if (is_page(pages, slot->page)) {
            set_no_page(page + slot->at);
            changed = true;
        }
    }
    return changed;
}

/* True when the page has the same slots as before the cut, each unchanged or replaced by
 * NO_PAGE. */
static bool is_as_meant(struct pages *pages, uint32_t number, const GArray *before)
{
    if (!collect(pages, number) || pages->slots->len != before->len)
        return false;
    for (guint i = 0; i < before->len; i++) {
        const struct slot *was = &g_array_index(before, struct slot, i);
        const struct slot *is = &g_array_index(pages->slots, struct slot, i);
        if (is->at != was->at || is->follows != was->follows ||
            (is->page != was->page && is->page != NO_PAGE))
            return false;
    }
    return true;
}

static void cut_page(struct pages *pages, uint32_t number)
{
    if (!collect(pages, number)) {
        make_unreadable(pages, number);
        return;
    }
    if (!cut_slots(pages, page_at(pages, number)))
        return;
    GArray *before = g_steal_pointer(&pages->slots);
    pages->slots = g_array_new(FALSE, FALSE, sizeof(struct slot));
    if (!is_as_meant(pages, number, before))
        make_unreadable(pages, number);
    g_array_unref(before);
}

static void cut_tree(struct pages *pages, uint32_t root)
{
    memset(pages->met, 0, (size_t)pages->count / 8 + 1);
    visit_page(pages, root);
    g_array_append_val(pages->left, root);
    while (pages->left->len) {
        uint32_t page = g_array_index(pages->left, uint32_t, pages->left->len - 1);
        g_array_set_size(pages->left, pages->left->len - 1);
        cut_page(pages, page);
    }
}

/* ---- which trees are cut ----------------------------------------------------------------------
 */

/* Number of pages of a chain that SQLite reads, at most `most`. */
static uint64_t chain_length(const struct pages *pages, struct slot slot, uint64_t most)
{
    uint64_t length = 0;
    for (uint32_t page = slot.page; length < MIN(slot.follows, most) && is_page(pages, page);
         length++)
        page = big_32(page_at(pages, page));
    return length;
}

/* True when reading the tree visits fewer than VISITS_A_PAGE times the file's pages. */
static bool is_bounded(struct pages *pages, uint32_t root)
{
    uint64_t visits = (uint64_t)VISITS_A_PAGE * pages->count;
    g_array_append_val(pages->left, root);
    while (pages->left->len && pages->left->len <= visits) {
        uint32_t page = g_array_index(pages->left, uint32_t, pages->left->len - 1);
        g_array_set_size(pages->left, pages->left->len - 1);
        visits--;
        if (!collect(pages, page))
            continue; /* SQLite does not read it either, because it checks the cells */
        for (guint i = 0; i < pages->slots->len; i++) {
            struct slot slot = g_array_index(pages->slots, struct slot, i);
            if (slot.follows)
                visits -= chain_length(pages, slot, visits);
            else if (is_page(pages, slot.page))
                g_array_append_val(pages->left, slot.page);
        }
    }
    bool all = pages->left->len == 0 && visits > 0;
    g_array_set_size(pages->left, 0);
    return all;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static void cut_trees(uint8_t *bytes, size_t length, const GArray *roots)
{
    uint32_t page_bytes = big_16(bytes + 16) == 1 ? 65536 : big_16(bytes + 16);
    uint32_t reserved = bytes[RESERVED_AT];
    if (page_bytes < 512 || (page_bytes & (page_bytes - 1)) || page_bytes - reserved < 480)
        return; /* SQLite does not read such a file */
    struct pages pages = {.bytes = bytes,
                          .page_bytes = page_bytes,
                          .usable = page_bytes - reserved,
                          .count = (uint32_t)MIN(length / page_bytes, G_MAXUINT32 - 1)};
    pages.met = g_malloc0((size_t)pages.count / 8 + 1);
    pages.left = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    pages.slots = g_array_new(FALSE, FALSE, sizeof(struct slot));
    for (guint i = 0; i < roots->len; i++) {
        uint32_t root = g_array_index(roots, uint32_t, i);
        if (is_page(&pages, root) && !is_bounded(&pages, root))
            cut_tree(&pages, root);
    }
    g_free(pages.met);
    g_array_unref(pages.left);
    g_array_unref(pages.slots);
}

bool orch_store_salvage_cut(const char *path, const GArray *roots, GError **error)
{
    struct stat info;
    void *bytes = MAP_FAILED;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &info) == 0;
    bool is_empty = ok && info.st_size < PAGE_1_HEADER;
    if (ok && !is_empty) {
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ok = bytes != MAP_FAILED;
    }
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot repair the copy '%s'", path);
    if (bytes != MAP_FAILED) {
        cut_trees(bytes, (size_t)info.st_size, roots);
        munmap(bytes, (size_t)info.st_size);
    }
    if (fd >= 0)
        close(fd);
    return ok;
}
