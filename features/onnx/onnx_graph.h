/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A decoded model on its way to a network of lib/net: its values with their shapes, and its steps
 * (nodes) in topological order. onnx_graph.c sorts, onnx_fuse.c joins decomposed operations,
 * onnx_ops.c has the table of operators, onnx_layer.c, onnx_shape.c and onnx_element.c implement
 * them, onnx.c builds the network.
 *
 * A value that depends on an input of the model belongs to a node of the network; any other value
 * is a constant. The numbers of small constants are computed, because exporters compute shapes in
 * the model (Shape, Gather, Concat, Reshape).
 */
#ifndef ORCH_FEATURES_ONNX_ONNX_GRAPH_H
#define ORCH_FEATURES_ONNX_ONNX_GRAPH_H

#include "lib/net/build.h"
#include "lib/onnx/onnx_file.h"

#define ONNX_RANK_MAX 8
#define ONNX_WINDOW_MAX ((int64_t)1 << 20)   /* maximum kernel, stride, dilation or pad */
#define ONNX_FOLD_MAX 4096                   /* maximum elements of a constant with known numbers */
#define ONNX_ELEMENTS_MAX ((int64_t)1 << 40) /* maximum elements of a value */

struct onnx_value {
    const char *name; /* in the file */
    bool is_made;
    int node; /* of the network; -1: a constant */
    int type; /* TensorProto.DataType, 0: unknown */
    int rank;
    int64_t dims[ONNX_RANK_MAX];
    int channel;                     /* axis of the channels; -1: none (tokens) */
    double *numbers;                 /* of a constant; NULL: unknown */
    const Onnx__TensorProto *weight; /* the initializer that a constant derives from */
    const char *guess;               /* preceding operator whose shape was guessed; NULL: none */
};

/** A node of the model. */
struct onnx_step {
    const Onnx__NodeProto *proto;
    const char *op;      /* "Conv"; "com.example::Foo" for custom operators */
    const char *name;    /* made printable */
    const char **inputs; /* names; "" for an omitted input */
    const char *output;  /* its first output with a name */
    int input_count;
    bool is_wanted; /* needed for the model's outputs */
};

struct onnx_graph {
    const Onnx__GraphProto *proto;
    const char *file;         /* in errors */
    const uint8_t *bytes;     /* the whole file */
    const char *folder;       /* that the file lies in; NULL: it was read from memory */
    GArray *steps;            /* struct onnx_step */
    GArray *order;            /* int: indices of the needed steps in topological order */
    GPtrArray *values;        /* struct onnx_value * */
    GHashTable *value_of;     /* name -> struct onnx_value * */
    GHashTable *maker_of;     /* name -> index of its step + 1 */
    GHashTable *user_of;      /* name -> index of its only step + 1, G_MAXINT for several */
    GHashTable *declared;     /* name -> Onnx__ValueInfoProto *, the shape declared in the file */
    GHashTable *initializers; /* name -> Onnx__TensorProto * */
    GHashTable *counted;      /* Onnx__TensorProto * whose parameters are assigned to a layer */
    GStringChunk *names;
    struct orch_net_shape wanted; /* requested input size; 0: the model's own */
    int batch_axis;               /* of the inputs: 0, or 1 where sequences come first */
    int64_t open_batch;           /* size of the batch where the file leaves it open */
    bool is_whole;                /* the batch is not divided out: a sample is the whole input */
    bool is_open, may_turn;       /* the first input's batch is open, or may be its second axis */
    const char *batch_name;       /* of an open batch, in the file; NULL: none */
    int64_t batch;                /* divisor of values and counts */
    bool has_mixers;              /* some operator may join values of several samples or steps */
    const char *mixer;            /* "MatMul 'name'", the first that joins several samples; NULL */
    int64_t work;                 /* sum over the layers, bounded to avoid integer overflow */
    int64_t numbers_left;         /* how many more numbers of constants may be computed */
    struct orch_net_builder builder;
    struct orch_onnx_notes *notes; /* may be NULL */
};

/** Checks the initializers, builds the indices, joins steps and sorts them. `g` is zeroed except
 * for proto, file, bytes, folder, wanted, notes and the way its batch is read (batch_axis,
 * open_batch, is_whole); the caller releases it in any case. */
bool orch_onnx_graph_init(struct onnx_graph *g, GError **error);
void orch_onnx_graph_release(struct onnx_graph *g);

static inline struct onnx_step *onnx_step_at(const struct onnx_graph *g, int index)
{
    return &g_array_index(g->steps, struct onnx_step, index);
}

/** Index of a step in maker_of or user_of, -1 if there is none. */
int orch_onnx_index_of(GHashTable *table, const char *name);
/** The step that produces a value, or -1; and the only step that reads it, -1 for none or
 * several. */
int orch_onnx_graph_maker(const struct onnx_graph *g, const char *value);
int orch_onnx_graph_only_user(const struct onnx_graph *g, const char *value);
/** True for an output of the model. */
bool orch_onnx_graph_is_output(const struct onnx_graph *g, const char *value);

/** Finds a value by name; NULL if it is not produced yet. Initializers are created on first use. */
struct onnx_value *orch_onnx_graph_value(struct onnx_graph *g, const char *name);
/** Creates a value: a constant of rank 0 without numbers. */
struct onnx_value *orch_onnx_graph_make(struct onnx_graph *g, const char *name);
/** Reads the contents of a tensor in the file into `out`. */
void orch_onnx_value_read(struct onnx_value *out, const Onnx__TensorProto *tensor);

int64_t orch_onnx_value_count(const struct onnx_value *v);
bool orch_onnx_value_is_constant(const struct onnx_value *v);
/** Shape for one image. */
struct orch_net_shape orch_onnx_value_shape(const struct onnx_graph *g, const struct onnx_value *v);
/** Formats the dims: "1x3x224x224". Caller frees. */
char *orch_onnx_value_format(const struct onnx_value *v);

/** Like orch_onnx_text_clean; the result lives as long as the graph. */
const char *orch_onnx_text(struct onnx_graph *g, const char *text);

/** Joins operations that exporters decomposed: GELU, SiLU, hard swish, layer norm, biases. */
void orch_onnx_fuse(struct onnx_graph *g);

/** Processes a step: computes its outputs and adds its node to the network. */
bool orch_onnx_step_run(struct onnx_graph *g, const struct onnx_step *step, GError **error);

const Onnx__AttributeProto *orch_onnx_attribute(const struct onnx_step *step, const char *name);
int64_t orch_onnx_attribute_int(const struct onnx_step *step, const char *name, int64_t otherwise);
double orch_onnx_attribute_float(const struct onnx_step *step, const char *name, double otherwise);
bool orch_onnx_attribute_is(const struct onnx_step *step, const char *name, const char *text);

#endif
