/* Programs that end without ringlet_shutdown(): each must end by itself, in time and with its own exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ringlet/ringlet.h"

static int fail(const char* what) {
  fprintf(stderr, "exit_test: %s: %s\n", what, ringlet_last_error());
  return 1;
}

static int run(const char* ending) {
  float value = 1.0F;
  const size_t one = 1;
  ringlet_tensor tensor = {&value, RINGLET_FLOAT32, 1, &one};
  ringlet_options options = {0};
  options.name = "x";
  if (ringlet_init() != RINGLET_OK) return fail("init");
  if (ringlet_allreduce(&tensor, &options) != RINGLET_OK) return fail("allreduce");
  if (value != 1.0F) return fail("an average of ones is not one");
  if (strcmp(ending, "exit") == 0) exit(0);
  if (strcmp(ending, "in_flight") == 0) {
    static float late = 2.0F; /* outlives main, as memory in flight must */
    static ringlet_handle* handle = NULL;
    tensor.data = &late;
    return ringlet_allreduce_async(&tensor, &options, &handle) == RINGLET_OK ? 0 : fail("allreduce_async");
  }
  if (strcmp(ending, "fork") == 0) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) exit(7); /* runs the exit handlers without the worker thread */
    if (child < 0 || waitpid(child, &status, 0) != child) return fail("fork");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return fail("the child did not exit as it wanted");
    return ringlet_allreduce(&tensor, &options) == RINGLET_OK ? 0 : fail("allreduce after a child has exited");
  }
  return 0;
}

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : "return"); }
