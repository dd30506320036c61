/* SPDX-License-Identifier: MIT */
/*
 * orch-host: the program between orch and a plugin.
 *
 *     orch-host TRIALDIR                   runs the trial of TRIALDIR/trial.json, writes its
 * journal orch-host --job TRIALDIR             the same in a batch job; its exit status is the
 * trial's orch-host --describe X.so [SHA256]   prints a compiled plugin's manifest orch-host
 * --batch X.so [SHA256]      answers hello, check and cost for it, line by line orch-host --rank
 * runs one process of an MPI trial; mpirun or srun starts it
 *
 * With a SHA-256 only a file with that digest is loaded.
 *
 * orch never loads a plugin itself, so a plugin can only affect this process. Exit status 0: the
 * journal has its end event (whatever the verdict), or all queries were answered.
 */
#include "core/host/batch_job.h"
#include "core/host/rank_process.h"
#include "core/host/serve.h"
#include "core/host/supervise.h"

#include "lib/base/spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char USAGE[] = "usage: orch-host TRIALDIR\n"
                            "       orch-host --job TRIALDIR\n"
                            "       orch-host --describe PLUGIN.so [SHA256]\n"
                            "       orch-host --batch PLUGIN.so [SHA256]\n";

/* Opens closed standard descriptors, because otherwise the next opened file would take their
 * numbers. */
static void ensure_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int finish(bool ok, GError **error)
{
    if (!ok)
        fprintf(stderr, "orch-host: %s\n", (*error)->message);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *option;
        bool (*serve)(const char *path, const char *sha256, GError **error);
    } modes[] = {{"--describe", orch_serve_describe}, {"--batch", orch_serve_batch}};
    g_autoptr(GError) error = NULL;
    ensure_standard_descriptors();
    for (unsigned i = 0; (argc == 3 || argc == 4) && i < G_N_ELEMENTS(modes); i++)
        if (strcmp(argv[1], modes[i].option) == 0)
            return finish(modes[i].serve(argv[2], argv[3], &error), &error);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(USAGE, stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], ORCH_RANK_OPTION) == 0)
        return orch_rank_main(argc, argv);
    orch_ignore_write_signals();
    if (argc == 3 && strcmp(argv[1], "--job") == 0) {
        int status = orch_host_job(argv[2], argc, argv, &error);
        if (error)
            fprintf(stderr, "orch-host: %s\n", error->message);
        return status;
    }
    if (argc == 2 && argv[1][0] != '-')
        return finish(orch_host_supervise(argv[1], argc, argv, &error), &error);
    fputs(USAGE, stderr);
    return 2;
}
