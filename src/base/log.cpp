#include "base/log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <map>
#include <mutex>
#include <string>

namespace ringlet {
namespace {

spdlog::sink_ptr make_sink(std::ostream* to) {
  if (to != nullptr) return std::make_shared<spdlog::sinks::ostream_sink_mt>(*to);
  return std::make_shared<spdlog::sinks::stderr_sink_mt>();
}

spdlog::level::level_enum level_of(std::string_view name) {
  if (name == "fatal") return spdlog::level::critical;
  return spdlog::level::from_str(std::string(name));
}

}  // namespace

struct Logger::Impl {
  explicit Impl(std::ostream* to) : log("ringlet", make_sink(to)) {}

  spdlog::logger log;
  std::mutex mutex;  // of seen
  std::map<std::string, std::uint64_t, std::less<>> seen;
};

Logger::Logger(std::string_view level, int rank, std::ostream* to) : impl_(std::make_shared<Impl>(to)) {
  impl_->log.set_level(level_of(level));
  impl_->log.set_pattern(rank < 0 ? "ringlet %l: %v" : fmt::format("ringlet [rank {}] %l: %v", rank));
  impl_->log.flush_on(spdlog::level::trace);
}

void Logger::debug(std::string_view text) const { impl_->log.debug(text); }
void Logger::info(std::string_view text) const { impl_->log.info(text); }
void Logger::warn(std::string_view text) const { impl_->log.warn(text); }
void Logger::error(std::string_view text) const { impl_->log.error(text); }

std::uint64_t Logger::warn_once(std::string_view key, std::string_view text) const {
  std::uint64_t times = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    times = ++impl_->seen[std::string(key)];
  }
  if (times == 1) warn(text);
  return times;
}

std::uint64_t Logger::times(std::string_view key) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->seen.find(key);
  return found == impl_->seen.end() ? 0 : found->second;
}

}  // namespace ringlet
