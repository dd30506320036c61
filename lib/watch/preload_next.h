/* SPDX-License-Identifier: MIT */
/* The functions of the C library before which orch's own stand. */
#ifndef ORCH_WATCH_PRELOAD_NEXT_H
#define ORCH_WATCH_PRELOAD_NEXT_H

/** Each function that orch stands before, once. The list of those that orch-host shows to its
 * plugins (CMakeLists.txt) is read from here. */
/* clang-format off */
#define ORCH_WATCH_FUNCTIONS(F)                                                                    \
    F(open) F(open64) F(openat) F(openat64) F(__open_2) F(__open64_2) F(__openat_2)                \
    F(__openat64_2) F(creat) F(creat64) F(fopen) F(fopen64) F(freopen) F(freopen64)                \
    F(mkstemp) F(mkstemp64) F(mkostemp) F(mkostemp64) F(mkstemps) F(mkstemps64) F(mkostemps)       \
    F(mkostemps64) F(close) F(dup2) F(dup3) F(fclose) F(syscall)                                   \
    F(rename) F(renameat) F(renameat2) F(link) F(linkat) F(unlink) F(unlinkat) F(remove)           \
    F(truncate) F(truncate64) F(chmod) F(fchmodat) F(chown) F(fchownat) F(utime) F(utimes)         \
    F(utimensat) F(fchmod) F(fchown) F(futimens) F(setxattr) F(removexattr)                        \
    F(opendir) F(fdopendir) F(getdents64) F(glob) F(glob64) F(scandir) F(scandir64)                \
    F(stat) F(stat64) F(__xstat) F(__xstat64)                                                      \
    F(chdir) F(fchdir) F(chroot) F(unshare) F(nftw) F(nftw64) F(fts_open) F(fts64_open)            \
    F(execve) F(execv) F(execvp) F(execvpe) F(execl) F(execle) F(execlp) F(fexecve) F(execveat)    \
    F(posix_spawn) F(posix_spawnp) F(system) F(popen)                                              \
    F(fstat) F(fstat64) F(__fxstat) F(__fxstat64) F(statx) F(read) F(__read_chk)                   \
    F(pread) F(pread64) F(__pread_chk) F(__pread64_chk) F(readv) F(fdopen) F(dup)                  \
    F(sendfile) F(sendfile64) F(copy_file_range) F(fcntl) F(fcntl64)                               \
    F(dlopen) F(dlmopen) F(_exit) F(_Exit)
/* clang-format on */

#define ORCH_WATCH_MEMBER(name) ORCH_WATCH_NEXT_##name,
enum orch_watch_next { ORCH_WATCH_FUNCTIONS(ORCH_WATCH_MEMBER) ORCH_WATCH_NEXT_COUNT };

/** The next function of that name, which may belong to another preloaded library; NULL: none. */
void *orch_watch_next(enum orch_watch_next which);

/** Begins the definition of a function that stands before the C library's of that name, whose
 * header may declare it with other types and attributes. ORCH_WATCH_NEXT(name) is then the next
 * one. */
#define ORCH_WATCH_BEFORE(type, name, ...)                                                         \
    typedef type orch_watch_type_##name(__VA_ARGS__);                                              \
    __attribute__((visibility("default")))                                                         \
    type orch_watch_before_##name(__VA_ARGS__) __asm__(#name);                                     \
    type orch_watch_before_##name(__VA_ARGS__)
#define ORCH_WATCH_NEXT(name) ((orch_watch_type_##name *)orch_watch_next(ORCH_WATCH_NEXT_##name))
/** Calls the next function; one that is not there fails. */
#define ORCH_WATCH_CALL_NEXT(name, ...)                                                            \
    (ORCH_WATCH_NEXT(name) ? ORCH_WATCH_NEXT(name)(__VA_ARGS__) : orch_watch_missing())

/** Looks all of them up, because that takes a lock. */
void orch_watch_find_next(void);

/** What a function returns that is not there: -1 with ENOSYS. */
int orch_watch_missing(void);

#endif
