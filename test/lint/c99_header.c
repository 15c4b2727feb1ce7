#include "ringlet/ringlet.h"

/* a translation unit must not be empty */
extern int c99_header_unused;
