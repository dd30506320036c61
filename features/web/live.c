/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sends events of running trials by server-sent events. While there are followers, the journals of
 * the active trials are read once a second. A new follower first receives all points so far,
 * thinned, then only new ones. Events:
 *
 *   trials   {"version", "trials": [{key, experiment, setting, progress, remaining, last, ...}]}
 *   series   {"key", "metric", "unit", step[], t_ms[], value[], count, width}   all so far
 *   points   the same shape: what is new
 *
 * The main thread reads the journals in short time slices, so that a journal of gigabytes does not
 * block other requests.
 */
#include "features/web/followed_trial.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/thin_series.h"
#include "lib/wire/journal.h"

#include <math.h>
#include <string.h>

enum {
    TRIALS_MAX = 64,
    SLICE_MS = 100,        /* time for reading per turn, in ms */
    QUEUED_MAX = 64 << 20, /* bytes queued for a follower before events are dropped */
};

struct follower {
    struct web_live *live;
    SoupServerMessage *message;
    char *key; /* the trial whose points are sent; "*": all; NULL: none */
    int64_t queued;
    int64_t sent_ns;
    gulong finished, wrote;
};

struct web_live {
    struct orch_web *web;
    struct orch_store *store;
    GHashTable *trials; /* key -> struct web_trial * */
    GPtrArray *followers;
    guint timer, more;
    unsigned left_out; /* trials in excess of TRIALS_MAX */
    bool has_new;      /* a trial was added since the last look */
    char *version;
};

/* ---- sending ----------------------------------------------------------------------------------
 */

/* Formats one event; compact JSON contains no line feed. Takes ownership of `json`. */
static GBytes *event_bytes(const char *event, json_t *json, int digits)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits));
    json_decref(json);
    char *all = NULL;
    if (text && asprintf(&all, "event: %s\ndata: %s\n\n", event, text) < 0)
        all = NULL;
    free(text);
    return all ? g_bytes_new_with_free_func(all, strlen(all), free, all)
               : g_bytes_new_static("", 0);
}

static void send_bytes(struct follower *f, GBytes *bytes)
{
    if (!g_bytes_get_size(bytes) || f->queued > QUEUED_MAX)
        return; /* a follower that is too slow misses events, and gets everything when it reconnects
                 */
    f->queued += (int64_t)g_bytes_get_size(bytes);
    f->sent_ns = orch_mono_ns();
    soup_message_body_append_bytes(soup_server_message_get_response_body(f->message), bytes);
    soup_server_message_unpause(f->message);
}

static bool wants(const struct follower *f, const struct web_trial *t)
{
    return f->key && (strcmp(f->key, "*") == 0 || strcmp(f->key, t->row->key) == 0);
}

static GBytes *trials_event(struct web_live *live)
{
    json_t *list = json_array();
    GHashTableIter iter;
    gpointer trial;
    g_hash_table_iter_init(&iter, live->trials);
    while (g_hash_table_iter_next(&iter, NULL, &trial))
        json_array_append_new(list, orch_web_trial_json(trial));
    return event_bytes("trials",
                       json_pack("{s:s? s:I s:o}", "version", live->version, "left_out",
                                 (json_int_t)live->left_out, "trials", list),
                       12);
}

static void send_all_so_far(struct follower *f)
{
    struct web_live *live = f->live;
    GHashTableIter iter;
    gpointer value;
    g_autoptr(GBytes) trials = trials_event(live);
    send_bytes(f, trials);
    g_hash_table_iter_init(&iter, live->trials);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct web_trial *t = value;
        for (guint i = 0; wants(f, t) && i < t->curves->len; i++) {
            const struct web_curve *c = t->curves->pdata[i];
            g_autoptr(GBytes) bytes =
                event_bytes("series", orch_web_trial_curve_json(t, c, c->all), 9);
            send_bytes(f, bytes);
        }
    }
}

static void send_new_points(struct web_live *live, struct web_trial *t)
{
    for (guint i = 0; i < t->curves->len; i++) {
        struct web_curve *c = t->curves->pdata[i];
        if (!c->fresh)
            continue;
        g_autoptr(GBytes) bytes =
            event_bytes("points", orch_web_trial_curve_json(t, c, c->fresh), 9);
        for (guint k = 0; k < live->followers->len; k++)
            if (wants(live->followers->pdata[k], t))
                send_bytes(live->followers->pdata[k], bytes);
        g_clear_pointer(&c->fresh, orch_thin_free);
    }
}

/* ---- followers --------------------------------------------------------------------------------
 */

static void look_at_actives(struct web_live *live)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(live->store, NULL);
    GHashTableIter iter;
    gpointer value;
    if (!rows)
        return; /* while the store is locked it is unknown which trials have ended */
    g_hash_table_iter_init(&iter, live->trials);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        ((struct web_trial *)value)->is_seen = false;
    live->left_out = 0;
    live->has_new = false;
    while (rows->len) {
        struct orch_active_row *row = g_ptr_array_steal_index_fast(rows, rows->len - 1);
        struct web_trial *t = g_hash_table_lookup(live->trials, row->key);
        if (!t && g_hash_table_size(live->trials) < TRIALS_MAX) {
            t = orch_web_trial_new(live->store, row);
            g_hash_table_insert(live->trials, t->row->key, t);
            live->has_new = true;
            row = NULL;
        }
        live->left_out += t == NULL;
        if (t)
            t->is_seen = true;
        orch_active_row_free(row);
    }
    g_hash_table_iter_init(&iter, live->trials);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (!((struct web_trial *)value)->is_seen)
            g_hash_table_iter_remove(&iter);
}

static gboolean on_more(gpointer data);

static void read_all(struct web_live *live)
{
    int64_t until = orch_mono_ns() + SLICE_MS * INT64_C(1000000);
    bool has_more = false;
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, live->trials);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct web_trial *t = value;
        orch_web_trial_read(t, until);
        has_more |= t->has_more;
        send_new_points(live, t);
    }
    if (has_more && !live->more)
        live->more = g_timeout_add(SLICE_MS, on_more, live);
}

static gboolean on_more(gpointer data)
{
    struct web_live *live = data;
    live->more = 0;
    read_all(live);
    return G_SOURCE_REMOVE;
}

static void keep_alive(struct web_live *live)
{
    g_autoptr(GBytes) ping = g_bytes_new_static(": still here\n\n", 14);
    int64_t now = orch_mono_ns();
    for (guint i = 0; i < live->followers->len; i++) {
        struct follower *f = live->followers->pdata[i];
        if (now - f->sent_ns > 10 * INT64_C(1000000000))
            send_bytes(f, ping);
    }
}

static void send_trials(struct web_live *live)
{
    g_autoptr(GBytes) trials = trials_event(live);
    for (guint i = 0; i < live->followers->len; i++)
        send_bytes(live->followers->pdata[i], trials);
}

static void look(struct web_live *live)
{
    char *version = orch_store_version(live->store, NULL);
    bool is_new = version && g_strcmp0(version, live->version) != 0;
    guint before = g_hash_table_size(live->trials);
    if (version) {
        g_free(live->version);
        live->version = version;
    }
    look_at_actives(live);
    if (live->has_new)
        send_trials(live); /* a trial's description is sent before its points */
    read_all(live);
    if (is_new || before || g_hash_table_size(live->trials))
        send_trials(live);
    keep_alive(live);
}

static gboolean on_tick(gpointer data)
{
    struct web_live *live = data;
    if (live->followers->len) {
        look(live);
        return G_SOURCE_CONTINUE;
    }
    g_hash_table_remove_all(live->trials); /* without followers the journals are not read */
    live->timer = 0;
    return G_SOURCE_REMOVE;
}

static void free_follower(gpointer data)
{
    struct follower *f = data;
    g_signal_handler_disconnect(f->message, f->finished);
    g_signal_handler_disconnect(f->message, f->wrote);
    g_object_unref(f->message);
    g_free(f->key);
    g_free(f);
}

static void on_finished(SoupServerMessage *message, gpointer data)
{
    (void)message;
    struct follower *f = data;
    g_ptr_array_remove_fast(f->live->followers, f);
}

static void on_wrote(SoupServerMessage *message, guint bytes, gpointer data)
{
    (void)message;
    struct follower *f = data;
    f->queued = MAX(0, f->queued - (int64_t)bytes);
}

bool orch_web_live_follow(struct web_live *live, SoupServerMessage *message, const char *key)
{
    if (live->followers->len >= WEB_FOLLOWERS_MAX)
        return false;
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
    for (int i = 0; WEB_HEADERS[i]; i += 2)
        soup_message_headers_replace(headers, WEB_HEADERS[i], WEB_HEADERS[i + 1]);
    soup_message_headers_replace(headers, "Content-Type", "text/event-stream");
    soup_message_headers_replace(headers, "Cache-Control", "no-store");
    soup_message_headers_set_encoding(headers, SOUP_ENCODING_CHUNKED);
    soup_message_body_set_accumulate(soup_server_message_get_response_body(message), FALSE);
    soup_server_message_set_status(message, 200, NULL);
    struct follower *f = g_new0(struct follower, 1);
    f->live = live;
    f->message = g_object_ref(message);
    f->key = g_strdup(key);
    f->finished = g_signal_connect(message, "finished", G_CALLBACK(on_finished), f);
    f->wrote = g_signal_connect(message, "wrote-body-data", G_CALLBACK(on_wrote), f);
    look(live); /* first send new points to the other followers */
    g_ptr_array_add(live->followers, f);
    send_all_so_far(f);
    if (!live->timer)
        live->timer = g_timeout_add_seconds(1, on_tick, live);
    return true;
}

struct web_live *orch_web_live_new(struct orch_web *web, GError **error)
{
    struct orch_store *store = orch_store_open(web->options.store_path, ORCH_STORE_READ, error);
    if (!store)
        return NULL;
    struct web_live *live = g_new0(struct web_live, 1);
    live->web = web;
    live->store = store;
    live->trials = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, orch_web_trial_free);
    live->followers = g_ptr_array_new_with_free_func(free_follower);
    return live;
}

void orch_web_live_free(struct web_live *live)
{
    if (!live)
        return;
    if (live->timer)
        g_source_remove(live->timer);
    if (live->more)
        g_source_remove(live->more);
    g_ptr_array_unref(live->followers);
    g_hash_table_unref(live->trials);
    orch_store_close(live->store);
    g_free(live->version);
    g_free(live);
}
