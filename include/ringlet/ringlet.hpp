#pragma once

#include "ringlet/collectives.hpp"
#include "ringlet/error.hpp"
#include "ringlet/handle.hpp"
#include "ringlet/observe.hpp"
#include "ringlet/optimizer.hpp"
#include "ringlet/runtime.hpp"
#include "ringlet/tensor.hpp"
