/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watched FOLDER OUT COMMAND...: runs a command as a trial's program runs, with orch-watch.so, and
 * writes the rows and gaps of what it did below FOLDER to OUT, as in opened.json. The library is
 * the one that ORCH_WATCH_LIBRARY names. Ends as the command does. */
#include "core/host/opened_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int run(const struct orch_watch_memory *memory, const char *library, char **words)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        environ = orch_watch_memory_environment(memory, environ);
        environ = orch_watch_library_environment(library, environ);
        execvp(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    const char *library = getenv("ORCH_WATCH_LIBRARY");
    if (argc < 4 || !library)
        return 2;
    struct opened_place place = {argv[1], (char[]){""}};
    GPtrArray *roots = g_ptr_array_new(), *places = g_ptr_array_new();
    g_ptr_array_add(roots, argv[1]);
    g_ptr_array_add(places, &place);
    environ = g_strdupv(environ);
    struct orch_watch_memory *memory = orch_watch_memory_new(roots);
    int status = run(memory, library, argv + 3);
    json_t *gaps = json_array();
    g_autofree char *rows = orch_opened_rows(memory, places, argv[1], gaps);
    json_t *files = json_loads(rows, 0, NULL);
    struct orch_watch_gaps counts = orch_watch_memory_gaps(memory);
    json_t *all = json_pack("{s:I s:o s:o}", "attached", (json_int_t)counts.attached, "gaps", gaps,
                            "files", files);
    bool ok = json_dump_file(all, argv[2], JSON_INDENT(1) | JSON_SORT_KEYS) == 0;
    json_decref(all);
    orch_watch_memory_free(memory);
    g_ptr_array_unref(roots);
    g_ptr_array_unref(places);
    g_strfreev(environ);
    return ok ? status : 2;
}
