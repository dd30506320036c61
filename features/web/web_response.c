/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/web_response.h"

#include "features/web/internal.h"

void orch_web_put_headers(SoupServerMessage *message)
{
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
    for (int i = 0; WEB_HEADERS[i]; i += 2)
        soup_message_headers_replace(headers, WEB_HEADERS[i], WEB_HEADERS[i + 1]);
}

void orch_web_put_bytes(SoupServerMessage *message, unsigned status, const char *type,
                        GBytes *bytes)
{
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
    orch_web_put_headers(message);
    soup_message_headers_replace(headers, "Content-Type", type);
    soup_server_message_set_status(message, status, NULL);
    soup_message_body_append_bytes(soup_server_message_get_response_body(message), bytes);
    soup_message_body_complete(soup_server_message_get_response_body(message));
}

void orch_web_put_error(SoupServerMessage *message, unsigned status, const char *text,
                        const char *hint)
{
    g_autoptr(GBytes) bytes = orch_web_error_bytes(text, hint, "request");
    soup_message_headers_replace(soup_server_message_get_response_headers(message), "Cache-Control",
                                 "no-store");
    if (status == 503)
        soup_message_headers_replace(soup_server_message_get_response_headers(message),
                                     "Retry-After", "1");
    orch_web_put_bytes(message, status, "application/json", bytes);
}
