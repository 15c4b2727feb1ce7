#include "runtime/executor.hpp"

#include <fmt/format.h>

#include <optional>

namespace ringlet::runtime {
namespace {

Error to_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e;
  } catch (const std::exception& e) {
    return Error(ErrorCode::internal, e.what());
  } catch (...) {
    return Error(ErrorCode::internal, "an exception of unknown type");
  }
}

}  // namespace

/// One bucket from plan to end. A failure in one of its lanes is reported at once, because the other lanes may wait for
/// ranks that wait for this one.
struct Executor::Slot final : Alarm {
  explicit Slot(Executor& owner) : executor(owner) {}

  void raise(std::exception_ptr error) noexcept override {
    if (executor.services_.net.failed()) return;  // everybody knows
    const Error cause = to_error(error);
    const std::string more = entries.size() > 1 ? fmt::format(" and {} more", entries.size() - 1) : std::string();
    executor.listener_.exchange_failed(
        Error(cause.code(), fmt::format("{} \"{}\"{}: {}", to_string(entries.front()->request.kind),
                                        entries.front()->request.name, more, cause.what())));
  }

  Executor& executor;
  Bucket bucket;
  std::uint64_t sequence = 0;
  std::vector<TensorId> ids;
  std::vector<TensorEntry*> entries;
};

Executor::Executor(const BucketServices& services, TensorTable& table, ExecutorListener& listener)
    : services_(services), table_(table), listener_(listener) {}

Executor::~Executor() = default;

void Executor::enqueue(std::uint64_t sequence, std::span<const TensorId> tensors) {
  if (free_.empty()) {
    slots_.push_back(std::make_unique<Slot>(*this));
    free_.push_back(slots_.back().get());
  }
  Slot& slot = *free_.back();
  free_.pop_back();
  slot.sequence = sequence;
  slot.ids.clear();
  slot.entries.clear();
  for (const TensorId id : tensors) {
    TensorEntry& entry = table_.at(id);
    entry.planned = true;
    services_.book.negotiated(services_.net.now() - entry.enqueued);
    if (const auto why = refusal(entry)) {
      table_.remove(id).handle->complete(why);
      continue;
    }
    slot.ids.push_back(id);
    slot.entries.push_back(&entry);
  }
  waiting_.push_back(&slot);
}

std::optional<Error> Executor::refusal(const TensorEntry& entry) const {
  if (entry.compressor == nullptr || !entry.compressor->error_feedback()) return std::nullopt;
  try {
    auto& state = services_.residuals.entry(entry.request.name);
    services_.residuals.residual(state, entry.request.name, entry.request.shape.elements());
  } catch (const Error& e) {
    return e;
  }
  return std::nullopt;
}

bool Executor::start() {
  bool any = false;
  while (!waiting_.empty() && tasks_.running() < services_.settings.buckets_in_flight) {
    Slot& slot = *waiting_.front();
    waiting_.pop_front();
    tasks_.spawn(run(slot));
    any = true;
  }
  return any;
}

Task<> Executor::run(Slot& slot) {
  // Tags repeat after so many buckets; far fewer are ever in flight, and within a tag messages keep their order.
  constexpr transport::Tag kWindows = (transport::kMaxTag - transport::kFirstDataTag) / collective::kTagsPerExchange;
  const auto window = static_cast<transport::Tag>(slot.sequence % kWindows);
  const transport::Tag tag = transport::kFirstDataTag + window * collective::kTagsPerExchange;
  std::optional<Error> error;
  try {
    if (!slot.entries.empty()) co_await slot.bucket.run(services_, slot.entries, tag, slot);
  } catch (...) {
    error = to_error(std::current_exception());
    if (error->code() != ErrorCode::invalid_argument) slot.raise(std::current_exception());
  }
  finish(slot, error);
}

void Executor::finish(Slot& slot, const std::optional<Error>& error) {
  for (const TensorId id : slot.ids) {
    const TensorEntry entry = table_.remove(id);  // the name is free before anybody learns that it is done
    entry.handle->complete(error);
  }
  slot.entries.clear();
  free_.push_back(&slot);
  listener_.bucket_ended(slot.sequence);
}

}  // namespace ringlet::runtime
