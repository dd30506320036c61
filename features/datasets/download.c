/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/datasets/download.h"

#include "lib/base/error.h"
#include "lib/base/program_path.h"
#include "lib/base/shared_file.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX (INT64_C(64) << 30)
#define WAIT_MAX_S 30.0
/* Limit even if every attempt makes progress, because the server then is unusable. */
#define ATTEMPTS_MAX 200

/* libcurl is loaded at the first download, because it depends on more than twenty libraries, which
 * would slow down every other command. */
static struct {
    CURLcode (*global_init)(long);
    CURL *(*init)(void);
    void (*reset)(CURL *);
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    const char *(*strerror)(CURLcode);
    CURLcode (*perform)(CURL *);
    void (*cleanup)(CURL *);
} curl_api;

struct transfer {
    const struct orch_download *want;
    CURL *curl;
    int fd;
    int64_t start; /* size of the part file at the start of the attempt */
    int64_t size;  /* its current size */
    int saved_errno;
    bool stopped, too_large;
};

enum outcome { DONE, AGAIN, ANEW, FAILED };

/* Which errors are temporary, and hints for the others. */
static const struct {
    CURLcode code;
    bool passes;
    const char *hint;
} ERROR_HINTS[] = {
    {CURLE_COULDNT_RESOLVE_HOST, false, "is this machine online? behind a proxy set https_proxy"},
    {CURLE_COULDNT_RESOLVE_PROXY, false, "check https_proxy and http_proxy"},
    {CURLE_COULDNT_CONNECT, true, "is this machine online? behind a proxy set https_proxy"},
    {CURLE_OPERATION_TIMEDOUT, true, "run the same command again"},
    {CURLE_PARTIAL_FILE, true, "run the same command again"},
    {CURLE_RECV_ERROR, true, "run the same command again"},
    {CURLE_SEND_ERROR, true, "run the same command again"},
    {CURLE_GOT_NOTHING, true, "run the same command again"},
    {CURLE_SSL_CONNECT_ERROR, true, "run the same command again"},
    {CURLE_PEER_FAILED_VERIFICATION, false,
     "check the clock and the package ca-certificates of this machine"},
};

static bool status_passes(long status)
{
    return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *pointer)
{
    struct transfer *t = pointer;
    const size_t length = size * count;
    const int64_t most = t->want->bytes > 0 ? t->want->bytes : BYTES_MAX;
    if (t->size + (int64_t)length > most) {
        t->too_large = true;
        return 0;
    }
    for (size_t at = 0; at < length;) {
        ssize_t n = write(t->fd, bytes + at, length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            t->saved_errno = errno;
            return 0;
        }
        at += (size_t)n;
        t->size += n;
    }
    return length;
}

static int on_progress(void *pointer, curl_off_t total, curl_off_t done, curl_off_t up_total,
                       curl_off_t up)
{
    struct transfer *t = pointer;
    (void)done;
    (void)up_total;
    (void)up;
    int64_t all = t->want->bytes > 0 ? t->want->bytes : total > 0 ? t->start + total : 0;
    if (t->want->progress && !t->want->progress(t->want->ctx, t->size, all))
        t->stopped = true;
    return t->stopped;
}

static void allow_http_only(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_api.setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_api.setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_api.setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_api.setopt(curl, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* Certificates of the authorities that sign those of servers: our own libcurl is built without the
 * place of a system. NULL where there are none. */
static const char *own_certificates;
static const char *find_certificates(void)
{
    const char *const places[] = {
        g_getenv("SSL_CERT_FILE"),
        g_getenv("CURL_CA_BUNDLE"),
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
        "/etc/ssl/ca-bundle.pem",             /* openSUSE */
        "/etc/ssl/cert.pem",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
        if (places[i] && access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

static void set_up(struct transfer *t)
{
    CURL *curl = t->curl;
    curl_api.reset(curl);
    allow_http_only(curl);
    curl_api.setopt(curl, CURLOPT_URL, t->want->url);
    curl_api.setopt(curl, CURLOPT_USERAGENT, "orch");
    if (own_certificates)
        curl_api.setopt(curl, CURLOPT_CAINFO, own_certificates);
    curl_api.setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_api.setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_api.setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_api.setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_api.setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)t->want->connect_s);
    curl_api.setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_api.setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)t->want->stall_s);
    curl_api.setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_api.setopt(curl, CURLOPT_WRITEDATA, t);
    curl_api.setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_api.setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_api.setopt(curl, CURLOPT_XFERINFODATA, t);
    if (t->start > 0)
        curl_api.setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->start);
}

static void set_failure(const struct transfer *t, const char *advice, const char *why,
                        GError **error)
{
    g_autofree char *hint =
        g_strdup_printf("%s%sput the file into place by hand as '%s'", advice ? advice : "",
                        advice ? "; or " : "", t->want->by_hand);
    orch_error_set(error, ORCH_ERROR_IO, hint, "cannot download '%s': %s", t->want->url, why);
}

static enum outcome judge_status(struct transfer *t, GError **error)
{
    long status = 0;
    curl_api.getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 416 && t->start > 0) /* the part file does not belong to this file */
        return ANEW;
    g_autofree char *why = g_strdup_printf("the server answered %ld", status);
    set_failure(t,
                status == 404 || status == 410   ? "the file may have moved"
                : status == 401 || status == 403 ? "the server requires a login, or a proxy refused"
                : status == 407                  ? "the proxy requires a login (in https_proxy)"
                                                 : NULL,
                why, error);
    return status_passes(status) ? AGAIN : FAILED;
}

/* Determines what to do after a failed transfer. */
static enum outcome judge(struct transfer *t, CURLcode code, GError **error)
{
    if (t->stopped) {
        orch_error_set(error, ORCH_ERROR_INTERRUPTED, "run the same command again to continue",
                       "the download of '%s' was stopped", t->want->url);
        return FAILED;
    }
    if (t->saved_errno) {
        orch_error_set_errno(error, ORCH_ERROR_IO, t->saved_errno, "cannot write '%s'",
                             t->want->part);
        return FAILED;
    }
    if (t->too_large && t->start > 0)
        return ANEW;
    if (t->too_large) {
        g_autofree char *why =
            g_strdup_printf("it is larger than the %" G_GINT64_FORMAT " bytes expected",
                            t->want->bytes > 0 ? t->want->bytes : BYTES_MAX);
        set_failure(t, NULL, why, error);
        return FAILED;
    }
    if (code == CURLE_RANGE_ERROR) /* the server does not support resuming */
        return ANEW;
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return judge_status(t, error);
    for (unsigned i = 0; i < G_N_ELEMENTS(ERROR_HINTS); i++) {
        if (ERROR_HINTS[i].code != code)
            continue;
        set_failure(t, ERROR_HINTS[i].hint, curl_api.strerror(code), error);
        return ERROR_HINTS[i].passes ? AGAIN : FAILED;
    }
    set_failure(t, NULL, curl_api.strerror(code), error);
    return FAILED;
}

static bool truncate_part(struct transfer *t, GError **error)
{
    if (ftruncate(t->fd, 0) != 0 || lseek(t->fd, 0, SEEK_SET) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", t->want->part);
        return false;
    }
    t->size = 0;
    return true;
}

static enum outcome attempt(struct transfer *t, GError **error)
{
    const int64_t most = t->want->bytes;
    if (most > 0 && t->size == most)
        return DONE;
    if (most > 0 && t->size > most)
        return ANEW;
    t->start = t->size;
    t->too_large = false;
    set_up(t);
    CURLcode code = curl_api.perform(t->curl);
    if (code != CURLE_OK)
        return judge(t, code, error);
    if (most > 0 && t->size < most) {
        set_failure(t, NULL, "the server sent less than the whole file", error);
        return AGAIN;
    }
    return DONE;
}

/* Waits before a retry; false if stopped meanwhile. */
static bool wait_a_while(struct transfer *t, double seconds, GError **error)
{
    for (double waited = 0; waited < seconds && !t->stopped; waited += 0.1) {
        g_usleep((gulong)(MIN(0.1, seconds - waited) * 1e6));
        on_progress(t, 0, 0, 0, 0);
    }
    if (t->stopped)
        judge(t, CURLE_OK, error);
    return !t->stopped;
}

static bool run(struct transfer *t, GError **error)
{
    double wait_s = t->want->wait_s;
    int left = t->want->retries;
    bool anew = false;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        GError *why = NULL;
        enum outcome outcome = attempt(t, &why);
        if (outcome == DONE)
            return true;
        if (outcome == ANEW && !anew) {
            anew = true;
            if (!truncate_part(t, error))
                return false;
            continue;
        }
        if (outcome == ANEW) {
            set_failure(t, NULL, "the server sent another part than the one requested", error);
            return false;
        }
        if (t->size > t->start) { /* progress was made, so the retries start over */
            left = t->want->retries;
            wait_s = t->want->wait_s;
        }
        if (outcome == FAILED || left-- <= 0 || i + 1 == ATTEMPTS_MAX) {
            g_propagate_error(error, why);
            return false;
        }
        g_clear_error(&why);
        if (!wait_a_while(t, wait_s, error))
            return false;
        wait_s = MIN(2 * wait_s, WAIT_MAX_S);
    }
    return false;
}

static bool find_symbol(void *library, const char *name, void *out_function)
{
    void *address = dlsym(library, name);
    memcpy(out_function, &address, sizeof address); /* ISO C has no cast from void * to function */
    return address;
}

/* The system's library comes first: it is kept up to date and knows the system's certificates. A
 * wheel brings one along for systems that have none. */
static bool find_curl(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    void *library = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    g_autofree char *own = library ? NULL : orch_program_path("libcurl.so.4", NULL);
    if (own) {
        library = dlopen(own, RTLD_NOW);
        own_certificates = find_certificates();
    }
    return library && find_symbol(library, "curl_global_init", &curl_api.global_init) &&
           find_symbol(library, "curl_easy_init", &curl_api.init) &&
           find_symbol(library, "curl_easy_reset", &curl_api.reset) &&
           find_symbol(library, "curl_easy_setopt", &curl_api.setopt) &&
           find_symbol(library, "curl_easy_getinfo", &curl_api.getinfo) &&
           find_symbol(library, "curl_easy_strerror", &curl_api.strerror) &&
           find_symbol(library, "curl_easy_perform", &curl_api.perform) &&
           find_symbol(library, "curl_easy_cleanup", &curl_api.cleanup);
}

static void *init_curl(void *unused)
{
    (void)unused;
    return GINT_TO_POINTER(find_curl() && curl_api.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

bool orch_download_run(const struct orch_download *download, GError **error)
{
    static GOnce once = G_ONCE_INIT;
    struct transfer t = {.want = download};
    struct stat info;
    g_once(&once, init_curl, NULL);
    t.fd = orch_shared_open(AT_FDCWD, download->part, download->part, O_WRONLY | O_CREAT | O_APPEND,
                            0666, ORCH_SHARED_ANY_OWNER, error);
    if (t.fd < 0)
        return false;
    if (fstat(t.fd, &info) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", download->part);
        close(t.fd);
        return false;
    }
    t.size = info.st_size;
    t.curl = curl_api.cleanup ? curl_api.init() : NULL;
    bool ok = t.curl && run(&t, error);
    if (!t.curl)
        orch_error_set(error, ORCH_ERROR_IO, "install libcurl (Debian: libcurl4)",
                       "cannot set up libcurl");
    else
        curl_api.cleanup(t.curl);
    if (close(t.fd) != 0 && ok) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", download->part);
        ok = false;
    }
    return ok;
}
