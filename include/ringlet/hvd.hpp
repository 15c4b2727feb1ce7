#pragma once

#include "ringlet/ringlet.hpp"

/// The name Horovod's users know.
namespace hvd = ringlet;
