/* The library from C: an average in place, and a gather whose size only the ranks together know. */
#include <stdio.h>

#include "ringlet/ringlet.h"

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, ringlet_last_error());
  return 1;
}

static int average(void) {
  double values[2] = {ringlet_rank(), 5};
  const size_t shape[1] = {2};
  const ringlet_tensor tensor = {values, RINGLET_FLOAT64, 1, shape};
  ringlet_options options = {0}; /* all zero: the defaults, which average */
  options.name = "values";
  if (ringlet_allreduce(&tensor, &options) != RINGLET_OK) return failed("allreduce");
  return values[0] == (ringlet_size() - 1) / 2.0 && values[1] == 5 ? 0 : 1;
}

/* Rank r has r + 1 rows, up to 64. */
static int gather(void) {
  int32_t rows[64];
  const size_t shape[1] = {ringlet_rank() < 64 ? (size_t)ringlet_rank() + 1 : 64};
  const ringlet_tensor tensor = {rows, RINGLET_INT32, 1, shape};
  ringlet_result* result = NULL;
  size_t i, expected = 0;
  int wrong;
  for (i = 0; i < shape[0]; ++i) rows[i] = ringlet_rank();
  if (ringlet_allgather(&tensor, NULL, &result) != RINGLET_OK) return failed("allgather");
  for (i = 1; i <= (size_t)ringlet_size(); ++i) expected += i < 64 ? i : 64;
  wrong = ringlet_result_extent(result, 0) != expected ||
          ((const int32_t*)ringlet_result_data(result))[expected - 1] != ringlet_size() - 1;
  ringlet_result_free(result);
  return wrong;
}

int main(void) {
  int status;
  if (ringlet_init() != RINGLET_OK) return failed("init");
  status = average() | gather();
  if (ringlet_shutdown() != RINGLET_OK) return failed("shutdown");
  return status;
}
