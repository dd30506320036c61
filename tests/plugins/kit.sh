# Plugins build over an installed orch, without its sources: those of the tree, and a lab's own that counts a network.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
ok cmake --install "$BUILD" --prefix "$SCRATCH/orch"
rm -rf "$SCRATCH/orch/lib/orch/plugins"
PATH=$SCRATCH/orch/bin:${PATH//$BUILD:/}
cp -R "$SOURCE/plugins" plugins
ok cmake -S plugins -B own "-DCMAKE_PREFIX_PATH=$SCRATCH/orch" -DORCH_CUDA=off
ok cmake --build own --target plugin_null plugin_netstat plugin_onnxrun plugin_staleness
ok grep -c . own/plugins/unbuilt.tsv
mkdir -p lab/plugins/count
cat >lab/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.20)
project(lab LANGUAGES C)
find_package(orch REQUIRED)
orch_plugin(count orch_net orch_base)
C
cat >lab/plugins/count/count.c <<'C'
#include "lib/net/net.h"

#include <orch/plugin.h>

struct params {
    const char *net;
};
static const struct orch_param PARAMS[] = {ORCH_PARAM(struct params, net, ORCH_STRING, .label = "network", .def = "lenet5", .help = "a network")};
static const struct orch_metric METRICS[] = {{.name = "layers", .label = "layers", .help = "nodes of its graph"}};

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    struct orch_net_options options = {.name = p->net};
    GError *error = NULL;
    struct orch_net *net = orch_net_make(&options, &error);
    (void)state;
    if (!net) {
        host->fail(host, error->message);
        return ORCH_FAILED;
    }
    host->result(host, "layers", net->nodes->len);
    orch_net_free(net);
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD, .name = "count",       .version = "1.0.0", .summary = "counts the nodes of a network",
    .licence = "MIT", .params_bytes = sizeof(struct params), ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS), .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
C
ok cmake -S lab -B lab/build "-DCMAKE_PREFIX_PATH=$SCRATCH/orch"
ok cmake --build lab/build
rm -rf plugins
export ORCH_PLUGIN_PATH=$PWD/own/plugins:$PWD/lab/build/plugins
ok orch plugin trust own/plugins/netstat.so
ok orch plugin trust lab/build/plugins/count.so
printf 'format: 1\nrecipe: k\nexperiments:\n  n: { plugin: netstat, with: { net: lenet5 } }\n  c: { plugin: count }\n' >k.recipe
ok orch run k.recipe --yes
ok orch ls -e c --json
ok orch show "$(json runs.0.key)" --json
layers=$(json results.layers)
[ "${layers%.*}" -gt 5 ] || _fail 'the network of a plugin of its own has no layers'
# another version of the kit is refused
sed -i 's/find_package(orch REQUIRED)/find_package(orch 99.0 REQUIRED)/' lab/CMakeLists.txt
fails 1 cmake -S lab -B lab/other "-DCMAKE_PREFIX_PATH=$SCRATCH/orch"
says '99.0'
