/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file is read once, and orch-host gets its digest and loads only those bytes, so a file that
 * is replaced afterwards is not loaded. */
#include "core/plugin/admit.h"

#include "core/plugin/search.h"
#include "core/plugin/trust.h"
#include "lib/base/elf.h"
#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

enum { BUILD_FILE_BYTES_MAX = 256 };

void orch_admitted_clear(struct orch_admitted *admitted)
{
    g_clear_pointer(&admitted->sha256, g_free);
    g_clear_pointer(&admitted->code_id, g_free);
}

/* A build tree holds NAME.build beside NAME.so: a digest of the sources that it was built from. An
 * installation has no such file. */
static char *own_build(const char *path)
{
    g_autofree char *stem = g_strndup(path, strlen(path) - strlen(".so"));
    g_autofree char *file = g_strconcat(stem, ".build", NULL);
    char *text = NULL;
    if (!orch_file_read(file, BUILD_FILE_BYTES_MAX, &text, NULL, NULL))
        return NULL;
    g_strstrip(text);
    if (!*text || strspn(text, "0123456789abcdef") != strlen(text))
        g_clear_pointer(&text, g_free);
    return text;
}

static void refuse(const char *path, GError **error)
{
    g_autofree char *quoted = g_shell_quote(path);
    g_autofree char *hint =
        g_strdup_printf("if you know where it comes from: orch plugin trust %s", quoted);
    orch_error_set(error, ORCH_ERROR_TRUST, hint,
                   "plugin '%s' is not trusted, so it was not loaded%s", path,
                   orch_trust_had(path) ? ": the file has changed since you trusted it" : "");
}

bool orch_admit(const char *path, orch_plugin_consent_fn consent, void *ctx,
                struct orch_admitted *out, GError **error)
{
    *out = (struct orch_admitted){0};
    if (orch_search_is_own(path)) {
        out->code_id = own_build(path);
        return true;
    }
    g_autofree char *bytes = NULL;
    size_t length = 0;
    char sha256[ORCH_SHA256_CHARS];
    if (!orch_file_read(path, ORCH_PLUGIN_BYTES_MAX, &bytes, &length, error)) {
        if (error && *error)
            (*error)->code = ORCH_ERROR_PLUGIN;
        return false;
    }
    orch_sha256(bytes, length, sha256);
    if (!orch_trust_has(sha256) && !(consent && consent(path, sha256, ctx))) {
        refuse(path, error);
        return false;
    }
    out->sha256 = g_strdup(sha256);
    out->code_id = orch_elf_build_id(bytes, length);
    if (!out->code_id)
        out->code_id = g_strconcat("sha256:", sha256, NULL);
    return true;
}
