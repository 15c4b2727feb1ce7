#pragma once

/// Marks what a shared build of the library exports; everything else is hidden.
#if defined(__GNUC__)
#define RINGLET_EXPORT __attribute__((visibility("default")))
#else
#define RINGLET_EXPORT
#endif
