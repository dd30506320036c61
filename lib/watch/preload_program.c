/* SPDX-License-Identifier: MIT */
#include "lib/watch/preload_program.h"

#include "lib/watch/preload_raw.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 1024, SCRIPT_DEPTH_MAX = 4, SEGMENTS_MAX = 256 };

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = 0 }; /* not compared */
#endif

struct head {
    char bytes[HEAD_BYTES + 1];
    long length;
};

/* True when the program runs with rights that its caller does not have: the loader then ignores
 * LD_PRELOAD. */
static bool is_privileged(int fd)
{
    struct stat info;
#ifdef SYS_newfstatat
    if (ORCH_WATCH_CALL(SYS_fstat, fd, &info, 0, 0) != 0)
        return false;
#else
    if (fstat(fd, &info) != 0)
        return false;
#endif
    long uid = ORCH_WATCH_CALL(SYS_getuid, 0, 0, 0, 0);
    long gid = ORCH_WATCH_CALL(SYS_getgid, 0, 0, 0, 0);
    bool changes_user = (info.st_mode & S_ISUID) && info.st_uid != (uid_t)uid;
    bool changes_group =
        (info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && info.st_gid != (gid_t)gid;
    return changes_user || changes_group ||
           (uid != 0 && ORCH_WATCH_CALL(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0);
}

/* True when a program of this machine names a loader, or is one. */
static bool has_loader(int fd, const struct head *head, const char *path)
{
    const ElfW(Ehdr) *elf = (const void *)head->bytes;
    if (head->length < (long)sizeof *elf ||
        elf->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        (MACHINE != 0 && elf->e_machine != MACHINE))
        return false;
    for (unsigned i = 0; i < elf->e_phnum && i < SEGMENTS_MAX; i++) {
        ElfW(Phdr) segment;
        long at = (long)(elf->e_phoff + (unsigned long)i * elf->e_phentsize);
        if (orch_watch_raw(SYS_pread64, fd, (long)&segment, sizeof segment, at, 0, 0) !=
            sizeof segment)
            return true;
        if (segment.p_type == PT_INTERP)
            return true;
    }
    return orch_watch_begins(orch_watch_base(path), "ld");
}

/* Puts the end of the interpreter's path behind "#!". NULL: it has none. */
static char *interpreter_of(struct head *head)
{
    char *name = head->bytes + 2;
    while (*name == ' ' || *name == '\t')
        name++;
    size_t n = 0;
    while (name[n] && name[n] != ' ' && name[n] != '\t' && name[n] != '\n')
        n++;
    name[n] = 0;
    return n ? name : NULL;
}

static bool loads(int dirfd, const char *path, unsigned depth)
{
    struct head head;
    long fd = ORCH_WATCH_CALL(SYS_openat, dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return true;
    head.length = ORCH_WATCH_CALL(SYS_pread64, fd, head.bytes, HEAD_BYTES, 0);
    head.bytes[head.length > 0 ? head.length : 0] = 0;
    bool is_elf = head.length >= SELFMAG && orch_watch_begins(head.bytes, ELFMAG);
    bool ok = !is_privileged((int)fd) && (!is_elf || has_loader((int)fd, &head, path));
    ORCH_WATCH_CALL(SYS_close, fd, 0, 0, 0);
    if (!ok || is_elf || !orch_watch_begins(head.bytes, "#!") || depth == SCRIPT_DEPTH_MAX)
        return ok;
    const char *interpreter = interpreter_of(&head);
    return !interpreter || loads(AT_FDCWD, interpreter, depth + 1);
}

bool orch_watch_program_loads(int dirfd, const char *path)
{
    return loads(dirfd, path, 0);
}

static bool is_executable(const char *path)
{
    struct stat info;
#ifdef SYS_newfstatat
    bool is_file = ORCH_WATCH_CALL(SYS_newfstatat, AT_FDCWD, path, &info, 0) == 0;
#else
    bool is_file = stat(path, &info) == 0;
#endif
    return is_file && S_ISREG(info.st_mode) &&
           ORCH_WATCH_CALL(SYS_faccessat, AT_FDCWD, path, X_OK, 0) == 0;
}

bool orch_watch_program_find(const char *file, const char *folders,
                             char path[ORCH_WATCH_PATH_BYTES])
{
    size_t bytes = ORCH_WATCH_PATH_BYTES, length = orch_watch_length(file);
    if (length + 1 > bytes || !length)
        return false;
    orch_watch_copy(path, bytes, file);
    if (orch_watch_base(file) != file)
        return true;
    for (const char *folder = folders ? folders : "/bin:/usr/bin"; folder;) {
        size_t n = 0;
        while (folder[n] && folder[n] != ':')
            n++;
        if (n + length + 2 <= bytes) {
            for (size_t i = 0; i < n; i++)
                path[i] = folder[i];
            path[n] = '/';
            orch_watch_copy(path + n + (n > 0), bytes - n - 1, file);
            if (is_executable(path))
                return true;
        }
        folder = folder[n] ? folder + n + 1 : NULL;
    }
    return false;
}
