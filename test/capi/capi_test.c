/* The C interface, by values and error codes; alone, or on every rank of mpirun ("world" or "communicator" as
 * argument). */
#include <stdio.h>
#include <string.h>

#ifdef CAPI_TEST_WITH_MPI
#include <mpi.h>
#endif

#include "ringlet/ringlet.h"

static int failures = 0;

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      ++failures;                                                                                                      \
      fprintf(stderr, "%s:%d: not true: %s (last error: %s)\n", __FILE__, __LINE__, #condition, ringlet_last_error()); \
    }                                                                                                                  \
  } while (0)

#define EXPECT_CODE(expected, call)                                                                          \
  do {                                                                                                       \
    const int code_ = (call);                                                                                \
    if (code_ != (expected)) {                                                                               \
      ++failures;                                                                                            \
      fprintf(stderr, "%s:%d: %s gave %d instead of %d: %s\n", __FILE__, __LINE__, #call, code_, (expected), \
              ringlet_last_error());                                                                         \
    }                                                                                                        \
  } while (0)

static ringlet_options named(const char* name) {
  ringlet_options options = {0};
  options.name = name;
  options.op = RINGLET_SUM;
  return options;
}

static void test_before_init(void) {
  float x = 1.0F;
  ringlet_tensor tensor = {&x, RINGLET_FLOAT32, 0, NULL};
  EXPECT(ringlet_is_initialized() == 0);
  EXPECT(ringlet_rank() == -1);
  EXPECT(strstr(ringlet_last_error(), "init") != NULL);
  EXPECT(ringlet_counters_json() == NULL);
  EXPECT_CODE(RINGLET_NOT_INITIALIZED, ringlet_allreduce(&tensor, NULL));
  EXPECT_CODE(RINGLET_NOT_INITIALIZED, ringlet_abort("x"));
  EXPECT_CODE(RINGLET_OK, ringlet_shutdown());
  EXPECT(strlen(ringlet_version()) > 0);
}

static void test_reductions(int rank, int size) {
  enum { n = 5 };
  const size_t shape[1] = {n};
  float x[n], y[n] = {0};
  ringlet_tensor in = {x, RINGLET_FLOAT32, 1, shape}, out = {y, RINGLET_FLOAT32, 1, shape};
  ringlet_options options = named("sum");
  int i = 0;
  for (i = 0; i < n; ++i) x[i] = (float)(i + rank);
  EXPECT_CODE(RINGLET_OK, ringlet_allreduce(&in, &options));
  for (i = 0; i < n; ++i) EXPECT(x[i] == (float)(size * i + size * (size - 1) / 2));

  for (i = 0; i < n; ++i) x[i] = (float)(i + 1);
  options = named("average");
  options.op = RINGLET_AVERAGE;
  options.prescale = 2.0;
  options.output = &out;
  EXPECT_CODE(RINGLET_OK, ringlet_allreduce(&in, &options));
  for (i = 0; i < n; ++i) EXPECT(x[i] == (float)(i + 1) && y[i] == (float)(2 * (i + 1)));

  options = named("max");
  options.op = RINGLET_MAX;
  for (i = 0; i < n; ++i) x[i] = (float)rank;
  EXPECT_CODE(RINGLET_OK, ringlet_allreduce(&in, &options));
  for (i = 0; i < n; ++i) EXPECT(x[i] == (float)(size - 1));
}

static void test_movement(int rank, int size) {
  int32_t x[2] = {10 * rank, 10 * rank + 1}, rows[4] = {0};
  const size_t shape[1] = {2}, scattered[2] = {(size_t)size, 1};
  ringlet_tensor in = {x, RINGLET_INT32, 1, shape};
  ringlet_options options = named("gather");
  ringlet_result* result = NULL;
  size_t count = 0;
  int r = 0;
  EXPECT_CODE(RINGLET_OK, ringlet_allgather(&in, &options, &result));
  EXPECT(ringlet_result_bytes(result) == (size_t)size * 8);
  EXPECT(ringlet_result_dtype(result) == RINGLET_INT32);
  EXPECT(ringlet_result_dims(result) == 1 && ringlet_result_extent(result, 0) == (size_t)size * 2);
  EXPECT(ringlet_result_extent(result, 1) == 0);
  EXPECT(ringlet_result_splits(result, &count) != NULL && count == (size_t)size);
  if (ringlet_result_bytes(result) == (size_t)size * 8) {
    for (r = 0; r < size; ++r) EXPECT(((const int32_t*)ringlet_result_data(result))[2 * r + 1] == 10 * r + 1);
  }
  ringlet_result_free(result);

  options = named("broadcast");
  options.root = size - 1;
  EXPECT_CODE(RINGLET_OK, ringlet_broadcast(&in, &options));
  EXPECT(x[0] == 10 * (size - 1) && x[1] == 10 * (size - 1) + 1);

  if (size > 4) return;
  for (r = 0; r < size; ++r) rows[r] = 100 * rank + r;
  in.data = rows;
  in.dims = 2;
  in.shape = scattered;
  options = named("scatter");
  EXPECT_CODE(RINGLET_OK, ringlet_reduce_scatter(&in, &options, &result));
  EXPECT(ringlet_result_bytes(result) == 4);
  if (ringlet_result_bytes(result) == 4) {
    EXPECT(*(const int32_t*)ringlet_result_data(result) == 100 * size * (size - 1) / 2 + size * rank);
  }
  ringlet_result_free(result);

  options = named("exchange");
  EXPECT_CODE(RINGLET_OK, ringlet_alltoall(&in, &options, &result));
  EXPECT(ringlet_result_bytes(result) == (size_t)size * 4);
  if (ringlet_result_bytes(result) == (size_t)size * 4) {
    for (r = 0; r < size; ++r) EXPECT(((const int32_t*)ringlet_result_data(result))[r] == 100 * r + rank);
  }
  ringlet_result_free(result);
  options = named("barrier");
  EXPECT_CODE(RINGLET_OK, ringlet_barrier(&options));
  EXPECT_CODE(RINGLET_OK, ringlet_barrier(NULL));
}

static void on_complete(int code, const char* text, void* user) {
  *(int*)user = code == RINGLET_OK && *text == '\0' ? 1 : -1;
}

static void test_handles(int rank, int size) {
  double x = rank, y = 2.0 * rank;
  const size_t one = 1;
  ringlet_tensor a = {&x, RINGLET_FLOAT64, 1, &one}, b = {&y, RINGLET_FLOAT64, 1, &one};
  ringlet_options first = named("first"), second = named("second");
  ringlet_handle *h = NULL, *g = NULL;
  ringlet_result* result = NULL;
  int complete = 0, called = 0;
  EXPECT_CODE(RINGLET_OK, ringlet_allreduce_async(&a, rank == 0 ? &first : &second, &h)); /* in any order */
  EXPECT_CODE(RINGLET_OK, ringlet_allreduce_async(&b, rank == 0 ? &second : &first, &g));
  EXPECT_CODE(RINGLET_OK, ringlet_handle_wait(h));
  EXPECT_CODE(RINGLET_OK, ringlet_handle_wait(g));
  EXPECT_CODE(RINGLET_OK, ringlet_handle_wait(g));
  EXPECT_CODE(RINGLET_OK, ringlet_handle_poll(g, &complete));
  EXPECT(complete == 1);
  EXPECT_CODE(RINGLET_OK, ringlet_handle_on_complete(g, on_complete, &called)); /* complete: called at once */
  EXPECT(called == 1);
  if (size == 2) EXPECT(rank == 0 ? x == 2.0 && y == 1.0 : x == 1.0 && y == 2.0);
  ringlet_handle_free(h);
  ringlet_handle_free(g);
  ringlet_handle_free(NULL);

  EXPECT_CODE(RINGLET_OK, ringlet_allgather_async(&a, NULL, &h));
  EXPECT_CODE(RINGLET_OK, ringlet_handle_take(h, &result));
  EXPECT(ringlet_result_bytes(result) == (size_t)size * sizeof(double));
  ringlet_result_free(result);
  ringlet_handle_free(h);
  EXPECT_CODE(RINGLET_OK, ringlet_barrier_async(NULL, &h));
  EXPECT_CODE(RINGLET_OK, ringlet_handle_wait(h));
  ringlet_handle_free(h);
}

static void test_errors(int size) {
  float x = 1.0F;
  const size_t one = 1, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  ringlet_tensor tensor = {&x, RINGLET_FLOAT32, 1, &one}, bad = tensor;
  ringlet_options options = named("wrong");
  ringlet_handle* h = NULL;
  int complete = 0;
  bad.data = NULL;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce(&bad, &options));
  EXPECT(strstr(ringlet_last_error(), "wrong") != NULL && strstr(ringlet_last_error(), "null") != NULL);
  bad = tensor;
  bad.dtype = (ringlet_dtype)9;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce(&bad, &options));
  bad = tensor;
  bad.shape = NULL;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce(&bad, &options));
  bad.dims = 9;
  bad.shape = nine;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce(&bad, &options));
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce(NULL, &options));
  options.op = (ringlet_op)5;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce(&tensor, &options));
  options = named("wrong");
  options.root = size;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_broadcast(&tensor, &options));
  options = named("wrong");
  options.compression = "qsdg(bits=4)";
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce_async(&tensor, &options, &h));
  EXPECT(h == NULL);
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allreduce_async(&tensor, NULL, NULL));
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_allgather(&tensor, NULL, NULL));
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_handle_wait(NULL));
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_handle_poll(NULL, &complete));
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_handle_on_complete(NULL, NULL, NULL));
  EXPECT(ringlet_result_data(NULL) == NULL && ringlet_result_dims(NULL) == 0);
  ringlet_result_free(NULL);
}

static void test_mismatch(int rank, int size) {
  float x[2] = {1.0F, 2.0F};
  const size_t shape = rank == 0 ? 1 : 2;
  ringlet_tensor tensor = {x, RINGLET_FLOAT32, 1, &shape};
  ringlet_options options = named("shape");
  const int code = ringlet_allreduce(&tensor, &options);
  EXPECT(code == (size == 1 ? RINGLET_OK : RINGLET_MISMATCH));
  if (size > 1) EXPECT(strstr(ringlet_last_error(), "shape") != NULL);
  tensor.dims = 0; /* the job goes on */
  EXPECT_CODE(RINGLET_OK, ringlet_allreduce(&tensor, &options));
}

static void test_counters(void) {
  const char* json = ringlet_counters_json();
  EXPECT(json != NULL && json[0] == '{' && strstr(json, "\"bytes_sent\":") != NULL &&
         strstr(json, "\"exchanges\":{") != NULL);
}

static void test_all(void) {
  const int rank = ringlet_rank(), size = ringlet_size();
  EXPECT(ringlet_is_initialized() == 1);
  EXPECT(rank >= 0 && rank < size);
  EXPECT(ringlet_local_size() == size && ringlet_local_rank() == rank);
  EXPECT(ringlet_cross_size() == 1 && ringlet_cross_rank() == 0);
  test_reductions(rank, size);
  test_movement(rank, size);
  test_handles(rank, size);
  test_errors(size);
  test_mismatch(rank, size);
  test_counters();
}

/* The program's own MPI, and a communicator whose ranks run backwards. */
static void test_on_communicator(int* argc, char*** argv) {
#ifdef CAPI_TEST_WITH_MPI
  MPI_Comm reversed;
  int provided = 0, rank = 0, size = 0, finalized = 1, sum = 0;
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_init_fortran_comm(0)); /* before MPI_Init: an error, not the end */
  EXPECT(strstr(ringlet_last_error(), "MPI_Init") != NULL);
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_init_fortran_comm((int)MPI_Comm_c2f(MPI_COMM_NULL)));
  EXPECT_CODE(RINGLET_OK, ringlet_init_fortran_comm((int)MPI_Comm_c2f(reversed)));
  EXPECT(ringlet_rank() == size - 1 - rank);
  test_all();
  EXPECT_CODE(RINGLET_OK, ringlet_shutdown());
  MPI_Finalized(&finalized);
  EXPECT(finalized == 0);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, reversed); /* still the program's */
  EXPECT(sum == size * (size - 1) / 2);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  EXPECT_CODE(RINGLET_INVALID_ARGUMENT, ringlet_init_fortran_comm(0));
#else
  (void)argc;
  (void)argv;
  EXPECT_CODE(RINGLET_BACKEND, ringlet_init_fortran_comm(0));
#endif
}

int main(int argc, char** argv) {
  test_before_init();
  if (argc > 1 && strcmp(argv[1], "communicator") == 0) {
    test_on_communicator(&argc, &argv);
    return failures == 0 ? 0 : 1;
  }
  EXPECT_CODE(RINGLET_OK, ringlet_init());
  EXPECT_CODE(RINGLET_OK, ringlet_init());
  if (argc > 1) EXPECT(ringlet_size() > 1); /* "world": mpirun's ranks must have met */
  test_all();
  EXPECT_CODE(RINGLET_OK, ringlet_shutdown());
  EXPECT(ringlet_is_initialized() == 0);
  EXPECT_CODE(RINGLET_NOT_INITIALIZED, ringlet_barrier(NULL));
  return failures == 0 ? 0 : 1;
}
