#include <fmt/format.h>

#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/default_runtime.hpp"
#include "observe/counters_json.hpp"
#include "ringlet/ringlet.h"
#include "ringlet/ringlet.hpp"
#include "transport/factory.hpp"

struct ringlet_handle {
  ringlet::Handle handle;
};

struct ringlet_result {
  ringlet::OwnedTensor tensor;
};

namespace {

using ringlet::Error;
using ringlet::ErrorCode;
using ringlet::Handle;
using ringlet::TensorView;

static_assert(RINGLET_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(RINGLET_INTERNAL == static_cast<int>(ErrorCode::internal));
static_assert(RINGLET_BOOLEAN == static_cast<int>(ringlet::DType::boolean));
static_assert(RINGLET_PRODUCT == static_cast<int>(ringlet::ReduceOp::product));

thread_local std::string last_error;
thread_local std::string last_json;

int fail(ErrorCode code, const char* text) noexcept {
  try {
    last_error = text;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return static_cast<int>(code);
}

/// Runs `body` and turns what it throws into a code and this thread's text: no exception crosses into C.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return RINGLET_OK;
  } catch (const Error& e) {
    return fail(e.code(), e.what());
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, e.what());
  } catch (...) {
    return fail(ErrorCode::internal, "an exception that is no std::exception");
  }
}

int number_or_minus_one(int (*query)()) noexcept {
  int number = -1;
  guarded([&] { number = query(); });
  return number;
}

template <class T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("{} is NULL", what));
  return *pointer;
}

TensorView view(const ringlet_tensor* tensor, const char* what) {
  const ringlet_tensor& t = given(tensor, what);
  if (t.dtype < RINGLET_FLOAT32 || t.dtype > RINGLET_BOOLEAN) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {} is no dtype", what, static_cast<int>(t.dtype)));
  }
  if (t.dims != 0) given(t.shape, "the tensor's shape");
  return {t.data, static_cast<ringlet::DType>(t.dtype), ringlet::Shape(std::span(t.shape, t.dims))};
}

/// The options that are given, with the zeros read as defaults.
class Options {
 public:
  explicit Options(const ringlet_options* options) : o_(options == nullptr ? ringlet_options{} : *options) {}

  ringlet::ReduceOp op() const {
    if (o_.op < RINGLET_AVERAGE || o_.op > RINGLET_PRODUCT) {
      throw Error(ErrorCode::invalid_argument, fmt::format("{} is no reduction op", static_cast<int>(o_.op)));
    }
    return static_cast<ringlet::ReduceOp>(o_.op);
  }
  std::string name() const { return o_.name == nullptr ? "" : o_.name; }
  std::string compression() const { return o_.compression == nullptr ? "" : o_.compression; }
  TensorView output() const { return o_.output == nullptr ? TensorView() : view(o_.output, "the output"); }
  double prescale() const { return o_.prescale == 0 ? 1.0 : o_.prescale; }
  double postscale() const { return o_.postscale == 0 ? 1.0 : o_.postscale; }
  int root() const { return o_.root; }
  int process_set() const { return o_.process_set; }
  std::vector<std::size_t> splits() const {
    if (o_.splits_count != 0) given(o_.splits, "the options' splits");
    return {o_.splits, o_.splits + o_.splits_count};
  }

 private:
  ringlet_options o_;
};

Handle allreduce(const ringlet_tensor* t, const Options& o) {
  return ringlet::allreduce_async(view(t, "the tensor"), {.name = o.name(),
                                                          .op = o.op(),
                                                          .prescale = o.prescale(),
                                                          .postscale = o.postscale(),
                                                          .compression = o.compression(),
                                                          .output = o.output(),
                                                          .process_set = o.process_set()});
}

Handle allgather(const ringlet_tensor* t, const Options& o) {
  return ringlet::allgather_async(view(t, "the tensor"),
                                  {.name = o.name(), .output = o.output(), .process_set = o.process_set()});
}

Handle broadcast(const ringlet_tensor* t, const Options& o) {
  return ringlet::broadcast_async(
      view(t, "the tensor"),
      {.name = o.name(), .root = o.root(), .output = o.output(), .process_set = o.process_set()});
}

Handle reduce_scatter(const ringlet_tensor* t, const Options& o) {
  return ringlet::reduce_scatter_async(view(t, "the tensor"), {.name = o.name(),
                                                               .op = o.op(),
                                                               .prescale = o.prescale(),
                                                               .postscale = o.postscale(),
                                                               .output = o.output(),
                                                               .process_set = o.process_set()});
}

Handle alltoall(const ringlet_tensor* t, const Options& o) {
  return ringlet::alltoall_async(
      view(t, "the tensor"),
      {.name = o.name(), .splits = o.splits(), .output = o.output(), .process_set = o.process_set()});
}

using Begin = Handle (*)(const ringlet_tensor*, const Options&);

int begin(Begin collective, const ringlet_tensor* tensor, const ringlet_options* options, ringlet_handle** handle) {
  return guarded([&] {
    auto& to = given(handle, "the place for the handle");
    to = nullptr;
    auto made = std::make_unique<ringlet_handle>();
    made->handle = collective(tensor, Options(options));
    to = made.release();
  });
}

int complete(Begin collective, const ringlet_tensor* tensor, const ringlet_options* options) {
  return guarded([&] { collective(tensor, Options(options)).wait(); });
}

int gather(Begin collective, const ringlet_tensor* tensor, const ringlet_options* options, ringlet_result** result) {
  return guarded([&] {
    if (result != nullptr) *result = nullptr;
    const Options o(options);
    if (o.output().data != nullptr) {
      collective(tensor, o).wait();
      return;
    }
    auto& to = given(result, "the place for the result");  // before anything is sent: the other ranks would wait
    auto made = std::make_unique<ringlet_result>();
    made->tensor = collective(tensor, o).take();
    to = made.release();
  });
}

}  // namespace

const char* ringlet_last_error(void) { return last_error.c_str(); }
const char* ringlet_version(void) { return RINGLET_VERSION; }

int ringlet_init(void) {
  return guarded([] { ringlet::init(); });
}

int ringlet_init_fortran_comm(int comm) {
  return guarded([&] {
    for (const auto& factory : ringlet::transport::compiled_transports()) {
      if (!factory.on_fortran_communicator) continue;
      ringlet::transport::adopt_transport(factory.on_fortran_communicator(comm));
      return;
    }
    throw Error(ErrorCode::backend, "ringlet_init_fortran_comm: this build has no MPI");
  });
}

int ringlet_shutdown(void) {
  return guarded([] { ringlet::shutdown(); });
}
int ringlet_abort(const char* reason) {
  return guarded([&] { ringlet::abort(reason == nullptr ? "no reason given" : reason); });
}
int ringlet_is_initialized(void) { return ringlet::is_initialized() ? 1 : 0; }

int ringlet_rank(void) { return number_or_minus_one(ringlet::rank); }
int ringlet_size(void) { return number_or_minus_one(ringlet::size); }
int ringlet_local_rank(void) { return number_or_minus_one(ringlet::local_rank); }
int ringlet_local_size(void) { return number_or_minus_one(ringlet::local_size); }
int ringlet_cross_rank(void) { return number_or_minus_one(ringlet::cross_rank); }
int ringlet_cross_size(void) { return number_or_minus_one(ringlet::cross_size); }

int ringlet_allreduce_async(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_handle** handle) {
  return begin(allreduce, tensor, options, handle);
}
int ringlet_allgather_async(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_handle** handle) {
  return begin(allgather, tensor, options, handle);
}
int ringlet_broadcast_async(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_handle** handle) {
  return begin(broadcast, tensor, options, handle);
}
int ringlet_reduce_scatter_async(const ringlet_tensor* tensor, const ringlet_options* options,
                                 ringlet_handle** handle) {
  return begin(reduce_scatter, tensor, options, handle);
}
int ringlet_alltoall_async(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_handle** handle) {
  return begin(alltoall, tensor, options, handle);
}
int ringlet_barrier_async(const ringlet_options* options, ringlet_handle** handle) {
  const auto barrier = [](const ringlet_tensor*, const Options& o) {
    return ringlet::barrier_async({.name = o.name(), .process_set = o.process_set()});
  };
  return begin(barrier, nullptr, options, handle);
}

int ringlet_allreduce(const ringlet_tensor* tensor, const ringlet_options* options) {
  return complete(allreduce, tensor, options);
}
int ringlet_allgather(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_result** result) {
  return gather(allgather, tensor, options, result);
}
int ringlet_broadcast(const ringlet_tensor* tensor, const ringlet_options* options) {
  return complete(broadcast, tensor, options);
}
int ringlet_reduce_scatter(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_result** result) {
  return gather(reduce_scatter, tensor, options, result);
}
int ringlet_alltoall(const ringlet_tensor* tensor, const ringlet_options* options, ringlet_result** result) {
  return gather(alltoall, tensor, options, result);
}
int ringlet_barrier(const ringlet_options* options) {
  return guarded([&] {
    const Options o(options);
    ringlet::barrier({.name = o.name(), .process_set = o.process_set()});
  });
}

int ringlet_handle_wait(ringlet_handle* handle) {
  return guarded([&] { given(handle, "the handle").handle.wait(); });
}
int ringlet_handle_poll(ringlet_handle* handle, int* complete) {
  return guarded(
      [&] { given(complete, "the place for the answer") = given(handle, "the handle").handle.poll() ? 1 : 0; });
}
int ringlet_handle_take(ringlet_handle* handle, ringlet_result** result) {
  return guarded([&] {
    auto& to = given(result, "the place for the result");
    to = nullptr;
    auto made = std::make_unique<ringlet_result>();
    made->tensor = given(handle, "the handle").handle.take();
    to = made.release();
  });
}
int ringlet_handle_on_complete(ringlet_handle* handle, void (*done)(int, const char*, void*), void* user) {
  return guarded([&] {
    if (done == nullptr) throw Error(ErrorCode::invalid_argument, "the callback is NULL");
    given(handle, "the handle").handle.on_complete([done, user](const Error* error) {
      if (error == nullptr) {
        done(RINGLET_OK, "", user);
      } else {
        done(static_cast<int>(error->code()), error->what(), user);
      }
    });
  });
}
void ringlet_handle_free(ringlet_handle* handle) { delete handle; }

const void* ringlet_result_data(const ringlet_result* result) {
  return result == nullptr ? nullptr : result->tensor.memory.data();
}
size_t ringlet_result_bytes(const ringlet_result* result) {
  return result == nullptr ? 0 : result->tensor.memory.size();
}
ringlet_dtype ringlet_result_dtype(const ringlet_result* result) {
  return result == nullptr ? RINGLET_FLOAT32 : static_cast<ringlet_dtype>(result->tensor.dtype);
}
size_t ringlet_result_dims(const ringlet_result* result) { return result == nullptr ? 0 : result->tensor.shape.dims(); }
size_t ringlet_result_extent(const ringlet_result* result, size_t dim) {
  return dim < ringlet_result_dims(result) ? result->tensor.shape[dim] : 0;
}
const size_t* ringlet_result_splits(const ringlet_result* result, size_t* count) {
  if (count != nullptr) *count = result == nullptr ? 0 : result->tensor.splits.size();
  return result == nullptr ? nullptr : result->tensor.splits.data();
}
void ringlet_result_free(ringlet_result* result) { delete result; }

const char* ringlet_counters_json(void) {
  const int code = guarded([] { last_json = ringlet::observe::to_json(ringlet::counters()); });
  return code == RINGLET_OK ? last_json.c_str() : nullptr;
}
