/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin of this ABI under a host of ABI 1.0, whose tables end before the newer members: the next
 * byte cannot be read or written. slots.one-trial has the other way round. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <glib.h>
#include <orch/plugin.h>
#include <sys/mman.h>
#include <unistd.h>

#define OLD_COST_BYTES offsetof(struct orch_cost, unit)
#define OLD_HOST_BYTES offsetof(struct orch_host, slot)

static int results;
static char *last_note;

static void old_result(const struct orch_host *host, const char *name, double value)
{
    (void)host;
    (void)name;
    (void)value;
    results++;
}

static void old_note(const struct orch_host *host, const char *text)
{
    (void)host;
    g_free(last_note);
    last_note = g_strdup(text);
}

/* Memory whose last byte is the last one that may be used. */
static void *before_the_end(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    return pages + page - bytes;
}

static const struct orch_plugin *open_plugin(void)
{
    g_autofree char *path =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "plain.so", NULL);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    const struct orch_plugin *(*get)(void);
    *(void **)&get = dlsym(library, ORCH_PLUGIN_SYMBOL);
    return get();
}

static void test_old_host(void **state)
{
    (void)state;
    const struct orch_plugin *plugin = open_plugin();
    assert_int_equal(plugin->abi_minor, ORCH_ABI_MINOR);
    struct orch_host *host = before_the_end(OLD_HOST_BYTES);
    host->struct_bytes = OLD_HOST_BYTES;
    host->result = old_result;
    host->note = old_note;
    int64_t naps = 0;
    assert_int_equal(plugin->run(NULL, &naps, host), ORCH_OK);
    assert_int_equal(results, 4);
    assert_string_equal(last_note, "is 0 of 0, local 0"); /* nothing is known */
}

static void test_old_cost(void **state)
{
    (void)state;
    const struct orch_plugin *plugin = open_plugin();
    struct orch_cost *cost = before_the_end(OLD_COST_BYTES);
    cost->struct_bytes = OLD_COST_BYTES;
    assert_int_equal(plugin->cost(NULL, cost), ORCH_OK);
    assert_int_equal(cost->batch, 8);
}

/* The members have no room until the last byte of each is there. */
static void test_has(void **state)
{
    (void)state;
    struct orch_host host = {.struct_bytes = sizeof host};
    struct orch_cost cost = {.struct_bytes = sizeof cost};
    assert_true(orch_host_has(&host, slot) && orch_host_has(&host, file_digest));
    assert_true(orch_cost_has(&cost, steps) && orch_cost_has(&cost, unit));
    host.struct_bytes--;
    cost.struct_bytes--;
    assert_true(orch_host_has(&host, slot));
    assert_false(orch_host_has(&host, no_effect));
    assert_true(orch_host_has(&host, file_digest));
    assert_false(orch_cost_has(&cost, steps));
    assert_true(orch_cost_has(&cost, actors));
    host.struct_bytes = OLD_HOST_BYTES;
    cost.struct_bytes = OLD_COST_BYTES;
    assert_true(orch_host_has(&host, file_digest) && orch_cost_has(&cost, training));
    assert_false(orch_host_has(&host, slot) || orch_cost_has(&cost, unit));
}

/* What ABI 1.0 laid down stays where it is: on 64-bit machines. */
static void test_layout(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        return;
    assert_int_equal(OLD_COST_BYTES, 80);
    assert_int_equal(OLD_HOST_BYTES, 128);
    assert_int_equal(offsetof(struct orch_plugin, run), 176);
    assert_int_equal(sizeof(struct orch_plugin), 192);
    assert_int_equal(offsetof(struct orch_param, label), 72);
    assert_int_equal(offsetof(struct orch_metric, label), 40);
    assert_int_equal(sizeof(struct orch_artifact), 16);
    assert_int_equal(sizeof(struct orch_needs), 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_host),
        cmocka_unit_test(test_old_cost),
        cmocka_unit_test(test_has),
        cmocka_unit_test(test_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
