/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The networks: a row and a builder each. Names of layers are torchvision's where it has the
 * network, so that its weights load by name. Adding a network = a builder and a row. */
#include "lib/net/build.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- lenet, mlp ---------------------------------------------------------------------------- */

/* LeCun et al. 1998, as it is taught: 5x5 convolutions, tanh, average pooling. Padded by 2 for
 * 28x28. */
static void build_lenet5(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int pad = b->net->input.h < 32 ? 2 : 0;
    int x =
        orch_net_conv(b, 0, (struct orch_conv){6, 5, 1, pad, 1, true, ORCH_CONV_DEFAULT}, "conv1");
    x = orch_net_avgpool(b, orch_net_tanh(b, x), 2, 2);
    b->group = 1;
    x = orch_net_conv(b, x, (struct orch_conv){16, 5, 1, 0, 1, true, ORCH_CONV_DEFAULT}, "conv2");
    x = orch_net_flatten(b, orch_net_avgpool(b, orch_net_tanh(b, x), 2, 2));
    b->group = 2;
    x = orch_net_tanh(b, orch_net_linear(b, x, 120, 0, "fc1"));
    x = orch_net_tanh(b, orch_net_linear(b, x, 84, 0, "fc2"));
    b->group = 3;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* Fully connected layers with ReLU; the argument lists the hidden sizes. */
static void build_mlp(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    g_auto(GStrv) words = g_strsplit(argument ? argument : "512,256", ",", -1);
    int x = orch_net_flatten(b, 0);
    for (int i = 0; words[i]; i++) {
        int64_t size;
        if (!orch_int_parse(words[i], &size) || size < 1 || size > 65536 || i >= 16) {
            orch_error_set(
                &b->error, ORCH_ERROR_RECIPE, "for example mlp:512,256",
                "network '%s': '%s' is not a size between 1 and 65536 (at most 16 layers)",
                b->net->name, words[i]);
            return;
        }
        b->group = i;
        x = orch_net_relu(b, orch_net_linear(b, x, size, 0, "fc%d", i + 1));
    }
    b->group++;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* ---- resnets ------------------------------------------------------------------------------- */

static int conv_bn(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                   const char *conv, const char *bn)
{
    int x = orch_net_conv(
        b, in,
        (struct orch_conv){out, kernel, stride, kernel / 2, 1, false, ORCH_CONV_KAIMING_FAN_OUT},
        "%s", conv);
    return orch_net_batchnorm(b, x, "%s", bn);
}

static int64_t channels_of(const struct orch_net_builder *b, int id)
{
    return id < 0 ? 0 : orch_net_node(b->net, id)->out.c;
}

/* He et al. 2015, 4.2: 6n+2 layers, 16-32-64 channels, shortcuts of option A (no parameters). */
static void build_resnet_cifar(struct orch_net_builder *b, const char *argument, int variant)
{
    int64_t depth = variant;
    if (!depth && (!argument || !orch_int_parse(argument, &depth))) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, "for example resnet-cifar:20",
                       "network '%s': no depth", b->net->name);
        return;
    }
    if (depth < 8 || depth > 2000 || (depth - 2) % 6) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                       "20, 32, 44, 56, 110 or another 6n+2 up to 2000",
                       "network '%s': depth %" G_GINT64_FORMAT " is not of the form 6n+2",
                       b->net->name, depth);
        return;
    }
    int x = orch_net_relu(b, conv_bn(b, 0, 16, 3, 1, "conv1", "bn1"));
    for (int stage = 0; stage < 3; stage++) {
        b->group = stage + 1;
        for (int i = 0; i < (depth - 2) / 6; i++) {
            int64_t out = 16 << stage;
            int stride = stage && !i ? 2 : 1;
            char names[4][64];
            for (int k = 0; k < 4; k++)
                g_snprintf(names[k], sizeof names[k], "layer%d.%d.%s%d", stage + 1, i,
                           k % 2 ? "bn" : "conv", k / 2 + 1);
            int y = orch_net_relu(b, conv_bn(b, x, out, 3, stride, names[0], names[1]));
            y = conv_bn(b, y, out, 3, 1, names[2], names[3]);
            int shortcut = stride == 1 && channels_of(b, x) == out
                               ? x
                               : orch_net_pad_shortcut(b, x, out, stride);
            x = orch_net_relu(b, orch_net_add(b, y, shortcut));
        }
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    b->group = 4;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

static const struct resnet_plan {
    int depth, blocks[4];
    bool bottleneck;
} RESNETS[] = {{18, {2, 2, 2, 2}, false},
               {34, {3, 4, 6, 3}, false},
               {50, {3, 4, 6, 3}, true},
               {101, {3, 4, 23, 3}, true},
               {152, {3, 8, 36, 3}, true}};

/* A block; in a bottleneck the stride is in the 3x3 convolution, as torchvision has it. */
static int residual_block(struct orch_net_builder *b, int x, const char *prefix, int64_t width,
                          int stride, bool bottleneck)
{
    char conv[64], bn[64];
    int convs = bottleneck ? 3 : 2;
    int64_t out = bottleneck ? 4 * width : width;
    int y = x;
    for (int i = 1; i <= convs; i++) {
        int kernel = bottleneck && i != 2 ? 1 : 3;
        bool strided = bottleneck ? i == 2 : i == 1;
        g_snprintf(conv, sizeof conv, "%s.conv%d", prefix, i);
        g_snprintf(bn, sizeof bn, "%s.bn%d", prefix, i);
        y = conv_bn(b, y, i == convs ? out : width, kernel, strided ? stride : 1, conv, bn);
        if (i < convs)
            y = orch_net_relu(b, y);
    }
    int shortcut = x;
    if (stride != 1 || channels_of(b, x) != out) {
        g_snprintf(conv, sizeof conv, "%s.downsample.0", prefix);
        g_snprintf(bn, sizeof bn, "%s.downsample.1", prefix);
        shortcut = orch_net_conv(
            b, x, (struct orch_conv){out, 1, stride, 0, 1, false, ORCH_CONV_KAIMING_FAN_OUT}, "%s",
            conv);
        shortcut = orch_net_batchnorm(b, shortcut, "%s", bn);
    }
    return orch_net_relu(b, orch_net_add(b, y, shortcut));
}

/* `variant`: the depth, negative for the CIFAR stem (3x3, stride 1, no pooling). */
static void build_resnet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    int depth = ABS(variant);
    const struct resnet_plan *plan = RESNETS;
    while (plan->depth != depth)
        plan++;
    int x;
    if (variant < 0) {
        x = orch_net_relu(b, conv_bn(b, 0, 64, 3, 1, "conv1", "bn1"));
    } else {
        x = orch_net_relu(b, conv_bn(b, 0, 64, 7, 2, "conv1", "bn1"));
        x = orch_net_maxpool(b, x, 3, 2, 1);
    }
    for (int stage = 0; stage < 4; stage++) {
        b->group = stage + 1;
        for (int i = 0; i < plan->blocks[stage]; i++) {
            char prefix[32];
            g_snprintf(prefix, sizeof prefix, "layer%d.%d", stage + 1, i);
            x = residual_block(b, x, prefix, (int64_t)64 << stage, stage && !i ? 2 : 1,
                               plan->bottleneck);
        }
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    b->group = 5;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* ---- vgg ----------------------------------------------------------------------------------- */

/* Simonyan and Zisserman 2014, table 1; 0 is a max pool. `variant`: depth, + 100 with batch norm.
 */
static const struct vgg_plan {
    int depth, channels[22];
} VGGS[] = {
    {11, {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0, -1}},
    {13, {64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0, -1}},
    {16, {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0, -1}},
    {19, {64,  64,  0,   128, 128, 0,   256, 256, 256, 256, 0,
          512, 512, 512, 512, 0,   512, 512, 512, 512, 0,   -1}},
};

static void build_vgg(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    bool norm = variant > 100;
    const struct vgg_plan *plan = VGGS;
    while (plan->depth != variant % 100)
        plan++;
    int x = 0, module = 0;
    for (const int *c = plan->channels; *c >= 0; c++) {
        if (*c == 0) {
            x = orch_net_maxpool(b, x, 2, 2, 0);
            b->group++;
            module++;
            continue;
        }
        x = orch_net_conv(b, x, (struct orch_conv){*c, 3, 1, 1, 1, true, ORCH_CONV_KAIMING_FAN_OUT},
                          "features.%d", module++);
        if (norm)
            x = orch_net_batchnorm(b, x, "features.%d", module++);
        x = orch_net_relu(b, x);
        module++;
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 7, 7));
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 4096, 0.01, "classifier.0")),
                         0.5);
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 4096, 0.01, "classifier.3")),
                         0.5);
    b->group++;
    orch_net_linear(b, x, b->net->classes, 0.01, "classifier.6");
}

/* ---- the table ----------------------------------------------------------------------------- */

#define GREY(side) {1, side, side}, 10
#define IMAGENET {3, 224, 224}, 1000
#define CIFAR {3, 32, 32}, 10

static const struct orch_net_family ZOO[] = {
    {"lenet5", "LeCun et al. 1998, with tanh and average pooling", GREY(32), build_lenet5, 0},
    {"mlp:SIZES", "fully connected, ReLU; mlp is mlp:512,256", GREY(28), build_mlp, 0},
    {"resnet-cifar:N", "He et al. 2015, 4.2: N = 6n+2, option A", CIFAR, build_resnet_cifar, 0},
    {"resnet20", "resnet-cifar:20", CIFAR, build_resnet_cifar, 20},
    {"resnet32", "resnet-cifar:32", CIFAR, build_resnet_cifar, 32},
    {"resnet44", "resnet-cifar:44", CIFAR, build_resnet_cifar, 44},
    {"resnet56", "resnet-cifar:56", CIFAR, build_resnet_cifar, 56},
    {"resnet110", "resnet-cifar:110", CIFAR, build_resnet_cifar, 110},
    {"resnet18", "He et al. 2015, as torchvision has it", IMAGENET, build_resnet, 18},
    {"resnet34", "He et al. 2015, as torchvision has it", IMAGENET, build_resnet, 34},
    {"resnet50", "He et al. 2015, stride in the 3x3 (torchvision)", IMAGENET, build_resnet, 50},
    {"resnet101", "He et al. 2015, stride in the 3x3 (torchvision)", IMAGENET, build_resnet, 101},
    {"resnet152", "He et al. 2015, stride in the 3x3 (torchvision)", IMAGENET, build_resnet, 152},
    {"resnet18-cifar", "resnet18 with a 3x3 stem and no pooling", CIFAR, build_resnet, -18},
    {"resnet34-cifar", "resnet34 with a 3x3 stem and no pooling", CIFAR, build_resnet, -34},
    {"resnet50-cifar", "resnet50 with a 3x3 stem and no pooling", CIFAR, build_resnet, -50},
    {"resnet101-cifar", "resnet101 with a 3x3 stem and no pooling", CIFAR, build_resnet, -101},
    {"resnet152-cifar", "resnet152 with a 3x3 stem and no pooling", CIFAR, build_resnet, -152},
    {"vgg11", "Simonyan and Zisserman 2014, A", IMAGENET, build_vgg, 11},
    {"vgg13", "Simonyan and Zisserman 2014, B", IMAGENET, build_vgg, 13},
    {"vgg16", "Simonyan and Zisserman 2014, D", IMAGENET, build_vgg, 16},
    {"vgg19", "Simonyan and Zisserman 2014, E", IMAGENET, build_vgg, 19},
    {"vgg11_bn", "vgg11 with batch norm", IMAGENET, build_vgg, 111},
    {"vgg13_bn", "vgg13 with batch norm", IMAGENET, build_vgg, 113},
    {"vgg16_bn", "vgg16 with batch norm", IMAGENET, build_vgg, 116},
    {"vgg19_bn", "vgg19 with batch norm", IMAGENET, build_vgg, 119},
    {0},
};

const struct orch_net_family *orch_net_families(void)
{
    return ZOO;
}

/* The family that `name` asks for, and what stands behind its colon (or NULL). */
static const struct orch_net_family *find_family(const char *name, const char **out_argument)
{
    const char *colon = strchr(name, ':');
    *out_argument = colon ? colon + 1 : NULL;
    for (const struct orch_net_family *family = ZOO; family->pattern; family++) {
        const char *pattern = family->pattern, *open = strchr(pattern, ':');
        size_t length = open ? (size_t)(open - pattern) : strlen(pattern);
        bool same = (colon ? (size_t)(colon - name) : strlen(name)) == length &&
                    strncmp(name, pattern, length) == 0;
        if (same && (open || !colon))
            return family;
    }
    return NULL;
}

static void unknown_name(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(ZOO)];
    for (unsigned i = 0; i < G_N_ELEMENTS(ZOO); i++)
        names[i] = ZOO[i].pattern;
    g_autofree char *hint = orch_suggest_hint(name, names);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   hint ? hint : "docs/networks.md lists the networks that are known",
                   "unknown network '%s'", name);
}

/* What is asked for, with the family's own for what is not. */
struct request {
    const struct orch_net_family *family;
    const char *name, *argument;
    struct orch_net_shape input;
    int64_t classes;
};

static struct orch_net *build(const struct request *request, bool *out_too_small, GError **error)
{
    struct orch_net_builder b;
    orch_net_builder_init(&b, request->name, request->family->pattern, request->input,
                          request->classes);
    request->family->build(&b, request->argument, request->family->variant);
    *out_too_small = b.is_too_small;
    return orch_net_builder_finish(&b, error);
}

static bool fits(struct request request, int64_t side)
{
    bool is_too_small = false;
    request.input.h = request.input.w = side;
    orch_net_free(build(&request, &is_too_small, NULL));
    return !is_too_small;
}

/* The smallest square input: the first power of two that fits, then bisection below it. */
static int64_t smallest_side(const struct request *request)
{
    int64_t high = 1;
    while (!fits(*request, high))
        high *= 2;
    for (int64_t low = high / 2; high - low > 1;) {
        int64_t middle = (low + high) / 2;
        if (fits(*request, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static bool check_range(const struct request *request, GError **error)
{
    const struct orch_net_shape *input = &request->input;
    if (input->c >= 1 && input->c <= 4096 && input->h >= 1 && input->h <= 16384 && input->w >= 1 &&
        input->w <= 16384 && request->classes >= 1 && request->classes <= 1000000)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "1 to 4096 channels, 1 to 16384 rows and columns, 1 to 1000000 classes",
                   "network '%s': an input of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                   "x%" G_GINT64_FORMAT " with %" G_GINT64_FORMAT " classes is out of range",
                   request->name, input->c, input->h, input->w, request->classes);
    return false;
}

struct orch_net *orch_net_make(const struct orch_net_options *options, GError **error)
{
    struct request request = {.name = options->name};
    request.family = find_family(options->name, &request.argument);
    if (!request.family) {
        unknown_name(options->name, error);
        return NULL;
    }
    const struct orch_net_shape *usual = &request.family->input;
    request.input = (struct orch_net_shape){options->channels ? options->channels : usual->c,
                                            options->height ? options->height : usual->h,
                                            options->width ? options->width : usual->w};
    request.classes = options->classes ? options->classes : request.family->classes;
    if (!check_range(&request, error))
        return NULL;
    bool is_too_small = false;
    g_autoptr(GError) why = NULL;
    struct orch_net *net = build(&request, &is_too_small, &why);
    if (net)
        return net;
    if (!is_too_small) {
        g_propagate_error(error, g_steal_pointer(&why));
        return NULL;
    }
    int64_t side = smallest_side(&request);
    g_autofree char *hint =
        g_strdup_printf("its smallest input is %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                        "; for small images there are resnet-cifar:20 and "
                        "resnet18-cifar",
                        side, side);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s", why->message);
    return NULL;
}
