/* SPDX-License-Identifier: MIT */
#include "lib/base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <unistd.h>

void orch_ignore_write_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static void set_attributes(const struct orch_spawn *program, posix_spawnattr_t *out)
{
    sigset_t none, all;
    short group = program->shares_group ? 0 : POSIX_SPAWN_SETPGROUP;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(out);
    posix_spawnattr_setflags(out, (short)(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    posix_spawnattr_setpgroup(out, 0);
    posix_spawnattr_setsigmask(out, &none);
    posix_spawnattr_setsigdefault(out, &all);
}

static void set_actions(const struct orch_spawn *program, posix_spawn_file_actions_t *out)
{
    posix_spawn_file_actions_init(out);
    for (int i = 0; i < 3; i++) {
        const int flags = i == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
        if (program->files[i])
            posix_spawn_file_actions_addopen(out, i, program->files[i], flags, program->file_mode);
        else if (program->fds[i] >= 0)
            posix_spawn_file_actions_adddup2(out, program->fds[i], i);
    }
    if (program->folder)
        posix_spawn_file_actions_addchdir_np(out, program->folder);
}

int orch_spawn(const struct orch_spawn *program, pid_t *out_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    set_actions(program, &actions);
    set_attributes(program, &attributes);
    int code = posix_spawnp(out_pid, program->argv[0], &actions, &attributes,
                            (char *const *)(uintptr_t)program->argv,
                            program->environment ? program->environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}
