/*
 * Ringlet for C (C99) and everything that can call C. The calls are those of ringlet.hpp, with the same meaning; see
 * there for shapes, memory and cost.
 *
 * Errors   Every call that returns int returns RINGLET_OK or an error code; ringlet_last_error() then has the text.
 * Threads  As in C++: any, calls may overlap. The text of the last error belongs to the calling thread.
 * Memory   What a call hands out through a pointer to pointer is freed by the function named there. Freeing NULL is
 * harmless.
 */
#ifndef RINGLET_RINGLET_H
#define RINGLET_RINGLET_H

#include <stddef.h>
#include <stdint.h>

#include "ringlet/export.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/* What kind of thing went wrong: the values of ringlet::ErrorCode. */
enum {
  RINGLET_OK = 0,
  RINGLET_INVALID_ARGUMENT = 1,
  RINGLET_NOT_INITIALIZED = 2,
  RINGLET_MISMATCH = 3,
  RINGLET_PEER_LOST = 4,
  RINGLET_TIMEOUT = 5,
  RINGLET_MALFORMED = 6,
  RINGLET_BACKEND = 7,
  RINGLET_CALLBACK = 8,
  RINGLET_INTERNAL = 9
};

typedef enum {
  RINGLET_FLOAT32 = 0,
  RINGLET_FLOAT64 = 1,
  RINGLET_FLOAT16 = 2,
  RINGLET_BFLOAT16 = 3,
  RINGLET_INT8 = 4,
  RINGLET_UINT8 = 5,
  RINGLET_INT32 = 6,
  RINGLET_INT64 = 7,
  RINGLET_BOOLEAN = 8
} ringlet_dtype;

typedef enum { RINGLET_AVERAGE = 0, RINGLET_SUM = 1, RINGLET_MIN = 2, RINGLET_MAX = 3, RINGLET_PRODUCT = 4 } ringlet_op;

/* Contiguous host memory with a type and a shape, borrowed until the call's handle is complete. `shape` may be NULL for
 * a scalar. */
typedef struct {
  void* data;
  ringlet_dtype dtype;
  size_t dims;
  const size_t* shape;
} ringlet_tensor;

/* Options of all collectives; each reads those that its C++ form has. All zero (or no options at all) is the default.
 */
typedef struct {
  const char* name; /* NULL: unnamed */
  ringlet_op op;
  double prescale;              /* 0 counts as 1 */
  double postscale;             /* 0 counts as 1 */
  const char* compression;      /* a spec; NULL: by the rules of RINGLET_COMPRESSION */
  const ringlet_tensor* output; /* NULL: in place, or a ringlet_result */
  int root;                     /* of a broadcast */
  const size_t* splits;         /* of an alltoall: one for each rank; NULL: equal parts */
  size_t splits_count;
  int process_set; /* 0: every rank */
} ringlet_options;

typedef struct ringlet_handle ringlet_handle; /* one collective in flight; ringlet_handle_free */
typedef struct ringlet_result ringlet_result; /* a tensor with its own memory; ringlet_result_free */

/* The text of the calling thread's last error, "" before the first; valid until the thread's next failing call. Never
 * NULL. */
RINGLET_EXPORT const char* ringlet_last_error(void);

/* "0.1.0" */
RINGLET_EXPORT const char* ringlet_version(void);

RINGLET_EXPORT int ringlet_init(void);
/* On a communicator of the program's own, given by MPI_Comm_c2f(comm). RINGLET_BACKEND in a build without MPI. */
RINGLET_EXPORT int ringlet_init_fortran_comm(int comm);
RINGLET_EXPORT int ringlet_shutdown(void);
RINGLET_EXPORT int ringlet_abort(const char* reason);
/* 1 or 0. */
RINGLET_EXPORT int ringlet_is_initialized(void);

/* -1 when not initialised, with an error text. */
RINGLET_EXPORT int ringlet_rank(void);
RINGLET_EXPORT int ringlet_size(void);
RINGLET_EXPORT int ringlet_local_rank(void);
RINGLET_EXPORT int ringlet_local_size(void);
RINGLET_EXPORT int ringlet_cross_rank(void);
RINGLET_EXPORT int ringlet_cross_size(void);

/* The asynchronous forms hand out a handle, which is to be freed even when the collective fails. `options` may be NULL.
 */
RINGLET_EXPORT int ringlet_allreduce_async(const ringlet_tensor* tensor, const ringlet_options* options,
                                           ringlet_handle** handle);
RINGLET_EXPORT int ringlet_allgather_async(const ringlet_tensor* tensor, const ringlet_options* options,
                                           ringlet_handle** handle);
RINGLET_EXPORT int ringlet_broadcast_async(const ringlet_tensor* tensor, const ringlet_options* options,
                                           ringlet_handle** handle);
RINGLET_EXPORT int ringlet_reduce_scatter_async(const ringlet_tensor* tensor, const ringlet_options* options,
                                                ringlet_handle** handle);
RINGLET_EXPORT int ringlet_alltoall_async(const ringlet_tensor* tensor, const ringlet_options* options,
                                          ringlet_handle** handle);
RINGLET_EXPORT int ringlet_barrier_async(const ringlet_options* options, ringlet_handle** handle);

/* The blocking forms. `result` is only written where options give no output, and may be NULL where they do. */
RINGLET_EXPORT int ringlet_allreduce(const ringlet_tensor* tensor, const ringlet_options* options);
RINGLET_EXPORT int ringlet_allgather(const ringlet_tensor* tensor, const ringlet_options* options,
                                     ringlet_result** result);
RINGLET_EXPORT int ringlet_broadcast(const ringlet_tensor* tensor, const ringlet_options* options);
RINGLET_EXPORT int ringlet_reduce_scatter(const ringlet_tensor* tensor, const ringlet_options* options,
                                          ringlet_result** result);
RINGLET_EXPORT int ringlet_alltoall(const ringlet_tensor* tensor, const ringlet_options* options,
                                    ringlet_result** result);
RINGLET_EXPORT int ringlet_barrier(const ringlet_options* options);

/* Blocks until the collective is complete; returns its error. */
RINGLET_EXPORT int ringlet_handle_wait(ringlet_handle* handle);
/* Writes 1 to `complete` when ringlet_handle_wait() would not block, else 0. */
RINGLET_EXPORT int ringlet_handle_poll(ringlet_handle* handle, int* complete);
/* Waits, then moves out the result of a collective that was given no output. */
RINGLET_EXPORT int ringlet_handle_take(ringlet_handle* handle, ringlet_result** result);
/* Calls `done(code, text, user)` once when complete: on the library's thread, or at once if it is complete already. The
 * callback may start collectives but must not wait. It is called even if the handle is freed before. */
RINGLET_EXPORT int ringlet_handle_on_complete(ringlet_handle* handle,
                                              void (*done)(int code, const char* text, void* user), void* user);
/* Does not cancel the collective: its memory still belongs to it until it is complete. */
RINGLET_EXPORT void ringlet_handle_free(ringlet_handle* handle);

/* What a result holds; the pointers are valid until it is freed. `splits` are the rows that came from each rank. */
RINGLET_EXPORT const void* ringlet_result_data(const ringlet_result* result);
RINGLET_EXPORT size_t ringlet_result_bytes(const ringlet_result* result);
RINGLET_EXPORT ringlet_dtype ringlet_result_dtype(const ringlet_result* result);
RINGLET_EXPORT size_t ringlet_result_dims(const ringlet_result* result);
RINGLET_EXPORT size_t ringlet_result_extent(const ringlet_result* result, size_t dim);
RINGLET_EXPORT const size_t* ringlet_result_splits(const ringlet_result* result, size_t* count);
RINGLET_EXPORT void ringlet_result_free(ringlet_result* result);

/* This rank's counters as a JSON object, the names of ringlet::Counters; valid until the thread's next call of it. NULL
 * when not initialised, with an error text. */
RINGLET_EXPORT const char* ringlet_counters_json(void);

#ifdef __cplusplus
}
#endif

#endif
