/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory that a trial's processes and its host share: bounds, halves of records, and processes
 * that are killed. The functions before the C library's are linked into this program. */
#include "core/host/opened_files.h"
#include "core/host/opened_rows.h"
#include "lib/base/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

struct fixture {
    char *folder;
    GPtrArray *roots;
    struct orch_watch_memory *memory;
    struct orch_watch_map *map; /* as a process of the trial has it */
};

static int set_up(void **state)
{
    struct fixture *f = g_new0(struct fixture, 1);
    g_autofree char *made = g_dir_make_tmp("orch-watch-XXXXXX", NULL);
    f->folder = realpath(made, NULL);
    f->roots = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(f->roots, g_strdup(f->folder));
    f->memory = orch_watch_memory_new(f->roots);
    g_auto(GStrv) env = orch_watch_memory_environment(f->memory, NULL);
    int fd = open(g_environ_getenv(env, ORCH_WATCH_ENV), O_RDWR | O_CLOEXEC);
    f->map = mmap(NULL, sizeof *f->map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    *state = f;
    return f->map == MAP_FAILED || chdir(f->folder) != 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    bool ok = chdir("/") == 0 && orch_tree_remove(f->folder, NULL);
    munmap(f->map, sizeof *f->map);
    orch_watch_memory_free(f->memory);
    g_ptr_array_unref(f->roots);
    free(f->folder);
    g_free(f);
    return !ok;
}

static void make(const char *name)
{
    assert_true(g_file_set_contents(name, "x", 1, NULL));
}

/* Runs `work` in a process that notes what it does. Its pid. */
static pid_t start(struct fixture *f, void (*work)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        environ = orch_watch_memory_environment(f->memory, g_strdupv(environ));
        orch_watch_attach(NULL);
        work();
        _exit(0);
    }
    return pid;
}

static void run(struct fixture *f, void (*work)(void))
{
    int status;
    assert_int_equal(waitpid(start(f, work), &status, 0) > 0 && WIFEXITED(status), 1);
}

/* ---- records ----------------------------------------------------------------------------------
 */

struct seen {
    GString *text;           /* "KIND name\n" */
    unsigned count, unknown; /* without identity */
};

static void see(void *ctx, const struct orch_watch_entry *entry)
{
    static const char kinds[] = "-rwtsdmui";
    struct seen *seen = ctx;
    assert_true(entry->kind < ORCH_WATCH_KINDS && *entry->path == '/');
    seen->count++;
    seen->unknown += !entry->identity;
    if (seen->count < 100)
        g_string_append_printf(seen->text, "%c %s\n", kinds[entry->kind],
                               strrchr(entry->path, '/') + 1);
}

static struct seen all_of(struct fixture *f)
{
    struct seen seen = {.text = g_string_new(NULL)};
    orch_watch_memory_visit(f->memory, see, &seen);
    return seen;
}

static void assert_seen(struct fixture *f, const char *expected)
{
    struct seen seen = all_of(f);
    assert_string_equal(seen.text->str, expected);
    g_string_free(seen.text, TRUE);
}

static void use_files(void)
{
    close(open("a", O_RDONLY));
    close(open("a", O_RDONLY));
    close(open("new", O_WRONLY | O_CREAT, 0600));
    rename("new", "b");
    unlink("c");
    chmod("a", 0600);
}

static void keeps_one_record_of_each(void **state)
{
    make("a");
    make("c");
    run(*state, use_files);
    run(*state, use_files);
    assert_seen(*state, "r a\nw new\nw b\nw c\nt a\n");
}

enum { THREADS = 4, FILES = 500 };

static void thread_file(char name[32], long thread, int i)
{
    snprintf(name, 32, "of-%ld-%d", thread, i);
}

static void *open_many(void *thread)
{
    char name[32];
    for (int i = 0; i < FILES; i++) {
        thread_file(name, (long)thread, i);
        close(open(name, O_RDONLY));
    }
    return NULL;
}

static void open_in_threads(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, open_many, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void assert_known(void *ctx, const struct orch_watch_entry *entry)
{
    struct stat info;
    assert_int_equal(stat(entry->path, &info), 0);
    assert_non_null(entry->identity);
    assert_int_equal(entry->identity->inode, info.st_ino);
    ++*(int *)ctx;
}

/* Each thread closes its file while another one ends the look at it. */
static void threads_know_their_files(void **state)
{
    struct fixture *f = *state;
    int count = 0;
    char name[32];
    for (long thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < FILES; i++) {
            thread_file(name, thread, i);
            make(name);
        }
    run(f, open_in_threads);
    orch_watch_memory_visit(f->memory, assert_known, &count);
    assert_int_equal(count, THREADS * FILES);
}

static void leaves_out_what_has_no_room(void **state)
{
    struct fixture *f = *state;
    make("a");
    make("c");
    f->map->cursor = ORCH_WATCH_BYTES - 160; /* of one record */
    run(f, use_files);
    assert_int_equal(orch_watch_memory_gaps(f->memory).left_out > 0, 1);
    f->map->cursor = UINT64_MAX - 4096;
    run(f, use_files);
    struct seen seen = all_of(f);
    assert_int_equal(seen.count, 1);
    g_string_free(seen.text, TRUE);
}

static void knows_a_half_written_identity(void **state)
{
    struct fixture *f = *state;
    make("a");
    make("c");
    run(f, use_files);
    ((struct orch_watch_record *)f->map->records)->identity.size++;
    struct seen seen = all_of(f);
    assert_int_equal(seen.unknown, 1);
    g_string_free(seen.text, TRUE);
}

static void counts_roots_without_room(void **state)
{
    struct fixture *f = *state;
    g_ptr_array_add(f->roots, g_strnfill(ORCH_WATCH_ROOT_BYTES, 'x'));
    struct orch_watch_memory *memory = orch_watch_memory_new(f->roots);
    assert_int_equal(orch_watch_memory_gaps(memory).unwatched, 1);
    orch_watch_memory_free(memory);
}

/* A program may write there what it likes. */
static void reads_any_bytes(void **state)
{
    struct fixture *f = *state;
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < ORCH_WATCH_BYTES / 4; i++) {
            uint32_t word = g_rand_int(rand);
            if (i % 8 == 0 && round)
                word = ORCH_WATCH_MARK;
            memcpy(f->map->records + 4 * i, &word, sizeof word);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(f->map->index); i++)
            f->map->index[i] = g_rand_int(rand);
        f->map->cursor = round == 2 ? UINT64_MAX : ORCH_WATCH_BYTES / 2;
        struct seen seen = all_of(f);
        g_string_free(seen.text, TRUE);
        run(f, use_files);
    }
}

/* ---- kills ------------------------------------------------------------------------------------
 */

static void work_for_ever(void)
{
    for (unsigned i = 0;; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d-%u", (int)getpid(), i % 500);
        close(open(name, O_WRONLY | O_CREAT, 0600));
        close(open(name, O_RDONLY));
        rename(name, "last");
        unlink(name);
    }
}

static void no_lock_outlives_a_process(void **state)
{
    struct fixture *f = *state;
    make("a");
    make("c");
    for (unsigned round = 0; round < 10; round++) {
        pid_t pids[4];
        for (size_t i = 0; i < G_N_ELEMENTS(pids); i++)
            pids[i] = start(f, work_for_ever);
        while (!g_file_test("last", G_FILE_TEST_EXISTS))
            usleep(100);
        for (size_t i = 0; i < G_N_ELEMENTS(pids); i++) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
        }
        unlink("last");
    }
    run(f, use_files); /* ends */
    struct seen seen = all_of(f);
    assert_true(seen.count > 10);
    g_string_free(seen.text, TRUE);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static json_t *rows_of(struct fixture *f, json_t **out_gaps)
{
    struct opened_place place = {f->folder, (char[]){""}};
    g_autoptr(GPtrArray) places = g_ptr_array_new();
    g_ptr_array_add(places, &place);
    *out_gaps = json_array();
    g_autofree char *text = orch_opened_rows(f->memory, places, f->folder, *out_gaps);
    json_t *rows = json_loads(text, 0, NULL);
    assert_non_null(rows);
    return rows;
}

/* "KIND name" of each row, "+own" or "-own" where the trial changed it last. */
static void assert_rows(struct fixture *f, const char *expected)
{
    size_t i;
    json_t *gaps, *rows = rows_of(f, &gaps), *row;
    g_autoptr(GString) text = g_string_new(NULL);
    json_array_foreach(rows, i, row)
    {
        const json_t *own = json_object_get(json_array_get(row, 2), "own");
        g_string_append_printf(text, "%s %s%s\n", json_string_value(json_array_get(row, 0)),
                               json_string_value(json_array_get(row, 1)),
                               json_is_null(own) ? " -own"
                               : own             ? " +own"
                                                 : "");
    }
    assert_string_equal(text->str, expected);
    assert_int_equal(json_array_size(gaps), 0);
    json_decref(rows);
    json_decref(gaps);
}

static void change_files(void)
{
    close(open("a", O_RDONLY)); /* read, and its attributes changed */
    chmod("a", 0400);
    int b = open("b", O_RDWR); /* read and written */
    assert_int_equal(write(b, "b", 1), 1);
    close(b);
    close(open("c", O_WRONLY | O_TRUNC));
    close(open("c", O_RDONLY)); /* its own */
    close(open("d", O_RDONLY));
    rename("d", "e");
    unlink("f");
    struct stat info;
    int g = open("g", O_RDWR); /* changed, with its times set back */
    fstat(g, &info);
    assert_int_equal(pwrite(g, "g", 1, 0), 1);
    futimens(g, (struct timespec[]){info.st_atim, info.st_mtim});
    close(g);
    close(open("h", O_RDONLY));
    rename("h", "i");
    rename("i", "h");
    close(open("j", O_RDONLY)); /* written by its other name */
    int k = open("k", O_WRONLY | O_APPEND);
    assert_int_equal(write(k, "k", 1), 1);
    close(k);
}

static void makes_one_row_of_each_name(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "f", "g", "h", "j"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        make(names[i]);
    assert_int_equal(link("j", "k"), 0);
    run(*state, change_files);
    assert_rows(*state, "r a +own\nu b +own\nw c +own\nu d -own\nw e +own\nw f -own\nu g +own\n"
                        "r h +own\nw i -own\nu j +own\nw k +own\n");
}

static void read_in_ways(void)
{
    char byte;
    struct stat info;
    int a = open("a", O_RDONLY); /* changed before it is looked at */
    assert_int_equal(syscall(SYS_fchmod, a, 0600), 0);
    close(a);
    int b = open("b", O_RDONLY);
    assert_int_equal(read(b, &byte, 1), 1);
    close(b);
    int c = open("c", O_RDONLY);
    assert_int_equal(fstat(c, &info), 0);
    close(c);
    fclose(fopen("d", "r"));
    close(open(".", O_RDONLY));
    int e = open("e", O_RDONLY), script = fcntl(e, F_DUPFD, 10);
    close(e);
    assert_int_equal(read(script, &byte, 1), 1);
    close(script);
}

static void collect_known(void *ctx, const struct orch_watch_entry *entry)
{
    struct stat info;
    if (entry->kind != ORCH_WATCH_READ || stat(entry->path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    struct orch_watch_identity now = orch_watch_identity_of(&info);
    bool is_known = entry->identity && orch_watch_check(&now) == orch_watch_check(entry->identity);
    g_string_append_printf(ctx, "%s%s ", strrchr(entry->path, '/') + 1, is_known ? "" : "?");
}

static void looks_before_a_file_is_read(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        make(names[i]); /* the last one within a tick of the clock, mostly */
    run(f, read_in_ways);
    g_autoptr(GString) text = g_string_new(NULL);
    orch_watch_memory_visit(f->memory, collect_known, text);
    assert_string_equal(text->str, "a? b c d e ");
    assert_rows(f, "r a\nr b\nr c\nr d\nr e\n");
}

static void use_odd_names(void)
{
    close(open("a\"b\\c\n\x01\x7fé", O_WRONLY | O_CREAT, 0600));
}

static void escapes_names(void **state)
{
    run(*state, use_odd_names);
    assert_rows(*state, "w a\"b\\c\n\x01\x7fé +own\n");
}

static void move_folders(void)
{
    for (int i = 0; i < 2; i++) {
        mkdir("t", 0700);
        close(open("t/x", O_WRONLY | O_CREAT, 0600));
        rename("t", i ? "two" : "one");
    }
    close(open("one/x", O_RDONLY));
    close(open("in/x", O_RDONLY));
    rename("in", "out");
}

static void follows_renamed_folders(void **state)
{
    mkdir("in", 0700);
    make("in/x");
    run(*state, move_folders);
    assert_rows(*state, "w t/x -own\nw one/x +own\nw two/x +own\nu in/x -own\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_one_record_of_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_know_their_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_out_what_has_no_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(knows_a_half_written_identity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_roots_without_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(looks_before_a_file_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_any_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_lock_outlives_a_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(makes_one_row_of_each_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(escapes_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(follows_renamed_folders, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
