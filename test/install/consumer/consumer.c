#include <stdio.h>
#include <stdlib.h>

#include "ringlet/ringlet.h"

int main(int argc, char** argv) {
  float values[2] = {1, 2};
  const size_t shape[1] = {2};
  const ringlet_tensor tensor = {values, RINGLET_FLOAT32, 1, shape};
  ringlet_options options = {0};
  const float ranks = argc > 1 ? (float)atoi(argv[1]) : 0;
  options.op = RINGLET_SUM;
  if (ringlet_init() != RINGLET_OK || ringlet_allreduce(&tensor, &options) != RINGLET_OK) {
    fprintf(stderr, "%s\n", ringlet_last_error());
    return 1;
  }
  if (ringlet_shutdown() != RINGLET_OK) return 1;
  return values[0] == ranks && values[1] == 2 * ranks ? 0 : 1;
}
