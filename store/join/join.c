/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The join: one write transaction that adds runs, notes, recipes, forecasts and data sets from
 * elsewhere, and the receipt of what was added.
 *
 * A run is written like any other and its digest is computed from the rows; when it differs from
 * the claimed digest, the rows are deleted at once. Deleting the few bad runs costs nothing when
 * all are good, whereas a savepoint for each run would copy every page that it touches. The
 * triggers that protect ended runs, and foreign keys, are off for this connection during the join.
 * That is safe because a join only adds rows, which refer to rows that it has just written or
 * found, and the connections of other processes keep both.
 */
#include "store/handle/sql.h"
#include "store/join/join_internal.h"
#include "store/write/dataset.h"
#include "store/write/note_rules.h"
#include "store/write/write.h"

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "lib/base/text.h"
#include "lib/wire/bounds.h"
#include "store/join/run_text.h"
#include "store/write/dataset_text.h"

#include <math.h>
#include <string.h>

/* ---- begin and end ---------------------------------------------------------------- */

static void guard(struct orch_store *store, bool on)
{
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, (int)on, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_FKEY, (int)on, NULL);
}

static void free_objects(gpointer data)
{
    struct store_objects *objects = data;
    g_free(objects->folder);
    g_free(objects);
}

struct orch_join *orch_join_begin(struct orch_store *store, const char *origin, GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return NULL;
    guard(store, false);
    orch_hash_preload();
    struct orch_join *join = g_new0(struct orch_join, 1);
    join->store = store;
    join->receipt = orch_store_receipt_new(origin);
    join->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    join->objects = g_ptr_array_new_with_free_func(free_objects);
    join->apart = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return join;
}

static void free_join(struct orch_join *join)
{
    g_hash_table_destroy(join->rows);
    g_ptr_array_unref(join->objects);
    g_hash_table_destroy(join->apart);
    orch_receipt_free(join->receipt);
    g_free(join);
}

void orch_join_rollback(struct orch_join *join)
{
    if (!join)
        return;
    orch_store_transaction_rollback(join->store);
    guard(join->store, true);
    free_join(join);
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
    const struct orch_receipt_row *x = *(struct orch_receipt_row *const *)a,
                                  *y = *(struct orch_receipt_row *const *)b;
    int order = g_strcmp0(x->who, y->who);
    order = order ? order : g_strcmp0(x->recipe, y->recipe);
    return order ? order : g_strcmp0(x->experiment, y->experiment);
}

static void remark_late_notes(struct orch_join *join)
{
    if (join->late_notes)
        g_ptr_array_add(
            join->receipt->remarks,
            g_strdup_printf(
                "notes dated more than a day after this machine's clock: %" G_GINT64_FORMAT,
                join->late_notes));
}

struct orch_receipt *orch_join_commit(struct orch_join *join, GError **error)
{
    if (!orch_store_join_digests(join, error)) {
        orch_join_rollback(join);
        return NULL;
    }
    guard(join->store, true);
    if (!orch_store_transaction_commit(join->store, error)) {
        free_join(join);
        return NULL;
    }
    for (guint i = 0; i < join->objects->len; i++) /* after the commit: copying can be slow */
        orch_store_join_objects(join, join->objects->pdata[i]);
    g_ptr_array_sort(join->receipt->rows, compare_rows);
    remark_late_notes(join);
    struct orch_receipt *receipt = g_steal_pointer(&join->receipt);
    free_join(join);
    return receipt;
}

/* ---- runs ------------------------------------------------------------------------- */

static const char *text_at(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

bool orch_store_join_is_known(struct orch_join *join, const char *key, const char *digest,
                              bool *out_known, bool *out_taken, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        join->store, "SELECT digest, who, recipe, experiment FROM run WHERE key = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "t", key);
    int more = orch_store_step(join->store, s, error);
    *out_taken = more > 0;
    *out_known = more > 0 && strcmp(text_at(s, 0), digest) == 0;
    if (*out_known)
        orch_store_receipt_row(join, text_at(s, 1), text_at(s, 2), text_at(s, 3))->known++;
    if (more > 0)
        sqlite3_reset(s);
    int64_t apart = 0;
    if (*out_taken && !*out_known &&
        !orch_store_get_int(join->store, &apart, 0, error,
                            "SELECT 1 FROM conflict WHERE key = ? AND digest = ?", "tt", key,
                            digest))
        return false;
    *out_known = *out_known || apart;
    join->receipt->known += *out_known;
    return more >= 0;
}

/* Writes the run under `key` and compares the digest of its rows. When it does not match, the rows
 * are deleted, the run is refused and `*out_fits` is false. */
static bool write_and_judge(struct orch_join *join, const struct orch_record *record,
                            const char *key, const char *digest, struct store_written *written,
                            bool *out_fits, GError **error)
{
    GError *problem = NULL;
    bool ok = orch_store_write_run(join->store, record, key, digest, written, &problem);
    *out_fits = ok && strcmp(written->digest, digest) == 0;
    if (*out_fits)
        return true;
    if (!ok && !written->is_records_fault) {
        g_propagate_error(error, problem);
        return false;
    }
    g_autofree char *what = g_strdup_printf("run %s", record->key);
    if (ok)
        orch_join_refuse(join, "run %s: its rows have digest %.12s, but the run declares %.12s",
                         record->key, written->digest, digest);
    else
        orch_join_refuse_error(join, what, problem);
    g_clear_error(&problem);
    return orch_store_unwrite_run(join->store, written, error);
}

/* Serializes the run that was just written under a temporary key. The rows are read back because a
 * record can stream its points only once. */
static GString *text_of_written(struct orch_join *join, const struct store_written *written,
                                const char *key, const char *digest, GError **error)
{
    struct store_reader *reader = orch_store_reader_new(join->store);
    struct orch_record *record;
    char unsealed[ORCH_SHA256_CHARS];
    GString *text = NULL;
    enum store_read read = orch_store_reader_run(reader, written->run_id, &record, unsealed, error);
    if (read == STORE_READ_RUN) {
        record->key = key;
        text = orch_run_text_of_record(record, digest, error);
    } else if (read == STORE_READ_REFUSED) {
        orch_error_set(error, ORCH_ERROR_STORE, "run 'orch db check'", "cannot read run '%s': %s",
                       key, orch_store_reader_fault(reader));
    }
    orch_store_reader_free(reader);
    return text;
}

static bool set_apart(struct orch_join *join, const struct orch_record *record, const char *digest,
                      enum orch_joined *out, GError **error)
{
    g_autofree char *other = g_strconcat(record->key, "#", NULL);
    struct store_written written;
    bool fits;
    if (!write_and_judge(join, record, other, digest, &written, &fits, error))
        return false;
    *out = ORCH_JOINED_REFUSED;
    if (!fits)
        return true;
    GString *text = text_of_written(join, &written, record->key, digest, error);
    if (!text || !orch_store_unwrite_run(join->store, &written, error))
        return false;
    bool ok = true;
    if (text->len >= STORE_TEXT_MAX) {
        orch_join_refuse(join,
                         "run %s: the store has another run with this key, and this run is too "
                         "large to keep beside it",
                         record->key);
    } else {
        ok = orch_store_join_will_change(join, error) &&
             orch_store_run_statement(join->store, error,
                                      "INSERT INTO conflict(key, digest, origin, record, found)"
                                      " VALUES(?, ?, ?, ?, ?)",
                                      "tttti", record->key, digest, join->receipt->origin,
                                      text->str, orch_now_ns());
        orch_store_join_set_apart(join, record->key, digest);
        *out = ORCH_JOINED_CONFLICT;
        join->receipt->conflicts++;
        orch_store_receipt_problem(
            join, g_strdup_printf("run %s: the store has a run with this key and another digest; "
                                  "the new one (%.12s) is set apart",
                                  record->key, digest));
    }
    g_string_free(text, TRUE);
    return ok;
}

static bool add_run(struct orch_join *join, const struct orch_record *record, const char *digest,
                    enum orch_joined *out, GError **error)
{
    struct store_written written;
    bool fits;
    *out = ORCH_JOINED_REFUSED;
    if (!orch_store_join_will_change(join, error) ||
        !write_and_judge(join, record, record->key, digest, &written, &fits, error))
        return false;
    if (!fits)
        return true;
    *out = ORCH_JOINED_NEW;
    join->receipt->added++;
    orch_store_receipt_row(join, record->who, record->recipe, record->experiment)->added++;
    return true;
}

bool orch_join_run(struct orch_join *join, const struct orch_record *record, const char *digest,
                   enum orch_joined *out, GError **error)
{
    bool is_known, is_taken;
    *out = ORCH_JOINED_REFUSED;
    if (!record->key || !orch_key_is_valid(record->key) || !orch_sha256_is_valid(digest)) {
        orch_join_refuse(join, "run %.40s: its key or digest is not valid",
                         record->key ? record->key : "");
        return true;
    }
    if (!orch_store_join_is_known(join, record->key, digest, &is_known, &is_taken, error))
        return false;
    if (is_known) {
        *out = ORCH_JOINED_KNOWN;
        return true;
    }
    g_autofree char *fault = orch_store_record_fault(record);
    if (fault) {
        orch_join_refuse(join, "run %s: %s", record->key, fault);
        return true;
    }
    return is_taken ? set_apart(join, record, digest, out, error)
                    : add_run(join, record, digest, out, error);
}

/* ---- recipes, notes, forecasts, data sets ----------------------------------------- */

/* 1 when the last INSERT ... ON CONFLICT DO NOTHING added a row. */
static int64_t added(const struct orch_join *join)
{
    return sqlite3_changes(join->store->db) > 0;
}

bool orch_join_recipe(struct orch_join *join, const char *key, const char *name,
                      const char *canonical, const char *verbatim, GError **error)
{
    char digest[ORCH_SHA256_CHARS] = "";
    bool fits = orch_store_text_fits(name, STORE_NAME_MAX) && canonical &&
                orch_store_text_fits(canonical, STORE_RECIPE_MAX) &&
                orch_store_text_fits(verbatim, STORE_RECIPE_MAX);
    if (fits)
        orch_sha256(canonical, strlen(canonical), digest);
    if (!fits || g_strcmp0(key, digest) != 0) {
        orch_join_refuse(join, "recipe %.64s: its text does not match its key", key ? key : "");
        return true;
    }
    if (!orch_store_run_statement(
            join->store, error,
            "INSERT INTO recipe(key, name, canonical, verbatim) VALUES(?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            "tttt", key, name, canonical, verbatim))
        return false;
    join->receipt->recipes += added(join);
    return true;
}

static bool note_fits(const struct orch_note *note)
{
    return note->key && orch_key_is_valid(note->key) && note->target && *note->target &&
           orch_store_note_kind_is_known(note->kind) &&
           orch_store_text_fits(note->target, STORE_NAME_MAX) &&
           orch_store_text_fits(note->who, STORE_NAME_MAX) &&
           orch_store_text_fits(note->text, STORE_NOTE_MAX);
}

/* Whether the note hides or restores a stored run of another author. */
static bool is_foreign(struct orch_join *join, const struct orch_note *note, int64_t *out,
                       GError **error)
{
    *out = 0;
    return !orch_store_note_kind_hides(note->kind) ||
           orch_store_get_int(join->store, out, 0, error,
                              "SELECT 1 FROM run WHERE key = ? AND who IS NOT ?", "tt",
                              note->target, note->who);
}

bool orch_join_note(struct orch_join *join, const struct orch_note *note, GError **error)
{
    if (!note_fits(note)) {
        orch_join_refuse(join, "note %.40s: its key, target, kind or text is not valid",
                         note->key ? note->key : "");
        return true;
    }
    g_autofree char *fault = orch_bound_fault(ORCH_BOUNDED_MADE_NS, (double)note->made_ns);
    if (fault) {
        orch_join_refuse(join, "note %.40s: its %s", note->key, fault);
        return true;
    }
    int64_t foreign;
    if (!is_foreign(join, note, &foreign, error) ||
        !orch_store_run_statement(join->store, error,
                                  "INSERT INTO note(key, target, kind, public, text, who, made)"
                                  " VALUES(?, ?, ?, 1, ?, ?, ?) ON CONFLICT DO NOTHING",
                                  "ttttti", note->key, note->target, note->kind, note->text,
                                  note->who, note->made_ns))
        return false;
    struct orch_receipt *receipt = join->receipt;
    int64_t *count = !orch_store_note_kind_hides(note->kind) ? &receipt->notes
                     : foreign                               ? &receipt->foreign_tombstones
                     : strcmp(note->kind, "restored") == 0   ? &receipt->restored
                                                             : &receipt->tombstones;
    *count += added(join);
    if (note->made_ns > orch_now_ns() + STORE_AHEAD_S * INT64_C(1000000000))
        join->late_notes += added(join);
    return true;
}

/* Why a number of the forecast is out of range, or NULL. NaN means unknown. The caller frees. */
static char *forecast_fault(const struct orch_run_forecast *forecast)
{
    const struct {
        enum orch_bounded which;
        double value;
    } numbers[] = {
        {ORCH_BOUNDED_MADE_NS, (double)forecast->made_ns},
        {ORCH_BOUNDED_P5, forecast->time_s.low},
        {ORCH_BOUNDED_P50, forecast->time_s.mid},
        {ORCH_BOUNDED_P95, forecast->time_s.high},
    };
    char *fault = NULL;
    for (size_t i = 0; !fault && i < G_N_ELEMENTS(numbers); i++)
        if (!isnan(numbers[i].value))
            fault = orch_bound_fault(numbers[i].which, numbers[i].value);
    return fault;
}

bool orch_join_forecast(struct orch_join *join, const struct orch_run_forecast *forecast,
                        GError **error)
{
    const char *const texts[] = {forecast->fingerprint, forecast->machine, forecast->model,
                                 forecast->tier};
    bool fits =
        texts[0] && texts[1] && texts[2] && forecast->run && orch_key_is_valid(forecast->run);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        fits = fits && orch_store_text_fits(texts[i], STORE_NAME_MAX);
    if (!fits) {
        orch_join_refuse(join, "forecast of run %.40s: one of its fields is not valid",
                         forecast->run ? forecast->run : "");
        return true;
    }
    g_autofree char *fault = forecast_fault(forecast);
    if (fault) {
        orch_join_refuse(join, "forecast of run %.40s: its %s", forecast->run, fault);
        return true;
    }
    if (!orch_store_run_statement(
            join->store, error,
            "INSERT INTO forecast(fingerprint, machine, model, made, p5, p50, p95, tier,"
            " run) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
            " WHERE EXISTS (SELECT 1 FROM run WHERE key = ?9) ON CONFLICT DO NOTHING",
            "tttirrrtt", forecast->fingerprint, forecast->machine, forecast->model,
            forecast->made_ns, forecast->time_s.low, forecast->time_s.mid, forecast->time_s.high,
            forecast->tier, forecast->run))
        return false;
    join->receipt->forecasts += added(join);
    return true;
}

bool orch_join_dataset(struct orch_join *join, struct orch_dataset *set, GError **error)
{
    enum orch_dataset_put put;
    g_autofree char *wanted = g_strdup(set->name);
    GError *problem = NULL;
    if (!orch_store_dataset_put(join->store, set, true, &put, NULL, &problem)) {
        if (problem->code != ORCH_ERROR_USAGE) {
            g_propagate_error(error, problem);
            return false;
        }
        g_autofree char *what = g_strdup_printf("data set %s", wanted);
        orch_join_refuse_error(join, what, problem);
        g_clear_error(&problem);
        return true;
    }
    if (put == ORCH_DATASET_KNOWN)
        return true;
    join->receipt->datasets++;
    if (strcmp(wanted, set->name) != 0)
        g_ptr_array_add(join->receipt->remarks,
                        orch_store_receipt_line(
                            g_strdup_printf("data set '%s' is kept as '%s': other rows have "
                                            "its name here",
                                            wanted, set->name)));
    return true;
}
