#include "support/catch.hpp"  // what the precompiled header is made for
