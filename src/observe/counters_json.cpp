#include "observe/counters_json.hpp"

#include <nlohmann/json.hpp>

namespace ringlet::observe {

std::string to_json(const Counters& c) {
  const nlohmann::ordered_json json{{"bytes_sent", c.bytes_sent},
                                    {"bytes_received", c.bytes_received},
                                    {"control_bytes_sent", c.control_bytes_sent},
                                    {"dense_bytes", c.dense_bytes},
                                    {"ratio", c.ratio()},
                                    {"messages_sent", c.messages_sent},
                                    {"tensors", c.tensors},
                                    {"buckets", c.buckets},
                                    {"fused_tensors", c.fused_tensors},
                                    {"cache_hits", c.cache_hits},
                                    {"cache_misses", c.cache_misses},
                                    {"residual_bytes", c.residual_bytes},
                                    {"negotiation_seconds", c.negotiation_seconds},
                                    {"encode_seconds", c.encode_seconds},
                                    {"decode_seconds", c.decode_seconds},
                                    {"wire_seconds", c.wire_seconds},
                                    {"uncompressed", c.uncompressed},
                                    {"exchanges", c.exchanges}};
  return json.dump();
}

}  // namespace ringlet::observe
