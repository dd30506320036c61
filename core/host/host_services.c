/* SPDX-License-Identifier: MIT */
/* Up to POINTS_MAX points or 50 ms of them are collected and written as one line. A separate
 * thread, started with the first point, writes pending points if the plugin makes no further calls.
 * Other events are written immediately, after the pending points. */
#include "core/host/host_services.h"

#include "lib/base/error.h"
#include "lib/base/file_digests.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/seed.h"
#include "lib/base/write_all.h"
#include "lib/wire/event.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum { POINTS_MAX = 1000 }; /* a line of about 50 KiB */
static const int64_t GATHER_NS = 50 * 1000 * 1000, CONTROL_POLL_NS = 2 * 1000 * 1000;

struct services {
    struct orch_host host; /* host.ctx is this struct */
    struct services_setup setup;
    pthread_mutex_t mutex; /* protects all fields below except the atomics */
    pthread_cond_t wake;
    pthread_t timer;
    bool has_timer, is_ending;
    GHashTable *metrics; /* declared names, owned by the manifest */
    const char *last_name;
    struct orch_point points[POINTS_MAX];
    size_t point_count;
    int64_t oldest_ns; /* time of the oldest point */
    int64_t progress_ns;
    GString *out;
    char *failure;
    json_t *inputs;
    json_t *no_effect; /* names of parameters without effect */
    json_t *warnings;  /* that were logged while there is nobody to send them to */
    GPtrArray *texts;  /* digests returned to the plugin */
    bool has_checkpoint_dir;
    atomic_bool cancelled;
    atomic_llong requested_ns; /* last check of the control pipe */
};

static struct services *of(const struct orch_host *host)
{
    return host->ctx;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Writes pending lines; a closed pipe means that the host has died. */
static void write_out(struct services *services)
{
    int fd = services->setup.events_fd;
    if (fd >= 0 && !orch_write_all(fd, services->out->str, services->out->len))
        atomic_store(&services->cancelled, true);
    g_string_truncate(services->out, 0);
}

static void flush_points(struct services *services)
{
    if (services->point_count == 0)
        return;
    orch_event_encode_points(services->out, services->points, services->point_count);
    services->point_count = 0;
    write_out(services);
}

static void send_locked(struct services *services, const json_t *object)
{
    flush_points(services);
    orch_event_encode_json(services->out, object);
    write_out(services);
}

void orch_services_send(struct services *services, const json_t *object)
{
    pthread_mutex_lock(&services->mutex);
    send_locked(services, object);
    pthread_mutex_unlock(&services->mutex);
}

/* Sends an event with arbitrary text: converted to valid UTF-8, and truncated so that the line
 * fits. */
static void send_text(struct services *services, const char *event, const char *level,
                      const char *key, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
    g_autoptr(GString) line = g_string_new(NULL);
    for (size_t room = strlen(valid);; room /= 2) {
        if (room < strlen(valid)) /* truncates at a character boundary */
            *g_utf8_find_prev_char(valid, valid + room + 1) = 0;
        g_autoptr(json_t) object =
            json_pack("{s:s s:s* s:s}", "event", event, "level", level, key, valid);
        g_string_truncate(line, 0);
        orch_event_encode_json(line, object);
        if (line->len < ORCH_WIRE_LINE_MAX) {
            orch_services_send(services, object);
            return;
        }
    }
}

/* ---- the timer --------------------------------------------------------------------------------
 */

static void *timer_main(void *argument)
{
    struct services *services = argument;
    pthread_mutex_lock(&services->mutex);
    while (!services->is_ending) {
        int64_t due = services->oldest_ns + GATHER_NS;
        if (services->point_count == 0) {
            pthread_cond_wait(&services->wake, &services->mutex);
        } else if (orch_mono_ns() >= due) {
            flush_points(services);
        } else {
            struct timespec until = {due / 1000000000, due % 1000000000};
            pthread_cond_timedwait(&services->wake, &services->mutex, &until);
        }
    }
    pthread_mutex_unlock(&services->mutex);
    return NULL;
}

/* Starts the timer thread with all signals blocked, so that the plugin's threads handle them. */
static void start_timer(struct services *services)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    services->has_timer = pthread_create(&services->timer, NULL, timer_main, services) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- services that report ---------------------------------------------------------------------
 */

/* The manifest's string for a declared name; NULL if not declared. */
static const char *declared(struct services *services, const char *name)
{
    if (services->last_name && strcmp(services->last_name, name) == 0)
        return services->last_name;
    services->last_name = g_hash_table_lookup(services->metrics, name);
    return services->last_name;
}

/* Sent unchanged: the host rejects it with the nearest declared name. */
static void send_undeclared(struct services *services, const char *name, int64_t step, double value)
{
    g_autofree char *cut = g_strndup(name, 200);
    g_autofree char *valid = g_utf8_make_valid(cut, -1);
    g_autoptr(json_t) object = json_pack("{s:s s:s s:I s:o}", "event", "metric", "name", valid,
                                         "step", (json_int_t)step, "value", orch_json_real(value));
    send_locked(services, object);
}

/* True in the ranks of an MPI trial that do not report its numbers. */
static bool is_silent(const struct orch_host *host)
{
    return of(host)->setup.slot.rank > 0;
}

static void host_metric(const struct orch_host *host, const char *name, int64_t step, double value)
{
    struct services *services = of(host);
    if (services->setup.events_fd < 0 || !name || is_silent(host))
        return;
    int64_t now = orch_mono_ns();
    pthread_mutex_lock(&services->mutex);
    const char *known = declared(services, name);
    if (!known) {
        send_undeclared(services, name, step, value);
    } else {
        /* an exact quotient of microseconds, which has at most three decimals */
        double t_ms = (double)((now - services->setup.start_ns) / 1000) / 1e3;
        services->points[services->point_count++] = (struct orch_point){known, step, t_ms, value};
        if (services->point_count == 1) {
            services->oldest_ns = now;
            if (!services->has_timer)
                start_timer(services);
            else
                pthread_cond_signal(&services->wake);
        }
        if (services->point_count == POINTS_MAX || now - services->oldest_ns > GATHER_NS)
            flush_points(services);
    }
    pthread_mutex_unlock(&services->mutex);
}

static void host_result(const struct orch_host *host, const char *name, double value)
{
    if (is_silent(host))
        return;
    g_autofree char *valid = g_utf8_make_valid(name ? name : "", -1);
    g_autoptr(json_t) object = json_pack("{s:s s:s s:o}", "event", "result", "name", valid, "value",
                                         orch_json_real(value));
    orch_services_send(of(host), object);
}

static void host_progress(const struct orch_host *host, double done, double total)
{
    struct services *services = of(host);
    int64_t now = orch_mono_ns();
    pthread_mutex_lock(&services->mutex);
    if (isfinite(done) && isfinite(total) && !is_silent(host) &&
        (now - services->progress_ns >= GATHER_NS || (total > 0 && done >= total))) {
        g_autoptr(json_t) object =
            json_pack("{s:s s:f s:f}", "event", "progress", "done", done, "total", total);
        services->progress_ns = now;
        send_locked(services, object);
    }
    pthread_mutex_unlock(&services->mutex);
}

static void host_phase(const struct orch_host *host, const char *name)
{
    if (!is_silent(host))
        send_text(of(host), "phase", NULL, "name", name);
}

static void host_artifact(const struct orch_host *host, const char *name, const char *path)
{
    if (is_silent(host))
        return;
    g_autofree char *valid_name = g_utf8_make_valid(name ? name : "", -1);
    g_autofree char *valid_path = g_utf8_make_valid(path ? path : "", -1);
    g_autoptr(json_t) object =
        json_pack("{s:s s:s s:s}", "event", "artifact", "name", valid_name, "path", valid_path);
    orch_services_send(of(host), object);
}

/* A text with the number of a silent rank in front. The caller frees. */
static char *signed_text(const struct orch_host *host, const char *text)
{
    text = text ? text : "";
    return is_silent(host) ? g_strdup_printf("rank %u: %s", of(host)->setup.slot.rank, text)
                           : g_strdup(text);
}

static void host_note(const struct orch_host *host, const char *text)
{
    g_autofree char *whole = signed_text(host, text);
    send_text(of(host), "note", NULL, "text", whole);
}

static void keep_warning(struct services *services, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    pthread_mutex_lock(&services->mutex);
    json_array_append_new(services->warnings, json_string(valid));
    pthread_mutex_unlock(&services->mutex);
}

static void host_log(const struct orch_host *host, int level, const char *text)
{
    static const char *const levels[] = {"debug", "info", "warning"};
    g_autofree char *whole = signed_text(host, text);
    if (of(host)->setup.events_fd < 0 && level == ORCH_LOG_WARNING)
        keep_warning(of(host), whole);
    send_text(of(host), "log", levels[CLAMP(level, ORCH_LOG_DEBUG, ORCH_LOG_WARNING)], "text",
              whole);
}

static void host_fail(const struct orch_host *host, const char *text)
{
    struct services *services = of(host);
    g_autofree char *whole = signed_text(host, text);
    pthread_mutex_lock(&services->mutex);
    g_free(services->failure);
    services->failure = g_utf8_make_valid(whole, -1);
    pthread_mutex_unlock(&services->mutex);
}

/* ---- services that query ----------------------------------------------------------------------
 */

/* During a trial the control pipe carries only the cancel message; its end means that the host has
 * died. Checked at most every 2 ms. */
static bool host_cancelled(const struct orch_host *host)
{
    struct services *services = of(host);
    if (atomic_load(&services->cancelled) || services->setup.control_fd < 0)
        return atomic_load(&services->cancelled);
    int64_t now = orch_mono_ns();
    if (now - atomic_load(&services->requested_ns) < CONTROL_POLL_NS)
        return false;
    atomic_store(&services->requested_ns, now);
    struct pollfd control = {.fd = services->setup.control_fd, .events = POLLIN};
    if (poll(&control, 1, 0) > 0)
        atomic_store(&services->cancelled, true);
    return atomic_load(&services->cancelled);
}

static uint64_t host_derive_seed(const struct orch_host *host, const char *stream)
{
    return orch_seed_derive(of(host)->setup.seed, stream ? stream : "");
}

static const char *host_checkpoint_dir(const struct orch_host *host)
{
    struct services *services = of(host);
    const char *path = services->setup.checkpoint_dir;
    pthread_mutex_lock(&services->mutex);
    if (path && !services->has_checkpoint_dir)
        services->has_checkpoint_dir = orch_dir_make(path, NULL);
    bool is_there = services->has_checkpoint_dir;
    pthread_mutex_unlock(&services->mutex);
    return is_there ? path : NULL;
}

static void host_input(const struct orch_host *host, const char *name, const char *sha256)
{
    struct services *services = of(host);
    if (!name || !orch_sha256_is_valid(sha256)) {
        host_fail(host, "input: expected a SHA-256 digest of 64 lower-case hex digits");
        return;
    }
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    pthread_mutex_lock(&services->mutex);
    json_array_append_new(services->inputs,
                          json_pack("{s:s s:s}", "name", valid, "sha256", sha256));
    pthread_mutex_unlock(&services->mutex);
}

static void host_no_effect(const struct orch_host *host, const char *param)
{
    struct services *services = of(host);
    g_autofree char *valid = g_utf8_make_valid(param ? param : "", -1);
    pthread_mutex_lock(&services->mutex);
    json_array_append_new(services->no_effect, json_string(valid));
    pthread_mutex_unlock(&services->mutex);
}

static bool host_smoke(const struct orch_host *host)
{
    return of(host)->setup.smoke;
}

static const char *host_file_digest(const struct orch_host *host, const char *path)
{
    struct services *services = of(host);
    char *digest = g_malloc(ORCH_SHA256_CHARS);
    g_autoptr(GError) error = NULL;
    struct orch_file_digests *digests = orch_file_digests_open();
    bool ok = orch_file_digests_get(digests, path ? path : "", NULL, digest, &error);
    orch_file_digests_close(digests);
    if (!ok) {
        host_fail(host, error->message);
        g_free(digest);
        return NULL;
    }
    pthread_mutex_lock(&services->mutex);
    g_ptr_array_add(services->texts, digest);
    pthread_mutex_unlock(&services->mutex);
    return digest;
}

static void host_slot(const struct orch_host *host, struct orch_slot *out)
{
    static const size_t HEAD = sizeof out->struct_bytes;
    const struct orch_slot *slot = &of(host)->setup.slot;
    size_t bytes = MIN(out->struct_bytes, sizeof *slot);
    if (bytes < HEAD) {
        host_log(host, ORCH_LOG_WARNING,
                 "slot: set struct_bytes to sizeof(struct orch_slot) before the call");
        return;
    }
    memcpy((char *)out + HEAD, (const char *)slot + HEAD, bytes - HEAD);
    out->struct_bytes = (uint32_t)bytes;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static const struct orch_host SERVICES = {
    .struct_bytes = sizeof(struct orch_host),
    .abi_minor = ORCH_ABI_MINOR,
    .metric = host_metric,
    .result = host_result,
    .progress = host_progress,
    .phase = host_phase,
    .artifact = host_artifact,
    .note = host_note,
    .log = host_log,
    .fail = host_fail,
    .cancelled = host_cancelled,
    .derive_seed = host_derive_seed,
    .checkpoint_dir = host_checkpoint_dir,
    .input = host_input,
    .smoke = host_smoke,
    .file_digest = host_file_digest,
    .slot = host_slot,
    .no_effect = host_no_effect,
};

struct services *orch_services_new(const struct services_setup *setup)
{
    struct services *services = g_new0(struct services, 1);
    services->host = SERVICES;
    services->host.ctx = services;
    services->setup = *setup;
    services->setup.slot.threads = MAX(1, setup->slot.threads);
    services->setup.slot.ranks = MAX(1, setup->slot.ranks);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&services->mutex, NULL);
    pthread_cond_init(&services->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    services->metrics = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < setup->manifest->metrics->len; i++) {
        const struct orch_metric_spec *spec = setup->manifest->metrics->pdata[i];
        g_hash_table_insert(services->metrics, spec->name, spec->name);
    }
    services->out = g_string_new(NULL);
    services->inputs = json_array();
    services->no_effect = json_array();
    services->warnings = json_array();
    services->texts = g_ptr_array_new_with_free_func(g_free);
    return services;
}

void orch_services_free(struct services *services)
{
    if (!services)
        return;
    pthread_mutex_lock(&services->mutex);
    flush_points(services);
    services->is_ending = true;
    pthread_cond_signal(&services->wake);
    pthread_mutex_unlock(&services->mutex);
    if (services->has_timer)
        pthread_join(services->timer, NULL);
    pthread_cond_destroy(&services->wake);
    pthread_mutex_destroy(&services->mutex);
    g_hash_table_unref(services->metrics);
    g_string_free(services->out, TRUE);
    g_free(services->failure);
    json_decref(services->inputs);
    json_decref(services->no_effect);
    json_decref(services->warnings);
    g_ptr_array_unref(services->texts);
    g_free(services);
}

const struct orch_host *orch_services_host(struct services *services)
{
    return &services->host;
}

void orch_services_reset(struct services *services, bool smoke)
{
    pthread_mutex_lock(&services->mutex);
    services->setup.smoke = smoke;
    g_clear_pointer(&services->failure, g_free);
    json_array_clear(services->inputs);
    json_array_clear(services->no_effect);
    json_array_clear(services->warnings);
    g_ptr_array_set_size(services->texts, 0);
    pthread_mutex_unlock(&services->mutex);
}

const char *orch_services_failure(const struct services *services)
{
    return services->failure;
}

json_t *orch_services_inputs(struct services *services)
{
    return services->inputs;
}

json_t *orch_services_no_effect(struct services *services)
{
    return services->no_effect;
}

json_t *orch_services_warnings(struct services *services)
{
    return services->warnings;
}
