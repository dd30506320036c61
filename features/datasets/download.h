/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Downloads one file over HTTP(S), with resuming and retries. Only this module uses libcurl. It
 * does not verify contents, which features/datasets/data.h does. */
#ifndef ORCH_FEATURES_DATASETS_DOWNLOAD_H
#define ORCH_FEATURES_DATASETS_DOWNLOAD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_download {
    const char *url;
    const char *part;    /* file to write; existing contents are resumed */
    const char *by_hand; /* where the user may place the file instead, for the hint */
    int64_t bytes;       /* expected size; 0: unknown */
    int retries;         /* after temporary failures without any new bytes */
    double wait_s;       /* before the first retry; doubles each time, at most 30 s */
    int connect_s;       /* connection timeout */
    int stall_s;         /* timeout without any new bytes */
    bool (*progress)(void *ctx, int64_t done, int64_t total); /* false stops; total 0: unknown */
    void *ctx;
};

/** Downloads the file to `part`. Uses the same proxy variables as curl (https_proxy, http_proxy,
 * no_proxy). On failure `part` keeps the received bytes for the next call, and the error
 * (ORCH_ERROR_IO, or ORCH_ERROR_INTERRUPTED if `progress` stopped it) has the URL and a hint. */
bool orch_download_run(const struct orch_download *download, GError **error);

#endif
