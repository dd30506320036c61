/* SPDX-License-Identifier: MIT */
#include "lib/watch/preload_path.h"

#include "lib/watch/preload_raw.h"

#include <fcntl.h>
#include <string.h>

static struct orch_watch_map *watched; /* whose roots */

/* ---- the current folder -----------------------------------------------------------------------
 */

/* The text is copied without a lock: a reader looks whether `state` is what it was. Only the
 * process that began fills it: a child made by vfork shares this memory, and may have another
 * folder. */
enum { FOLDER_UNKNOWN, FOLDER_FILLING, FOLDER_KNOWN, FOLDER_STATES = 4 };

static struct {
    unsigned long state; /* number of changes * FOLDER_STATES + one of these */
    int pid;
    size_t length;
    char text[ORCH_WATCH_PATH_BYTES];
} folder;

static bool copy_folder(struct orch_watch_path *path, unsigned long state)
{
    if (state % FOLDER_STATES != FOLDER_KNOWN)
        return false;
    path->length = folder.length < sizeof path->text ? folder.length : 0;
    memcpy(path->text, folder.text, path->length);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&folder.state, __ATOMIC_RELAXED) == state;
}

static void keep_folder(const struct orch_watch_path *path, unsigned long state)
{
    unsigned long then = state;
    if (state % FOLDER_STATES != FOLDER_UNKNOWN ||
        orch_watch_raw(SYS_getpid, 0, 0, 0, 0, 0, 0) !=
            __atomic_load_n(&folder.pid, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&folder.state, &then, state + FOLDER_FILLING, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    memcpy(folder.text, path->text, path->length);
    folder.length = path->length;
    then = state + FOLDER_FILLING;
    __atomic_compare_exchange_n(&folder.state, &then, state + FOLDER_KNOWN, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

void orch_watch_forget_folder(void)
{
    unsigned long state = __atomic_load_n(&folder.state, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&folder.state, &state,
                                        state - state % FOLDER_STATES + FOLDER_STATES, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

void orch_watch_never_keep_folder(void)
{
    __atomic_store_n(&folder.pid, 0, __ATOMIC_RELAXED);
    orch_watch_forget_folder();
}

static bool start_here(struct orch_watch_path *path)
{
    unsigned long state = __atomic_load_n(&folder.state, __ATOMIC_ACQUIRE);
    if (copy_folder(path, state))
        return true;
    long n = ORCH_WATCH_CALL(SYS_getcwd, path->text, sizeof path->text, 0, 0);
    path->length = n > 0 ? (size_t)n - 1 : 0;
    if (n <= 1 || path->text[0] != '/')
        return false;
    if (path->length == 1) /* the folder "/" */
        path->length = 0;
    keep_folder(path, state);
    return true;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

bool orch_watch_path_behind(const char *link, struct orch_watch_path *path)
{
    long n = ORCH_WATCH_CALL(SYS_readlinkat, AT_FDCWD, link, path->text, sizeof path->text);
    if (n <= 0 || n >= (long)sizeof path->text || path->text[0] != '/')
        return false;
    path->length = n == 1 ? 0 : (size_t)n; /* the folder "/" */
    path->text[path->length] = 0;
    path->is_unsure = false;
    return true;
}

bool orch_watch_path_of(int fd, struct orch_watch_path *path)
{
    char link[32] = "/proc/self/fd/", digits[12];
    size_t at = orch_watch_length(link), count = 0;
    for (unsigned rest = (unsigned)fd; count == 0 || rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        link[at++] = digits[--count];
    link[at] = 0;
    return orch_watch_path_behind(link, path);
}

/* Appends the parts of `text` between slashes. ".." takes a part away again. */
static bool append(struct orch_watch_path *path, const char *text)
{
    size_t named = 0; /* parts of `text` that are there */
    while (*text) {
        while (*text == '/')
            text++;
        size_t n = (size_t)(strchrnul(text, '/') - text);
        if (n == 2 && text[0] == '.' && text[1] == '.') {
            path->is_unsure |= named > 0;
            named -= named > 0;
            while (path->length && path->text[--path->length] != '/')
                ;
        } else if (n && !(n == 1 && text[0] == '.')) {
            if (path->length + n + 2 > sizeof path->text)
                return false;
            path->text[path->length++] = '/';
            memcpy(path->text + path->length, text, n);
            path->length += n;
            named++;
        }
        text += n;
    }
    path->text[path->length] = 0;
    return true;
}

/* True for files that never count: of version control, of orch, and of an interpreter. */
static bool is_excluded(const char *below)
{
    static const char *const parts[] = {"/.git/", "/.orch/", "/site-packages/", "/dist-packages/",
                                        "/node_modules/"};
    for (; (below = strchr(below, '/')); below++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (below[1] == parts[i][1] && orch_watch_begins(below, parts[i]))
                return true;
    return false;
}

/* The part of a path below a root; NULL: it lies below none. */
static const char *below_root(const char *path)
{
    for (const char *root = watched->roots; *root; root += orch_watch_length(root) + 1) {
        size_t n = 0;
        while (root[n] && root[n] == path[n])
            n++;
        if (!root[n] && (path[n] == '/' || !path[n]))
            return path + n;
    }
    return NULL;
}

/* True for folders from which no link leads to a user's files. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/",  "/lib/", "/lib64/", "/lib32/", "/bin/",
                                          "/sbin/", "/etc/", "/sys/",   "/dev/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (orch_watch_begins(path, folders[i]))
            return !orch_watch_begins(path, "/dev/shm/");
    return false;
}

bool orch_watch_resolve(struct orch_watch_path *path, int dirfd, const char *name)
{
    path->length = 0;
    path->is_unsure = false;
    path->text[0] = 0;
    return (*name == '/' ||
            (dirfd == AT_FDCWD ? start_here(path) : orch_watch_path_of(dirfd, path))) &&
           append(path, name);
}

/* ---- what the kernel says ---------------------------------------------------------------------
 */

/* Copies the folder's part of a name: "." when it has none. Returns its last part; NULL when the
 * name ends with a slash, "." or "..". */
static const char *folder_of(const char *name, char *out, size_t bytes)
{
    const char *base = orch_watch_base(name);
    size_t n = (size_t)(base - name);
    if (!*base || orch_watch_same(base, ".") || orch_watch_same(base, "..") || n + 2 > bytes)
        return NULL;
    for (size_t i = 0; i < n; i++)
        out[i] = name[i];
    out[n] = 0;
    if (n == 0)
        orch_watch_copy(out, bytes, ".");
    return base;
}

__attribute__((noinline)) static bool ask(struct orch_watch_path *path, int dirfd, const char *name,
                                          int fd, enum orch_watch_leaf leaf)
{
    char above[ORCH_WATCH_PATH_BYTES];
    const char *base = NULL;
    if (fd >= 0)
        return orch_watch_path_of(fd, path);
    if (leaf == ORCH_WATCH_ITSELF)
        base = folder_of(name, above, sizeof above);
    long opened = ORCH_WATCH_CALL(SYS_openat, dirfd, base ? above : name, O_PATH | O_CLOEXEC, 0);
    if (opened < 0)
        return false;
    bool ok = orch_watch_path_of((int)opened, path);
    ORCH_WATCH_CALL(SYS_close, opened, 0, 0, 0);
    return ok && (!base || append(path, base));
}

/* True for a path that the kernel gives to a file without a name. */
static bool is_deleted(const struct orch_watch_path *path)
{
    static const char mark[] = " (deleted)";
    size_t n = sizeof mark - 1;
    return path->length > n && orch_watch_same(path->text + path->length - n, mark);
}

/* What the kernel says of a file whose text does not say enough. */
static bool locate_by_kernel(struct orch_watch_path *path, int dirfd, const char *name, int fd,
                             enum orch_watch_leaf leaf, bool may_count)
{
    if (ask(path, dirfd, name, fd, leaf)) {
        const char *below = is_deleted(path) ? NULL : below_root(path->text);
        return below && !is_excluded(below);
    }
    if (may_count)
        __atomic_fetch_add(&watched->unnamed, 1, __ATOMIC_RELAXED);
    return false;
}

bool orch_watch_locate(struct orch_watch_path *path, int dirfd, const char *name, int fd,
                       enum orch_watch_leaf leaf)
{
    bool is_known = orch_watch_resolve(path, dirfd, name);
    const char *below = is_known ? below_root(path->text) : NULL;
    if (below && !path->is_unsure)
        return !is_excluded(below);
    bool is_outside = !below && (is_of_system(path->text) || is_excluded(path->text));
    if (is_known && is_outside)
        return false;
    return locate_by_kernel(path, dirfd, name, fd, leaf, below || (!is_known && !is_outside));
}

void orch_watch_path_begin(struct orch_watch_map *map, int pid)
{
    watched = map;
    folder.pid = pid;
}
