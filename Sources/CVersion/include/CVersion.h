// SPDX-License-Identifier: Apache-2.0

#ifndef CVERSION_H
#define CVERSION_H

/// The number of this version, the same as the first number in CHANGELOG.md.
///
/// This is the only place of the number. Deploy/package reads it here.
#define HERALD_VERSION "0.2.0"

/// The number, and the commit in parentheses if the build names one: `0.2.0 (4932dae)`. Constant; never NULL.
const char *herald_version(void);

#endif
