/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Responses: headers of every one, bytes, errors. */
#ifndef ORCH_FEATURES_WEB_WEB_RESPONSE_H
#define ORCH_FEATURES_WEB_WEB_RESPONSE_H

#include <glib.h>
#include <libsoup/soup.h>

/** Sets the headers that every response has (WEB_HEADERS). */
void orch_web_put_headers(SoupServerMessage *message);
void orch_web_put_bytes(SoupServerMessage *message, unsigned status, const char *type,
                        GBytes *bytes);
/** Sets an error as JSON, which no browser keeps. */
void orch_web_put_error(SoupServerMessage *message, unsigned status, const char *text,
                        const char *hint);

#endif
