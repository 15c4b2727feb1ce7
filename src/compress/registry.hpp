#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compress/compressor.hpp"
#include "compress/spec.hpp"

namespace ringlet::compress {

class Arguments;

/// One row of the table of methods: what a spec's name stands for, and what ringlet-info prints of it.
struct Method {
  std::string name;
  Family family = Family::dense;
  std::string parameters;  ///< "bits=4 (2..8), bucket=512, ..."
  std::string source;      ///< the paper
  std::function<std::shared_ptr<const Compressor>(Arguments&)> make;
};

/// The methods one Runtime knows: the built-in ones, then what the user added. Built before use, then read by any
/// thread.
class Registry {
 public:
  Registry();

  /// Throws Error{invalid_argument} when the name is taken.
  void add(Method method);
  /// Throws Error{invalid_argument} naming the nearest known method.
  const Method& find(std::string_view name) const;
  /// The compressor a spec describes; null for "none", which sends the elements as they are. Throws
  /// Error{invalid_argument} that says which argument is wrong, its range, and the nearest valid name.
  std::shared_ptr<const Compressor> make(std::string_view spec) const;
  const std::vector<Method>& methods() const noexcept { return methods_; }

 private:
  std::vector<Method> methods_;
};

}  // namespace ringlet::compress
