/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that need the store: passed to a worker, while the message is paused. */
#ifndef ORCH_FEATURES_WEB_WEB_JOBS_H
#define ORCH_FEATURES_WEB_WEB_JOBS_H

#include "features/web/internal.h"

/** Reads the header fields that decide about a request. `url` lives as long as the head. */
struct web_head orch_web_head_read(SoupServerMessage *message, const char *path, GHashTable *query,
                                   const char *url);
/** Passes a request to a worker. Takes ownership of `run` and `body`. */
void orch_web_job_start(struct orch_web *web, SoupServerMessage *message, web_handler handler,
                        char *run, GHashTable *query, GBytes *body);
/** Answers a request: the function of the pool of workers. */
void orch_web_job_answer(gpointer job, gpointer pool_data);

#endif
