/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks that each page of a file's b-trees is referenced once.
 *
 * SQLite follows the child pointers of interior pages unchecked. A page that references itself, or
 * the same child many times, turns a file of a few pages into a tree of 20 levels with any number
 * of rows, and a query that reads it never ends. So the trees are walked once when a file is
 * opened, before anything else is read, and a page that is reached twice is refused. Afterwards any
 * query reads at most what the file can hold.
 *
 * All pages of the trees are visited, because only the first byte of a page shows that it is a
 * leaf; nothing else is read of leaves. Rejected: sqlite3_progress_handler with a bound by the size
 * of the file, because SQLite does not call it within count(*), and because a bound for each
 * statement does not hold for a loop that runs another statement for each row; the virtual table
 * sqlite_dbpage, which most builds lack.
 *
 * Pages are read through SQLite's own descriptors, because closing another one would drop this
 * process's POSIX locks. Pages in the write-ahead log are found as SQLite finds them (sqlite.org,
 * "WAL-mode File Format"): frames up to the last commit whose salts and checksums match.
 *
 * A reader to whom the whole log is already in the file does not keep a writer from starting the
 * log anew, over the frames that were indexed here (sqlite.org, "WAL-mode File Format", 4.3: lock
 * 0). So a walk counts only when the log's header, whose salts change then, is the same after it;
 * otherwise it is done again. While this reader stays, no frame of a new log reaches the file, and
 * so that log is not started anew in turn: the second walk is the last.
 */
#include "store/handle/defence.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"

#include <string.h>

enum {
    PAGE_1_HEADER = 100, /* bytes of the file header, before the b-tree header of page 1 */
    PAGE_HEADER = 12,
    INTERIOR_INDEX = 2,
    INTERIOR_TABLE = 5,
    LOG_HEADER = 32,
    WALKS = 3,
    FRAME_HEADER = 24,
};

struct pages {
    sqlite3_file *file, *log; /* log is NULL when there is no log to read */
    uint32_t page_bytes;
    int64_t count;
    GHashTable *in_log;             /* page number -> index of its newest frame, from 1 */
    uint8_t log_header[LOG_HEADER]; /* what in_log was read under */
    uint8_t *met;                   /* a bit for each page that was reached */
    GArray *left;                   /* uint32_t: pages that are still to be visited */
    uint32_t twice;                 /* a page that was reached twice, or 0 */
};

static uint32_t big_32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t big_16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static bool read_at(sqlite3_file *file, void *out, int bytes, int64_t offset)
{
    return file->pMethods->xRead(file, out, bytes, offset) == SQLITE_OK;
}

/* ---- the log ----------------------------------------------------------------------------------
 */

struct checksum {
    uint32_t a, b;
    bool is_big; /* the words are big-endian */
};

static void checksum_add(struct checksum *sum, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i + 8 <= length; i += 8) {
        uint32_t x = big_32(bytes + i), y = big_32(bytes + i + 4);
        sum->a += (sum->is_big ? x : GUINT32_SWAP_LE_BE(x)) + sum->b;
        sum->b += (sum->is_big ? y : GUINT32_SWAP_LE_BE(y)) + sum->a;
    }
}

static bool read_log_header(struct pages *pages, struct checksum *sum)
{
    uint8_t *header = pages->log_header;
    if (!read_at(pages->log, header, LOG_HEADER, 0) || (big_32(header) & ~1u) != 0x377f0682 ||
        big_32(header + 8) != pages->page_bytes)
        return false;
    *sum = (struct checksum){.is_big = big_32(header) & 1};
    checksum_add(sum, header, 24);
    return sum->a == big_32(header + 24) && sum->b == big_32(header + 28);
}

/* Indexes the frames up to the last commit. */
static void read_log(struct pages *pages)
{
    struct checksum sum;
    if (!read_log_header(pages, &sum))
        return;
    size_t bytes = FRAME_HEADER + pages->page_bytes;
    g_autofree uint8_t *frame = g_malloc(bytes);
    g_autoptr(GHashTable) pending = g_hash_table_new(NULL, NULL);
    for (int64_t i = 0;
         i < G_MAXINT && read_at(pages->log, frame, (int)bytes, LOG_HEADER + i * (int64_t)bytes);
         i++) {
        checksum_add(&sum, frame, 8);
        checksum_add(&sum, frame + FRAME_HEADER, pages->page_bytes);
        if (memcmp(frame + 8, pages->log_header + 16, 8) != 0 || sum.a != big_32(frame + 16) ||
            sum.b != big_32(frame + 20))
            break;
        g_hash_table_insert(pending, GUINT_TO_POINTER(big_32(frame)),
                            GUINT_TO_POINTER((guint)i + 1));
        if (big_32(frame + 4) == 0)
            continue;
        GHashTableIter iter;
        gpointer page, at;
        g_hash_table_iter_init(&iter, pending);
        while (g_hash_table_iter_next(&iter, &page, &at))
            g_hash_table_insert(pages->in_log, page, at);
        g_hash_table_remove_all(pending);
        pages->count = big_32(frame + 4);
    }
}

/* False when a writer has started the log anew since it was read. */
static bool is_same_log(const struct pages *pages)
{
    uint8_t header[LOG_HEADER];
    return !pages->log || g_hash_table_size(pages->in_log) == 0 ||
           (read_at(pages->log, header, LOG_HEADER, 0) &&
            memcmp(header, pages->log_header, LOG_HEADER) == 0);
}

/* ---- pages ------------------------------------------------------------------------------------
 */

static bool read_page(const struct pages *pages, uint32_t page, void *out, uint32_t bytes)
{
    guint frame = GPOINTER_TO_UINT(g_hash_table_lookup(pages->in_log, GUINT_TO_POINTER(page)));
    if (frame)
        return read_at(pages->log, out, (int)bytes,
                       LOG_HEADER + (frame - 1) * (int64_t)(FRAME_HEADER + pages->page_bytes) +
                           FRAME_HEADER);
    return read_at(pages->file, out, (int)bytes, (page - 1) * (int64_t)pages->page_bytes);
}

/* Marks a page as reached. A number that is not a page of the file is ignored; SQLite reports it
 * when it gets there. */
static void visit_page(struct pages *pages, uint32_t page)
{
    if (page == 0 || page > pages->count)
        return;
    uint8_t *byte = &pages->met[page / 8], bit = (uint8_t)(1 << page % 8);
    if (*byte & bit)
        pages->twice = page;
    else
        g_array_append_val(pages->left, page);
    *byte |= bit;
}

static void visit_children(struct pages *pages, const uint8_t *bytes, uint32_t header)
{
    uint32_t cells = big_16(bytes + header + 3), most = (pages->page_bytes - PAGE_HEADER) / 2;
    for (uint32_t i = 0; i < MIN(cells, most) && !pages->twice; i++) {
        uint32_t at = header + PAGE_HEADER + 2 * i;
        uint32_t cell = at + 2 <= pages->page_bytes ? big_16(bytes + at) : pages->page_bytes;
        if (cell + 4 <= pages->page_bytes)
            visit_page(pages, big_32(bytes + cell));
    }
    if (!pages->twice)
        visit_page(pages, big_32(bytes + header + 8));
}

/* Walks the tree below a page. */
static void walk(struct pages *pages, uint32_t root, uint8_t *buffer)
{
    visit_page(pages, root);
    while (pages->left->len && !pages->twice) {
        uint32_t page = g_array_index(pages->left, uint32_t, pages->left->len - 1);
        uint32_t header = page == 1 ? PAGE_1_HEADER : 0;
        g_array_set_size(pages->left, pages->left->len - 1);
        if (read_page(pages, page, buffer, header + 1) &&
            (buffer[header] == INTERIOR_INDEX || buffer[header] == INTERIOR_TABLE) &&
            read_page(pages, page, buffer, pages->page_bytes))
            visit_children(pages, buffer, header);
    }
}

/* ---- entry points -----------------------------------------------------------------------------
 */

/* Reads the header and the log. False when the file has no pages; SQLite then reports what is wrong
 * with it. */
static bool begin(struct orch_store *store, struct pages *pages)
{
    uint8_t header[PAGE_1_HEADER];
    sqlite3_int64 bytes;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &pages->file);
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &pages->log);
    if (!pages->file || !pages->file->pMethods)
        return false;
    if (pages->log && !pages->log->pMethods)
        pages->log = NULL;
    pages->in_log = g_hash_table_new(NULL, NULL);
    if (read_at(pages->file, header, sizeof header, 0) &&
        pages->file->pMethods->xFileSize(pages->file, &bytes) == SQLITE_OK) {
        pages->page_bytes = big_16(header + 16) == 1 ? 65536 : big_16(header + 16);
        pages->count = pages->page_bytes ? bytes / pages->page_bytes : 0;
        if (header[19] != 2)
            pages->log = NULL;
    } else if (pages->log) { /* all pages may still be in the log */
        uint8_t log[LOG_HEADER];
        pages->page_bytes = read_at(pages->log, log, sizeof log, 0) ? big_32(log + 8) : 0;
    }
    if (pages->page_bytes < 512 || pages->page_bytes > 65536)
        return false;
    if (pages->log)
        read_log(pages);
    pages->count = MIN(pages->count, G_MAXUINT32);
    pages->met = g_try_malloc0((gsize)pages->count / 8 + 1);
    pages->left = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return pages->met != NULL;
}

static void end(struct pages *pages)
{
    g_clear_pointer(&pages->in_log, g_hash_table_unref);
    g_clear_pointer(&pages->left, g_array_unref);
    g_free(pages->met);
}

/* Walks the trees that the schema lists; the schema's own tree has been walked. */
static bool walk_roots(struct orch_store *store, struct pages *pages, uint8_t *buffer,
                       GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage", error);
    int more = s ? 1 : -1;
    while (s && !pages->twice && (more = orch_store_step(store, s, error)) > 0)
        walk(pages, (uint32_t)CLAMP(sqlite3_column_int64(s, 0), 0, G_MAXUINT32), buffer);
    if (more > 0)
        sqlite3_reset(s);
    return more >= 0;
}

/* Walks all trees once. False only when the schema cannot be read. */
static bool walk_all(struct orch_store *store, uint32_t *out_twice, bool *out_same_log,
                     GError **error)
{
    struct pages pages = {0};
    bool ok = true;
    *out_same_log = true;
    if (begin(store, &pages)) {
        g_autofree uint8_t *buffer = g_malloc(pages.page_bytes);
        walk(&pages, 1, buffer);
        ok = pages.twice || walk_roots(store, &pages, buffer, error);
        *out_same_log = is_same_log(&pages);
    }
    *out_twice = pages.twice;
    end(&pages);
    return ok;
}

static bool check(struct orch_store *store, GError **error)
{
    int64_t version; /* the read takes the lock under which the pages cannot change */
    bool ok = orch_store_get_int(store, &version, 0, error, "PRAGMA user_version", ""), same = !ok;
    uint32_t twice = 0;
    for (int i = 0; i < WALKS && ok && !same; i++)
        ok = walk_all(store, &twice, &same, error);
    if (ok && twice)
        orch_error_set(error, ORCH_ERROR_STORE,
                       "'orch db repair' recovers the runs into a new store",
                       "cannot open store '%s': page %u belongs to two tables", store->path, twice);
    return ok && !twice;
}

bool orch_store_check_pages(struct orch_store *store, GError **error)
{
    int64_t version; /* this read sets SQLite's error code, which callers check, for a file that
                        cannot be read at all */
    if (!orch_store_get_int(store, &version, 0, error, "PRAGMA user_version", "") ||
        !orch_store_exec(store, "BEGIN", "open", error))
        return false;
    bool ok = check(store, error);
    return orch_store_exec(store, "COMMIT", "open", ok ? error : NULL) && ok;
}
