/* SPDX-License-Identifier: MIT */
/*
 * PATH.orch-tmp-MACHINE-BOOT-PID-START-NUMBER, with an optional suffix (SQLite appends "-wal").
 *
 * MACHINE is a hash of the machine id, the host name and the pid namespace, so that hosts and
 * containers that share a folder do not touch each other's files. On this machine, files of another
 * boot or of a process that no longer runs are leftovers. Rejected alternatives: a maximum age,
 * which fails for long exports and wrong clocks; a lock, which not every file system supports.
 */
#include "lib/base/temporary.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_CHARS = 8 };

static const char MARK[] = ".orch-tmp-";

static void hash_of(const char *text, char out[HASH_CHARS + 1])
{
    char sha256[ORCH_SHA256_CHARS];
    orch_sha256(text, strlen(text), sha256);
    g_strlcpy(out, sha256, HASH_CHARS + 1);
}

static void machine_hash(char out[HASH_CHARS + 1])
{
    g_autofree char *id = NULL;
    char names[64] = "";
    ssize_t length = readlink("/proc/self/ns/pid", names, sizeof names - 1);
    g_file_get_contents("/etc/machine-id", &id, NULL, NULL);
    names[MAX(length, 0)] = 0;
    g_autofree char *text =
        g_strdup_printf("orch tmp %s %s %s", id ? id : "", g_get_host_name(), names);
    hash_of(text, out);
}

/** The parts of such a name. */
struct maker {
    char machine[HASH_CHARS + 1], boot[HASH_CHARS + 1];
    long long pid, start;
};

static bool parse(const char *name, struct maker *out)
{
    const char *mark = g_strrstr(name, MARK);
    unsigned number;
    return mark && sscanf(mark + strlen(MARK), "%8[0-9a-f]-%8[0-9a-f]-%lld-%lld-%u", out->machine,
                          out->boot, &out->pid, &out->start, &number) == 5;
}

static bool is_dead(const struct maker *maker, const struct orch_process *self)
{
    struct orch_process process = *self;
    char boot[HASH_CHARS + 1];
    hash_of(self->boot_id, boot);
    process.pid = maker->pid;
    process.start = maker->start;
    return strcmp(maker->boot, boot) != 0 || !orch_process_is_alive(&process);
}

static void sweep(const char *folder)
{
    struct orch_process self;
    struct maker maker;
    char machine[HASH_CHARS + 1];
    GDir *dir = orch_process_get(getpid(), &self) ? g_dir_open(folder, 0, NULL) : NULL;
    machine_hash(machine);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        struct stat info;
        if (parse(name, &maker) && strcmp(maker.machine, machine) == 0 && is_dead(&maker, &self) &&
            lstat(path, &info) == 0 && info.st_uid == geteuid())
            orch_tree_remove(path, NULL);
    }
    if (dir)
        g_dir_close(dir);
}

char *orch_temporary_name(const char *path)
{
    static unsigned serial;
    struct orch_process self = {.pid = getpid()};
    char machine[HASH_CHARS + 1], boot[HASH_CHARS + 1];
    g_autofree char *folder = g_path_get_dirname(path);
    sweep(folder);
    orch_process_get(getpid(), &self);
    machine_hash(machine);
    hash_of(self.boot_id, boot);
    return g_strdup_printf("%s%s%s-%s-%lld-%lld-%u", path, MARK, machine, boot, (long long)self.pid,
                           (long long)self.start, serial++);
}

char *orch_temporary_folder(const char *what, GError **error)
{
    g_autofree char *base = g_strconcat(g_get_tmp_dir(), "/orch-", what, NULL);
    g_autofree char *name = orch_temporary_name(base);
    /* random letters, because others may make names in that folder, too */
    g_autofree char *path = g_strconcat(name, "-XXXXXX", NULL);
    if (g_mkdtemp(path))
        return g_steal_pointer(&path);
    orch_error_set(error, ORCH_ERROR_IO, "set TMPDIR to a writable folder",
                   "cannot make a temporary folder in '%s': %s", g_get_tmp_dir(),
                   g_strerror(errno));
    return NULL;
}
