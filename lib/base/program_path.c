/* SPDX-License-Identifier: MIT */
/* What is built on a user's machine for an installation lies in the user's cache and not beside the
 * program, which may be read-only, belong to several users, or be removed by pip. Its folder there
 * is named by the installation and the sources, so that another version never loads it. */
#include "lib/base/program_path.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_parts.h"

#include <string.h>
#include <unistd.h>

enum { DIGEST_BYTES_MAX = 256, KEY_CHARS = 16 };

char *orch_program_path(const char *part, GError **error)
{
    static const struct {
        const char *part;
        const char *candidates[4]; /* relative to the folder of the running program */
    } places[] = {
        {"orch-host", {"orch-host", "../libexec/orch/orch-host", "../orch-host"}},
        {"orch-web", {"orch-web", "../libexec/orch/orch-web"}},
        {"orch-cairo.so",
         {"orch-cairo.so", "../lib/orch/orch-cairo.so", "../../lib/orch/orch-cairo.so"}},
        {"libcurl.so.4",
         {"libcurl.so.4", "../lib/orch/lib/libcurl.so.4", "../../lib/orch/lib/libcurl.so.4"}},
        {"adapter", {"adapter", "../share/orch/adapter", "../../share/orch/adapter"}},
        {"orch-watch.so",
         {"orch-watch.so", "../lib/orch/orch-watch.so", "../../lib/orch/orch-watch.so",
          "../orch-watch.so"}},
        {"plugins", {"plugins", "../lib/orch/plugins", "../plugins", "../../lib/orch/plugins"}},
        {"manual", {"../share/doc/orch/docs", "../docs", "docs", "../../share/doc/orch/docs"}},
        {"share", {"share", "../share/orch", "../share", "../../share/orch"}},
    };
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    g_autofree char *folder = NULL;
    if (n > 0) {
        exe[n] = 0;
        folder = g_path_get_dirname(exe);
    }
    for (unsigned i = 0; folder && i < G_N_ELEMENTS(places); i++) {
        for (unsigned j = 0; strcmp(places[i].part, part) == 0 && j < 4 && places[i].candidates[j];
             j++) {
            g_autofree char *path = g_build_filename(folder, places[i].candidates[j], NULL);
            if (access(path, F_OK) == 0)
                return g_canonicalize_filename(path, NULL);
        }
    }
    orch_error_set(error, ORCH_ERROR_IO, orch_program_way(ORCH_PART_OWN),
                   "cannot find '%s' in orch's installation", part);
    return NULL;
}

char *orch_program_built_folder(void)
{
    g_autofree char *adapter = orch_program_path("adapter", NULL);
    g_autofree char *plugins = adapter ? orch_program_path("plugins", NULL) : NULL;
    g_autofree char *digest_path = plugins ? g_build_filename(adapter, "digest", NULL) : NULL;
    g_autofree char *digest = NULL;
    if (!digest_path || !orch_file_read(digest_path, DIGEST_BYTES_MAX, &digest, NULL, NULL))
        return NULL;
    g_autofree char *named = g_strdup_printf("%s\n%s", plugins, digest);
    char key[ORCH_SHA256_CHARS];
    orch_sha256(named, strlen(named), key);
    key[KEY_CHARS] = 0;
    return g_build_filename(g_get_user_cache_dir(), "orch", "built", key, NULL);
}

char *orch_program_module(const char *name)
{
    g_autofree char *plugins = orch_program_path("plugins", NULL);
    if (!plugins)
        return NULL;
    g_autofree char *folder = orch_program_built_folder();
    char *built = folder ? g_build_filename(folder, name, NULL) : NULL;
    if (built && access(built, F_OK) == 0)
        return built;
    g_free(built);
    return g_build_filename(plugins, "common", name, NULL);
}
