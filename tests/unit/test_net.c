/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts against published ones. Parameters: torchvision 0.14's documentation for its networks; for
 * the 6n+2 family the exact counts behind He et al. 2015, table 6 (0.27, 0.46, 0.66, 0.85, 1.7 and
 * 19.4 million), as reimplementations report them (akamaster/pytorch_resnet_cifar10); 11,173,962
 * for ResNet-18 with a CIFAR stem (kuangliu/pytorch-cifar). Multiply-adds: of convolutions and
 * linear layers, as torchvision's documentation rounds them (1.81, 3.66, 4.09, 7.80, 11.51, 15.47,
 * 19.63 billion). The published counts of mobilenet_v1 are Keras Applications'; of googlenet-bvlc
 * and alexnet-grouped, Caffe's model zoo's; of bert-base and gpt2, the parameter counts of the
 * released checkpoints (bert-base-uncased with pooler, gpt2 with tied scores; all further
 * transformers likewise, ConvNeXt and ViT as torchvision documents them); of
 * wide-resnet-28-10, the 36.5 million of the paper; of nature-dqn, by hand from Mnih et al. 2015,
 * of minatar-dqn from MinAtar's examples/dqn.py, methods (18 actions); of airbench, by hand from
 * Jordan 2024, section 3.1 (and a bias of 10); of the stride-in-1x1 resnets, Caffe's prototxts.
 * Counts that nobody published (of many transformers' multiply-adds) are those of the graph: a
 * change shows. */
#include "lib/net/build.h"
#include "plugins/common/training/image_side.h"
#include "tests/unit/tensor_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static struct orch_net *make(const char *name, int64_t c, int64_t h, int64_t classes)
{
    struct orch_net_options options = {
        .name = name, .channels = c, .height = h, .width = h, .classes = classes};
    GError *error = NULL;
    struct orch_net *net = orch_net_make(&options, &error);
    if (!net)
        fail_msg("%s: %s", name, error->message);
    return net;
}

static const struct {
    const char *name;
    int64_t params, macs;
    int depth;
} PUBLISHED[] = {
    {"lenet5", 61706, 416520, 5},
    {"mlp", 535818, 535040, 3},
    {"mlp:100", 79510, 79400, 2},
    {"airbench", 1972802, 118147360, 8},
    {"airbench-relu", 1972802, 118147360, 8},
    {"resnet-cifar:20", 269722, 40551040, 20},
    {"resnet20", 269722, 40551040, 20},
    {"resnet32", 464154, 68862592, 32},
    {"resnet44", 658586, 97174144, 44},
    {"resnet-cifar:50", 755802, 111329920, 50},
    {"resnet56", 853018, 125485696, 56},
    {"resnet110", 1727962, 252887680, 110},
    {"resnet-cifar:1202", 19421274, 2829238912, 1202},
    {"resnet18", 11689512, 1814073344, 18},
    {"resnet34", 21797672, 3663761408, 34},
    {"resnet50", 25557032, 4089184256, 50},
    {"resnet101", 44549160, 7801405440, 101},
    {"resnet152", 60192808, 11513626624, 152},
    {"resnet18-cifar", 11173962, 555422720, 18},
    {"resnet50-cifar", 23520842, 1297829888, 50},
    {"vgg11", 132863336, 7609090048, 11},
    {"vgg13", 133047848, 11308466176, 13},
    {"vgg16", 138357544, 15470264320, 16},
    {"vgg19", 143667240, 19632062464, 19},
    {"vgg11_bn", 132868840, 7609090048, 11},
    {"vgg13_bn", 133053736, 11308466176, 13},
    {"vgg16_bn", 138365992, 15470264320, 16},
    {"vgg19_bn", 143678248, 19632062464, 19},
    {"alexnet", 61100840, 714188480, 8},
    {"alexnet-v2", 50303912, 736555776, 8},
    {"alexnet-owt", 49566504, 630387456, 8},
    {"alexnet-grouped", 60965224, 724406816, 8},
    {"resnet50-v1", 25557032, 3857973248, 50},
    {"resnet101-v1", 44549160, 7570194432, 101},
    {"resnet152-v1", 60192808, 11282415616, 152},
    {"resnext50_32x4d", 25028904, 4230479872, 50},
    {"wide_resnet50_2", 68883240, 11398021120, 50},
    {"wide-resnet-28-10", 36479194, 5243328768, 26},
    {"googlenet", 6624904, 1498376192, 22},
    {"googlenet-aux", 13004888, 1498376192, 22},
    {"googlenet-bvlc", 6998552, 1582671872, 22},
    {"googlenet-bvlc-aux", 13378280, 1582671872, 22},
    {"inception_v3", 23834568, 5713216096, 48},
    {"inception_v3-aux", 27161264, 5713216096, 48},
    {"densenet121", 7978856, 2834161664, 121},
    {"densenet169", 14149480, 3359843328, 169},
    {"mobilenet_v1", 4231976, 568740352, 28},
    {"mobilenet_v2", 3504872, 300774272, 53},
    {"squeezenet1_0", 1248424, 818924576, 18},
    {"squeezenet1_1", 1235496, 349151936, 18},
    {"efficientnet_b0", 5288548, 385814752, 82},
    {"nature-dqn", 1693362, 9352192, 5},
    {"minatar-dqn", 132566, 168704, 3},
    {"bert-base", 109482240, 48318971904, 49},
    {"gpt2", 124439808, 145824153600, 49},
    {"bert-large", 335141888, 167504773120, 97},
    {"gpt2-medium", 354823168, 413475536896, 97},
    {"gpt2-large", 774030080, 887285350400, 145},
    {"gpt2-xl", 1557611200, 1753351782400, 193},
    {"distilbert", 66362880, 24159191040, 24},
    {"distilgpt2", 81912576, 92673933312, 25},
    {"roberta-base", 124697433, 68385374208, 50},
    {"roberta-large", 355412057, 194393931776, 98},
    {"opt-125m", 125239296, 330326605824, 49},
    {"opt-1.3b", 1315758080, 3097074073600, 97},
    {"opt-2.7b", 2651596800, 6104725585920, 129},
    {"opt-6.7b", 6658473984, 14715363262464, 129},
    {"t5-small", 60506624, 35802578944, 59},
    {"t5-base", 222903552, 128597360640, 119},
    {"t5-large", 737668096, 416276283392, 239},
    {"tinyllama", 1100048384, 2496449740800, 89},
    {"llama-2-7b", 6738415616, 31460635443200, 129},
    {"llama-3-8b", 8030261248, 79070347919360, 129},
    {"llama-2-13b", 13015864320, 59512140595200, 161},
    {"llama-2-70b", 68976648192, 303439439462400, 321},
    {"llama-3-70b", 70553706496, 657318974849024, 321},
    {"llama-3.1-8b", 8030261248, 79070347919360, 129},
    {"llama-3.1-70b", 70553706496, 657318974849024, 321},
    {"llama-3.2-1b", 1235814400, 14521284427776, 65},
    {"llama-3.2-3b", 3212749824, 37862284197888, 113},
    {"mistral-7b", 7241732096, 75840532512768, 129},
    {"bert-base-cased", 108340804, 60022063104, 50},
    {"bert-large-cased", 333610308, 183242850304, 98},
    {"distilbert-base-uncased", 66985530, 36462919680, 26},
    {"distilbert-base-cased", 65812036, 35862872064, 26},
    {"xlm-roberta-base", 278295186, 146925158400, 50},
    {"xlm-roberta-large", 560142482, 299113644032, 98},
    {"mistral-7b-v0.3", 7248023552, 75866302316544, 129},
    {"qwen2.5-0.5b", 494032768, 6932748304384, 97},
    {"qwen2.5-1.5b", 1543714304, 18417356636160, 113},
    {"qwen2.5-7b", 7615616512, 71388798910464, 113},
    {"mixtral-8x7b", 46702792704, 122028610813952, 129},
    {"mixtral-8x22b", 140630071296, 365335286906880, 225},
    {"deepseek-v3", 671026419200, 467704221794304, 306},
    {"qwen3-30b-a3b", 30532122624, 51305531834368, 193},
    {"qwen3-235b-a22b", 235093634560, 280036162666496, 377},
    {"mpt-7b", 6649286656, 14716705439744, 129},
    {"vit_s_16", 22050664, 4598882304, 50},
    {"vit_b_16", 86567656, 17563828224, 50},
    {"vit_b_32", 88224232, 4409186304, 50},
    {"vit_l_16", 304326632, 61554712576, 98},
    {"vit_ti_16", 5717416, 1253683200, 50},
    {"vit_l_32", 306535400, 15377539072, 98},
    {"vit_h_14", 632045800, 167295109120, 130},
    {"convnext_tiny", 28589128, 4455531264, 59},
    {"convnext_small", 50223688, 8683712256, 113},
    {"convnext_base", 88591464, 15354729472, 113},
    {"convnext_large", 197767336, 34361433600, 113},
    {"resnet34-cifar", 21282122, 1159402496, 34},
    {"resnet101-cifar", 42512970, 2509983744, 101},
    {"resnet152-cifar", 58156618, 3722137600, 152},
    {"ssd_mobilenet_v1", 6819839, 1237129408, 36},
    {"mobilenet-v1-ssd", 9468996, 1526986688, 36},
    {"bert-base-mlm", 109514298, 60622110720, 50},
    {"bert-large-mlm", 335174458, 184042913792, 98},
    {"mpt-30b", 29957200896, 291583182241792, 193},
};

static void test_published(void **state)
{
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(PUBLISHED); i++) {
        struct orch_net *net = make(PUBLISHED[i].name, 0, 0, 0);
        if (orch_net_params(net) != PUBLISHED[i].params ||
            orch_net_macs(net) != PUBLISHED[i].macs || orch_net_depth(net) != PUBLISHED[i].depth)
            fail_msg("%s: %lld parameters, %lld multiply-adds, depth %d", PUBLISHED[i].name,
                     (long long)orch_net_params(net), (long long)orch_net_macs(net),
                     orch_net_depth(net));
        orch_net_free(net);
    }
}

/* Which networks are summed by their kernels: not one that is mostly convolutions. */
static void test_is_attention(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is;
    } rows[] = {{"gpt2", true}, {"vit_b_16", true}, {"llama:2,64,4", true}, {"resnet18", false}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_net *net = make(rows[i].name, 0, 0, 0);
        assert_int_equal(orch_net_is_attention(net), rows[i].is);
        orch_net_free(net);
    }
    struct orch_net_builder b;
    orch_net_builder_init(&b, "mixed", "mixed", (struct orch_net_shape){3, 64, 64}, 10);
    int x = orch_net_conv(&b, 0, (struct orch_conv){.out = 48, .kernel = 3, .stride = 1, .pad = 1},
                          "conv");
    orch_net_attention(&b, orch_net_adaptive_avgpool(&b, x, 16, 1), 4);
    struct orch_net *mixed = orch_net_builder_finish(&b, NULL);
    assert_false(orch_net_is_attention(mixed));
    orch_net_free(mixed);
}

static const struct orch_net_node *named(const struct orch_net *net, const char *name)
{
    for (guint i = 0; i < net->nodes->len; i++)
        if (strcmp(orch_net_node(net, (int)i)->name, name) == 0)
            return orch_net_node(net, (int)i);
    fail_msg("no node '%s'", name);
    return NULL;
}

static void test_shapes_and_names(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet50", 0, 0, 0);
    const struct orch_net_node *conv = named(net, "layer3.0.conv2");
    assert_int_equal(conv->stride_h, 2);
    assert_int_equal(conv->out.h, 14);
    assert_int_equal(named(net, "layer4.2.bn3")->out.c, 2048);
    int fc = tensor_find(net, "fc.weight");
    assert_true(fc >= 0);
    assert_int_equal(orch_net_tensor(net, fc)->shape[0], 1000);
    assert_int_equal(orch_net_tensor(net, fc)->shape[1], 2048);
    assert_true(tensor_find(net, "layer1.0.downsample.0.weight") >= 0);
    assert_true(tensor_find(net, "bn1.running_var") >= 0);
    assert_string_equal(orch_net_head(net)->name, "fc");
    assert_int_equal(orch_net_head(net)->group, net->group_count - 1);
    orch_net_free(net);
}

static void test_small_grey_images(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5",         "mlp",     "mlp:64", "resnet20",
                                        "resnet18-cifar", "resnet18"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        struct orch_net *net = make(names[i], 1, 28, 5);
        assert_int_equal(orch_net_node(net, (int)net->nodes->len - 1)->out.c, 5);
        orch_net_free(net);
    }
}

static void test_outputs(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet20", 1, 28, 5);
    assert_int_equal(orch_net_output_count(net), 1);
    assert_int_equal(orch_net_output(net, 0)->id, (int)net->nodes->len - 1);
    orch_net_free(net);
    net = make("ssd_mobilenet_v1", 3, 300, 7);
    assert_int_equal(orch_net_output_count(net), 12);
    assert_string_equal(orch_net_output(net, 10)->name, "boxes.5");
    assert_int_equal(orch_net_output(net, 10)->out.c, 4 * 6);
    assert_string_equal(orch_net_output(net, 1)->name, "scores.0");
    assert_int_equal(orch_net_output(net, 1)->out.c, 7 * 3);
    assert_int_equal(orch_net_output(net, 1)->out.h, 19);
    orch_net_free(net);
}

/* Outputs of a detector: boxes and scores in turn, from the finest map on. */
static void test_detectors(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int side, maps, sides[6];
    } cases[] = {{"mobilenet-v1-ssd", 300, 6, {19, 10, 5, 3, 2, 1}},
                 {"mb1-ssd", 300, 6, {19, 10, 5, 3, 2, 1}},
                 {"ssd-small", 96, 3, {12, 6, 3}},
                 {"ssd-small:8", 128, 3, {16, 8, 4}}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_net *net = make(cases[i].name, 3, cases[i].side, 7);
        assert_int_equal(orch_net_output_count(net), 2 * cases[i].maps);
        for (int map = 0; map < cases[i].maps; map++) {
            const struct orch_net_node *boxes = orch_net_output(net, 2 * map);
            const struct orch_net_node *scores = orch_net_output(net, 2 * map + 1);
            g_autofree char *name = g_strdup_printf("classification_headers.%d", map);
            assert_int_equal(boxes->out.c, 4 * 6);
            assert_int_equal(scores->out.c, 7 * 6);
            assert_int_equal(scores->out.h, cases[i].sides[map]);
            assert_string_equal(scores->name, name);
            assert_true(orch_net_is_of_head(net, boxes) && orch_net_is_of_head(net, scores));
            assert_int_equal(boxes->group, net->group_count - 1);
        }
        assert_false(orch_net_is_of_head(net, orch_net_node(net, 1)));
        orch_net_free(net);
    }
    g_autoptr(GError) error = NULL;
    assert_null(orch_net_make(&(struct orch_net_options){.name = "ssd-small:2"}, &error));
    assert_non_null(strstr(error->message, "a width of 4 to 256"));
}

static void test_inputs_come_first(void **state)
{
    (void)state;
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        if (strchr(f->pattern, ':'))
            continue;
        struct orch_net *net = make(f->pattern, 0, 0, 0);
        int tensors = 0;
        for (guint i = 0; i < net->nodes->len; i++) {
            const struct orch_net_node *node = orch_net_node(net, (int)i);
            assert_int_equal(node->id, i);
            assert_int_equal(node->first_tensor, tensors);
            tensors += node->tensor_count;
            for (int j = 0; j < node->input_count; j++)
                assert_true(node->inputs[j] < node->id);
            if (i)
                assert_true(node->group >= orch_net_node(net, node->inputs[0])->group);
        }
        assert_int_equal(tensors, net->tensors->len);
        orch_net_free(net);
    }
}

static void refused(const char *name, int64_t h, const char *words)
{
    struct orch_net_options options = {
        .name = name, .channels = 3, .height = h, .width = h, .classes = 10};
    GError *error = NULL;
    assert_null(orch_net_make(&options, &error));
    if (!strstr(error->message, words))
        fail_msg("%s: '%s' lacks '%s'", name, error->message, words);
    g_clear_error(&error);
}

static void test_errors(void **state)
{
    (void)state;
    refused("resnet50-cifer", 32, "did you mean 'resnet50-cifar'");
    refused("resnet-cifar:21", 32, "6n+2");
    refused("resnet-cifar:20000000000000000000", 32, "depth");
    refused("resnet-cifar", 32, "depth");
    refused("resnet50:3", 32, "unknown network");
    refused("mlp:12,,3", 32, "''");
    refused("airbench:64,256,", 32, "'64,256,' is not a list of 1 to 5 widths");
    refused("airbench:1,1,1,1,1,1", 32, "is not a list of 1 to 5 widths");
    refused("airbench", 24, "its smallest input is 25x25");
    refused("vgg16", 16, "layer 'maxpool31' (2x2 window) gets 1x1");
    refused("vgg16", 31, "its smallest input is 32x32");
    refused("lenet5", 6, "its smallest input is 12x12");
    refused("resnet20", -4, "out of range");
}

static void test_smallest_input_builds(void **state)
{
    (void)state;
    orch_net_free(make("vgg16", 3, 32, 10));
    orch_net_free(make("lenet5", 1, 12, 10));
    orch_net_free(make("resnet50", 3, 1, 10));
}

/* "11,689,512" */
/* Each network without sizes in its name has a row above. */
static void test_published_all(void **state)
{
    (void)state;
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        unsigned i = 0;
        while (i < G_N_ELEMENTS(PUBLISHED) && strcmp(PUBLISHED[i].name, f->pattern) != 0)
            i++;
        if (i == G_N_ELEMENTS(PUBLISHED) && !strchr(f->pattern, ':'))
            fail_msg("'%s' has no row in PUBLISHED", f->pattern);
    }
}

/* Names as people write them, and no two of the zoo that are spellings of each other. */
static void test_spellings(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"ResNet-50", "resnet50"},
                                           {"ResNet_50", "resnet50"},
                                           {"VGG-16", "vgg16"},
                                           {"VGG16-BN", "vgg16_bn"},
                                           {"Inception-v3", "inception_v3"},
                                           {"GPT-2", "gpt2"},
                                           {"WRN-28-10", "wide-resnet-28-10"},
                                           {"MobileNetV2", "mobilenet_v2"},
                                           {"ResNet-CIFAR:20", "resnet-cifar:20"},
                                           {"MLP:64,32", "mlp:64,32"},
                                           {"SqueezeNet 1.1", "squeezenet1_1"},
                                           {"LeNet-5", "lenet5"}};
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = pairs[i][0]}, NULL);
        assert_non_null(net);
        assert_string_equal(net->name, pairs[i][1]);
        orch_net_free(net);
    }
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        g_autofree char *bare = g_strndup(f->pattern, strcspn(f->pattern, ":"));
        g_autofree char *own = orch_net_canonical_name(bare);
        assert_string_equal(own, bare);
    }
    assert_null(orch_net_canonical_name("resnet"));
    assert_null(orch_net_canonical_name("resnet50:3")); /* takes nothing behind a colon */
}

/* ---- images of another size ---------------------------------------------------------------- */

static void test_other_sides(void **state)
{
    (void)state;
    static const struct {
        const char *net;
        int side, other;
        const char *refused; /* words of the error; NULL: the network takes it */
    } cases[] = {
        {"resnet-cifar:20", 32, 16, NULL},
        {"resnet-cifar:20", 32, 1, NULL}, /* padded convolutions */
        {"airbench", 32, 16, NULL},
        {"airbench-small", 28, 12, NULL},
        {"airbench-small", 28, 6, "cannot take images of 6x6"},
        {"lenet5", 28, 24, "is made for"},
        {"vgg16", 224, 192, NULL}, /* an adaptive pool to 7x7 */
        {"mobilenet_v2", 224, 128, NULL},
        {"mlp:32", 28, 20, "is made for 28x28"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_net_options options = {
            .name = cases[i].net, .height = cases[i].side, .width = cases[i].side, .classes = 10};
        g_autoptr(GError) error = NULL;
        struct orch_net *net = orch_net_make(&options, NULL);
        assert_non_null(net);
        assert_true(orch_net_takes_side(net, cases[i].side, NULL));
        const bool takes = orch_net_takes_side(net, cases[i].other, &error);
        if (takes != !cases[i].refused || (error && !strstr(error->message, cases[i].refused)))
            fail_msg("%s: %s", cases[i].net, error ? error->message : "was not refused");
        orch_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_is_attention),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_shapes_and_names),
        cmocka_unit_test(test_small_grey_images),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_detectors),
        cmocka_unit_test(test_inputs_come_first),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_smallest_input_builds),
        cmocka_unit_test(test_published_all),
        cmocka_unit_test(test_other_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
