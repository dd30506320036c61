/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MPI for a single process, where none is installed or a package cannot know which (a wheel):
 * plugins that use MPI have one worker then. Only what plugins/common/comm and these plugins call.
 * A communicator is the world or none, and an operation over its one rank leaves the data as it is.
 */
#ifndef ORCH_PLUGINS_COMMON_COMM_ALONE_MPI_H
#define ORCH_PLUGINS_COMMON_COMM_ALONE_MPI_H

#include <string.h>

typedef int MPI_Comm, MPI_Op, MPI_Request, MPI_Info, MPI_Errhandler, MPI_T_cvar_handle;
typedef int MPI_Datatype; /* bytes of a value */
typedef int MPI_Status;
typedef void MPI_User_function(void *in, void *inout, int *count, MPI_Datatype *type);

enum { MPI_SUCCESS, MPI_ERR_OTHER };
enum { MPI_COMM_NULL, MPI_COMM_WORLD };
enum { MPI_CHAR = 1, MPI_UINT16_T = 2, MPI_INT = 4, MPI_FLOAT = 4, MPI_DOUBLE = 8 };
enum { MPI_OP_NULL, MPI_SUM, MPI_MAX, MPI_MIN };
enum {
    MPI_UNDEFINED = -1,
    MPI_THREAD_SERIALIZED = 2,
    MPI_COMM_TYPE_SHARED = 1,
    MPI_INFO_NULL = 0,
    MPI_ERRORS_RETURN = 0,
    MPI_MAX_ERROR_STRING = 64,
    MPI_MAX_LIBRARY_VERSION_STRING = 64,
};
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

static inline int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    (void)argc;
    (void)argv;
    *provided = wanted;
    return MPI_SUCCESS;
}
static inline int MPI_Initialized(int *is)
{
    *is = 1;
    return MPI_SUCCESS;
}
static inline int MPI_Finalized(int *is)
{
    *is = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Finalize(void)
{
    return MPI_SUCCESS;
}
static inline int MPI_Get_library_version(char *out, int *length)
{
    strcpy(out, "one process");
    *length = (int)strlen(out);
    return MPI_SUCCESS;
}
static inline int MPI_Error_string(int code, char *out, int *length)
{
    strcpy(out, code == MPI_SUCCESS ? "no error" : "error");
    *length = (int)strlen(out);
    return MPI_SUCCESS;
}

static inline int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    *out = comm;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
    (void)key;
    *out = color == MPI_UNDEFINED ? MPI_COMM_NULL : comm;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                      MPI_Comm *out)
{
    (void)info;
    return MPI_Comm_split(comm, type, key, out);
}
static inline int MPI_Comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm;
    (void)handler;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_rank(MPI_Comm comm, int *out)
{
    (void)comm;
    *out = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_size(MPI_Comm comm, int *out)
{
    (void)comm;
    *out = 1;
    return MPI_SUCCESS;
}

static inline int MPI_Type_size(MPI_Datatype type, int *out)
{
    *out = type;
    return MPI_SUCCESS;
}
static inline int MPI_Op_create(MPI_User_function *function, int commutes, MPI_Op *out)
{
    (void)function;
    (void)commutes;
    *out = MPI_SUM;
    return MPI_SUCCESS;
}
static inline int MPI_Op_free(MPI_Op *op)
{
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

static inline int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm)
{
    (void)op;
    (void)comm;
    if (in != MPI_IN_PLACE && out)
        memcpy(out, in, (size_t)count * (size_t)type);
    return MPI_SUCCESS;
}
static inline int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                             int root, MPI_Comm comm)
{
    (void)root;
    return MPI_Allreduce(in, out, count, type, op, comm);
}
static inline int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)data;
    (void)count;
    (void)type;
    (void)root;
    (void)comm;
    return MPI_SUCCESS;
}
static inline int MPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}
static inline int MPI_Ibarrier(MPI_Comm comm, MPI_Request *out)
{
    (void)comm;
    *out = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Test(MPI_Request *request, int *is_done, MPI_Status *status)
{
    (void)request;
    (void)status;
    *is_done = 1;
    return MPI_SUCCESS;
}

/* It has no parameters. */
static inline int MPI_T_init_thread(int wanted, int *provided)
{
    *provided = wanted;
    return MPI_ERR_OTHER;
}
static inline int MPI_T_cvar_get_index(const char *name, int *out)
{
    (void)name;
    (void)out;
    return MPI_ERR_OTHER;
}
static inline int MPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *out,
                                          int *count)
{
    (void)index;
    (void)object;
    (void)out;
    (void)count;
    return MPI_ERR_OTHER;
}
static inline int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *out)
{
    (void)handle;
    (void)out;
    return MPI_ERR_OTHER;
}
static inline int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    (void)handle;
    return MPI_SUCCESS;
}
static inline int MPI_T_finalize(void)
{
    return MPI_SUCCESS;
}

#endif
