// SPDX-License-Identifier: Apache-2.0

#include "CVersion.h"

const char *herald_version(void) {
#ifdef HERALD_COMMIT
    return HERALD_VERSION " (" HERALD_COMMIT ")";
#else
    return HERALD_VERSION;
#endif
}
