#include "api/pick_transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/environment.hpp"
#include "ringlet/error.hpp"
#include "transport/inproc.hpp"

namespace ringlet::api {
namespace {

using transport::TransportFactory;

std::unique_ptr<transport::Transport> alone() { return std::move(transport::inproc_transports(1).front()); }

std::unique_ptr<transport::Transport> pick_usable(const Settings& settings,
                                                  const std::vector<TransportFactory>& compiled) {
  const auto found =
      std::find_if(compiled.begin(), compiled.end(), [](const TransportFactory& f) { return f.usable(); });
  if (found != compiled.end()) return found->make(settings);
  if (const std::string by = launcher(); !by.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "started by {} as one of several processes, but no transport of this build connects them; build with "
            "RINGLET_WITH_MPI=ON, or set RINGLET_TRANSPORT=inproc for processes that each work alone",
            by));
  }
  return alone();
}

}  // namespace

std::string launcher() {
  // Set for a rank by the launcher itself; batch systems' own variables are also seen outside of one.
  constexpr std::array<std::pair<const char*, const char*>, 3> kMarks{{{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
                                                                       {"PMI_SIZE", "a PMI launcher"},
                                                                       {"PMIX_RANK", "a PMIx launcher"}}};
  for (const auto& [variable, name] : kMarks) {
    const auto value = environment_value(variable);
    if (value && (std::string_view(variable) == "PMIX_RANK" || *value != "1")) return name;
  }
  return {};
}

std::unique_ptr<transport::Transport> pick_transport(const Settings& settings,
                                                     const std::vector<TransportFactory>& compiled) {
  if (settings.transport == "auto") return pick_usable(settings, compiled);
  if (settings.transport == "inproc") return alone();
  const auto found = std::find_if(compiled.begin(), compiled.end(),
                                  [&](const TransportFactory& f) { return f.name == settings.transport; });
  if (found == compiled.end()) {
    std::vector<std::string> names{"auto", "inproc"};
    for (const TransportFactory& f : compiled) names.push_back(f.name);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("RINGLET_TRANSPORT={}: this build has {}; the nearest is {}", settings.transport,
                            fmt::join(names, ", "), nearest(settings.transport, names)));
  }
  if (!found->usable()) {
    throw Error(ErrorCode::backend, fmt::format("RINGLET_TRANSPORT={}: it is in this build but not usable here ({})",
                                                found->name, found->describe()));
  }
  return found->make(settings);
}

}  // namespace ringlet::api
