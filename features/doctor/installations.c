/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program is asked for its version and not recognised by its path: the script of a Python package
 * and a link lead to the same program. */
#include "features/doctor/installations.h"

#include "core/cli/cli.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAMS_MAX = 8, MODULE_BYTES_MAX = 1 << 20 };
#define ANSWER_S 10.0

/* What a program prints, without blanks around it; NULL when it fails. Caller frees. */
static char *answer_of(const char *const *argv)
{
    const struct orch_subprocess command = {
        .argv = argv, .timeout_s = ANSWER_S, .output_bytes_max = 1 << 16};
    struct orch_subprocess_end end = {0};
    if (!orch_subprocess_run(&command, &end, NULL))
        return NULL;
    char *answer = end.status == 0 ? g_strdup(g_strstrip(end.out->str)) : NULL;
    orch_subprocess_end_clear(&end);
    return answer;
}

static void look_at_program(struct orch_findings *f, const char *path, const char *own)
{
    const char *const argv[] = {path, "--version", NULL};
    g_autofree char *answer = answer_of(argv);
    if (g_strcmp0(answer, own) == 0)
        return;
    g_autofree char *detail = g_strdup_printf("'%s' is %s, this program is %s", path,
                                              answer && *answer ? answer : "no orch", own);
    orch_findings_add(f, "other installation", "problem", detail, "remove one of them");
}

static void look_at_path(struct orch_findings *f, const char *own)
{
    g_auto(GStrv) folders = g_strsplit(g_getenv("PATH") ? g_getenv("PATH") : "", ":", -1);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(seen, g_file_read_link("/proc/self/exe", NULL));
    for (char **folder = folders; *folder && g_hash_table_size(seen) < PROGRAMS_MAX; folder++) {
        if (!g_path_is_absolute(*folder))
            continue;
        g_autofree char *path = g_build_filename(*folder, "orch", NULL);
        char *real = realpath(path, NULL);
        if (real && access(real, X_OK) == 0 && g_file_test(real, G_FILE_TEST_IS_REGULAR) &&
            g_hash_table_add(seen, g_strdup(real)))
            look_at_program(f, path, own);
        free(real);
    }
}

/* The version that a Python file assigns to __version__; NULL without one. Caller frees. */
static char *version_in(const char *path)
{
    static const char begin[] = "\n__version__ = \"";
    g_autofree char *text = NULL;
    if (!orch_file_read(path, MODULE_BYTES_MAX, &text, NULL, NULL) ||
        !strstr(text, "Records a Python program as a run of orch."))
        return NULL;
    const char *at = strstr(text, begin);
    return at ? g_strndup(at + strlen(begin), strcspn(at + strlen(begin), "\"\n")) : NULL;
}

/* The module is found without running it; the current folder does not count. */
static void look_at_module(struct orch_findings *f)
{
    static const char program[] = "import sys\n"
                                  "sys.path = [p for p in sys.path if p]\n"
                                  "import importlib.util as u\n"
                                  "s = u.find_spec('orch')\n"
                                  "print(s.origin if s and s.origin else '')";
    const char *const argv[] = {"python3", "-c", program, NULL};
    g_autofree char *path = answer_of(argv);
    if (!path || !*path)
        return;
    g_autofree char *version = version_in(path);
    if (!version) {
        g_autofree char *detail =
            g_strdup_printf("python3 imports '%s', which is another project's module", path);
        orch_findings_add(f, "Python module", "problem", detail,
                          "pip uninstall orch; pip install --force-reinstall orch-run");
    } else if (strcmp(version, ORCH_VERSION) != 0) {
        g_autofree char *detail = g_strdup_printf("'%s' is of version %s, this program of %s", path,
                                                  version, ORCH_VERSION);
        orch_findings_add(f, "Python module", "problem", detail,
                          "install both from one place ('orch help install')");
    } else {
        orch_findings_add(f, "Python module", "ok", path, "");
    }
}

void orch_installations_look(struct orch_findings *findings)
{
    g_autofree char *own = orch_cli_version();
    look_at_path(findings, own);
    look_at_module(findings);
}
