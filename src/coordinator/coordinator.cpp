#include "coordinator/coordinator.hpp"

#include "coordinator/node.hpp"

namespace ringlet::coordinator {

struct Coordinator::Impl : Node {
  using Node::Node;
};

Coordinator::Coordinator(transport::Transport& net, const Settings& settings, Listener& listener)
    : impl_(std::make_unique<Impl>(net, settings, listener)) {}

Coordinator::~Coordinator() = default;

void Coordinator::ready(TensorId tensor, const Request& request) { impl_->ready(tensor, request); }
void Coordinator::flush() { impl_->flush(); }
void Coordinator::bucket_done(std::uint64_t sequence) { impl_->bucket_done(sequence); }
void Coordinator::leave() { impl_->leave(); }
void Coordinator::abort(const Error& why) { impl_->abort(why); }
std::vector<std::string> Coordinator::tick() { return impl_->tick(); }
Task<> Coordinator::join() { return impl_->join(); }
std::uint64_t Coordinator::cache_hits() const noexcept { return impl_->cache_hits(); }
std::uint64_t Coordinator::cache_misses() const noexcept { return impl_->cache_misses(); }

}  // namespace ringlet::coordinator
