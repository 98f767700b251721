// SPDX-License-Identifier: Apache-2.0
// sqlite3_config, whose variable arguments Swift cannot pass.
#include "CSQLite.h"

#include <sqlite3.h>

void herald_sqlite_without_statistics(void) {
    // Each allocation would be counted under one lock for all connections. Nobody asks for the counts, and Debian's
    // SQLite has no lookaside memory, so a call makes eighteen. Refused once a database has been opened.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
