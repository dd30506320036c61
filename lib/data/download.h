/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One file over HTTP(S), resumed and tried again: the only place that knows libcurl. What was
 * fetched is not believed here; lib/data/data.h holds it against its digests. */
#ifndef ORCH_DATA_DOWNLOAD_H
#define ORCH_DATA_DOWNLOAD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_download {
    const char *url;
    const char *part;    /* file that is written; what it holds already is gone on with */
    const char *by_hand; /* where the user may put the file instead, for the hint */
    int64_t bytes;       /* that the file has; 0: not known */
    int retries;         /* after a failure that may pass, without a new byte */
    double wait_s;       /* before the first retry; doubled each time, at most 30 s */
    int connect_s;       /* to connect within */
    int stall_s;         /* without a byte before it counts as failed */
    bool (*progress)(void *ctx, int64_t done, int64_t total); /* false stops; total 0: unknown */
    void *ctx;
};

/** Fetches the file into `part`. Proxies come from the environment (https_proxy, http_proxy,
 * no_proxy), as for curl. On failure `part` keeps what came, for the next call, and the error
 * (ORCH_ERROR_IO; ORCH_ERROR_INTERRUPTED when `progress` stopped it) names the URL and a cure. */
bool orch_download_run(const struct orch_download *download, GError **error);

#endif
