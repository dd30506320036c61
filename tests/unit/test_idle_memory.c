/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the allocator reserves for gradients beside the values that are kept, counted by hand
 * on small networks. */
#include "lib/net/allocator.h"
#include "lib/net/build.h"
#include "lib/net/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_allocator(void **state)
{
    (void)state;
    struct orch_allocator *a = orch_allocator_new();
    int small = orch_allocator_take(a, 10), large = orch_allocator_take(a, 40);
    assert_true(orch_allocator_reserved(a) == 50);
    orch_allocator_give(a, small);
    orch_allocator_give(a, large);
    int other = orch_allocator_take(a, 8); /* of the smaller one: 2 are left */
    int half = orch_allocator_take(a, 25), rest = orch_allocator_take(a, 15);
    assert_true(orch_allocator_reserved(a) == 50);
    orch_allocator_take(a, 3); /* 2 are free, which is too little */
    assert_true(orch_allocator_reserved(a) == 53);
    orch_allocator_give(a, half);
    orch_allocator_give(a, rest);
    orch_allocator_give(a, other);
    orch_allocator_take(a, 40); /* what was split is one again */
    assert_true(orch_allocator_reserved(a) == 53);
    orch_allocator_take(a, 11); /* two blocks that were reserved apart never are */
    assert_true(orch_allocator_reserved(a) == 64);
    orch_allocator_free(a);
}

static int conv_relu(struct orch_net_builder *b, int in, int64_t out, int stride)
{
    struct orch_conv conv = {.out = out, .kernel = 3, .stride = stride, .pad = 1};
    return orch_net_relu(b, orch_net_conv(b, in, conv, "conv%u", b->net->nodes->len));
}

static int64_t idle_of(struct orch_net_builder *b, int last)
{
    orch_net_linear(b, orch_net_flatten(b, last), 10, 0, "fc");
    struct orch_net *net = orch_net_builder_finish(b, NULL);
    assert_non_null(net);
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    int64_t idle = orch_net_cost_sum(net, costs).idle;
    orch_net_free(net);
    return idle;
}

/* A ReLU's gradient needs that of its output and a place for its own: two blocks of each width, as
 * the blocks of the layers behind are narrower. Layers of equal width share them. */
static void test_widths(void **state)
{
    (void)state;
    const struct orch_net_shape input = {1, 8, 8};
    struct orch_net_builder b;
    orch_net_builder_init(&b, "one", "one", input, 10);
    int64_t equal = idle_of(&b, conv_relu(&b, conv_relu(&b, conv_relu(&b, 0, 4, 1), 4, 1), 4, 1));
    assert_int_equal(equal, 2 * 256);
    orch_net_builder_init(&b, "two", "two", input, 10);
    int64_t narrower = idle_of(&b, conv_relu(&b, conv_relu(&b, 0, 4, 1), 2, 2));
    assert_int_equal(narrower, 2 * 256 + 2 * 32);
    orch_net_builder_init(&b, "three", "three", input, 10);
    int64_t wider = idle_of(&b, conv_relu(&b, conv_relu(&b, 0, 2, 2), 16, 1));
    assert_int_equal(wider, 2 * 256); /* the gradients of 32 find larger blocks */
}

/* The shortcut has the gradient of the sum, so its block is held beside the branch's two. */
static void test_shortcut(void **state)
{
    (void)state;
    struct orch_net_builder b;
    orch_net_builder_init(&b, "short", "short", (struct orch_net_shape){1, 8, 8}, 10);
    const struct orch_conv conv = {.out = 4, .kernel = 3, .stride = 1, .pad = 1};
    int x = conv_relu(&b, 0, 4, 1);
    int y = orch_net_batchnorm(&b, orch_net_conv(&b, x, conv, "b"), "bn");
    int64_t idle = idle_of(&b, orch_net_relu(&b, orch_net_add(&b, y, x)));
    /* of the sum and of its ReLU; then the norm's block is the ReLU's, and the convolution's the
     * sum's */
    assert_int_equal(idle, 2 * 256);
}

static void test_frozen(void **state)
{
    (void)state;
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = "resnet50"}, NULL);
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    assert_true(orch_net_cost_sum(net, costs).idle > 2 * 802816); /* two of its widest values */
    for (guint i = 0; i < net->tensors->len; i++)
        ((struct orch_net_tensor *)net->tensors->pdata[i])->is_frozen = i + 2 < net->tensors->len;
    g_autofree struct orch_net_cost *head = orch_net_costs(net);
    assert_int_equal(orch_net_cost_sum(net, head).idle, 0); /* no gradient goes below the head */
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocator),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_shortcut),
        cmocka_unit_test(test_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
