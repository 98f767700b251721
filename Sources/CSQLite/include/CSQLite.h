// SPDX-License-Identifier: Apache-2.0
#ifndef HERALD_CSQLITE_H
#define HERALD_CSQLITE_H

/* Lets SQLite allocate without counting what it takes. Once, at start, before any database is opened. */
void herald_sqlite_without_statistics(void);

#endif
