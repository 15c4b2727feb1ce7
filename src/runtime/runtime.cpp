#include "runtime/runtime.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "base/dtype.hpp"
#include "base/hash.hpp"
#include "compress/rules.hpp"
#include "runtime/worker.hpp"

namespace ringlet::runtime {

using coordinator::Kind;

namespace {
/// Below this many elements compression costs more than it saves, and small tensors (biases, norms, scalars) are the
/// sensitive ones.
constexpr std::size_t kSmallestCompressed = 1024;

/// What `parse` makes of a setting; its error names the variable.
template <class Parse>
auto parsed(const char* variable, const std::string& value, Parse parse) {
  try {
    return parse();
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("{}=\"{}\": {}", variable, value, e.what()));
  }
}

compress::Rules rules_of(const Settings& settings, const compress::Registry& registry) {
  return parsed("RINGLET_COMPRESSION", settings.compression,
                [&] { return compress::Rules(settings.compression, registry); });
}

collective::Selector selector_of(const Settings& settings) {
  return parsed("RINGLET_EXCHANGE", settings.exchange, [&] { return collective::Selector(settings.exchange); });
}
}  // namespace

void check_settings(const Settings& settings, const compress::Registry& registry) {
  rules_of(settings, registry);
  selector_of(settings);
}

struct Runtime::Impl {
  Impl(std::unique_ptr<transport::Transport> net, const Settings& given, compress::Registry methods)
      : settings(given),
        registry(std::move(methods)),
        rules(rules_of(settings, registry)),
        selector(selector_of(settings)),
        log(settings.log_level, net->rank()),
        worker(std::make_shared<Worker>(std::move(net), settings, selector, table, book, log)) {}

  void name(Operation& op);
  std::shared_ptr<const compress::Compressor> compressor_for(const Operation& op, bool named);
  std::shared_ptr<const compress::Compressor> parse(const std::string& spec);
  coordinator::Request request_for(const Operation& op, const compress::Compressor* compressor) const;

  const Settings settings;
  const compress::Registry registry;
  const compress::Rules rules;
  const collective::Selector selector;
  Logger log;
  TensorTable table;
  observe::CounterBook book;
  std::array<std::atomic<std::uint64_t>, 6> unnamed{};
  std::mutex specs_mutex;
  std::map<std::string, std::shared_ptr<const compress::Compressor>> specs;
  std::shared_ptr<Worker> worker;  // handles keep a weak reference, to drive it where no thread does
  std::atomic<bool> down{false};
};

Runtime::Runtime(std::unique_ptr<transport::Transport> net, const Settings& settings, compress::Registry registry)
    : impl_(std::make_unique<Impl>(std::move(net), settings, std::move(registry))) {
  impl_->worker->start();
}

Runtime::~Runtime() {
  try {
    shutdown();
  } catch (const std::exception& e) {
    impl_->log.error(fmt::format("shutdown: {}", e.what()));
  }
}

void Runtime::Impl::name(Operation& op) {
  if (op.name.empty())
    op.name = fmt::format("{}.noname.{}", to_string(op.kind), unnamed[static_cast<std::size_t>(op.kind)]++);
}

std::shared_ptr<const compress::Compressor> Runtime::Impl::parse(const std::string& spec) {
  const std::lock_guard lock(specs_mutex);
  const auto known = specs.find(spec);
  if (known != specs.end()) return known->second;
  return specs[spec] = registry.make(spec);
}

std::shared_ptr<const compress::Compressor> Runtime::Impl::compressor_for(const Operation& op, bool named) {
  if (op.kind != Kind::allreduce) return nullptr;
  auto compressor = !op.compression.empty() ? parse(op.compression) : named ? rules.match(op.name) : nullptr;
  if (!compressor) return nullptr;
  const char* reason = nullptr;
  if (worker->net().size() == 1)
    reason = "one rank";
  else if (!is_floating(op.input.dtype))
    reason = "not floating";
  else if (op.op != ReduceOp::average && op.op != ReduceOp::sum)
    reason = "op";
  else if (op.input.elements() < kSmallestCompressed)
    reason = "fewer than 1024 elements";
  if (reason == nullptr) return compressor;
  book.uncompressed(reason);
  return nullptr;
}

coordinator::Request Runtime::Impl::request_for(const Operation& op, const compress::Compressor* compressor) const {
  coordinator::Request request;
  request.name = op.name;
  request.kind = op.kind;
  request.dtype = op.input.dtype;
  request.on_device = !op.input.device.is_host();
  request.op = op.op;
  request.root = op.root;
  request.process_set = op.process_set;
  request.prescale = op.prescale;
  request.postscale = op.postscale;
  request.shape = op.input.shape;
  const std::size_t bytes = op.input.bytes();
  const int ranks = worker->net().size();
  if (compressor != nullptr) {
    request.compression = compressor->spec();
    // Messages are encoded straight from the tensors, so sharing a bucket costs no copy whatever the size.
    if (compressor->family() != compress::Family::sparse) request.group = selector.order_class(true, bytes, ranks);
  } else if (bytes > settings.fusion_copy_limit) {
    request.group = "alone " + op.name;  // copying it would cost more than a message of its own
  } else {
    request.group = selector.order_class(false, bytes, ranks);
  }
  // Ranks under different tables would send messages that the others have no room for.
  if (!settings.exchange.empty()) request.group += " by \"" + settings.exchange + '"';
  return request;
}

Handle Runtime::submit(Operation op) {
  if (const auto why = impl_->worker->refusal()) throw Error(*why);
  if (impl_->down) throw Error(ErrorCode::not_initialized, "the runtime was shut down");
  const bool named = !op.name.empty();
  impl_->name(op);
  TensorEntry entry;
  entry.compressor = impl_->compressor_for(op, named);
  entry.request = impl_->request_for(op, entry.compressor.get());
  entry.hash = name_hash(op.name);
  entry.handle = std::make_shared<HandleState>(op.name, impl_->worker);
  entry.enqueued = impl_->worker->net().now();
  entry.operation = std::move(op);
  const auto state = entry.handle;
  impl_->table.add(std::move(entry));
  impl_->worker->notify();
  return Handle(state);
}

void Runtime::shutdown() {
  if (impl_->down.exchange(true)) return;
  impl_->worker->leave();
}

void Runtime::abort(const std::string& reason) { impl_->worker->abort(Error(ErrorCode::peer_lost, reason)); }

int Runtime::rank() const noexcept { return impl_->worker->net().rank(); }
int Runtime::size() const noexcept { return impl_->worker->net().size(); }
int Runtime::local_rank() const noexcept { return impl_->worker->topology().local_rank; }
int Runtime::local_size() const noexcept { return impl_->worker->topology().local_size; }
int Runtime::cross_rank() const noexcept { return impl_->worker->topology().cross_rank; }
int Runtime::cross_size() const noexcept { return impl_->worker->topology().cross_size; }

Counters Runtime::counters() const {
  Counters c = impl_->book.snapshot();
  const transport::Traffic& traffic = impl_->worker->net().traffic();
  c.control_bytes_sent = traffic.control_sent;
  c.bytes_sent = traffic.data_sent + c.control_bytes_sent;
  c.bytes_received = traffic.data_received + traffic.control_received;
  c.messages_sent = traffic.messages_sent;
  return c;
}

}  // namespace ringlet::runtime
