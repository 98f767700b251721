// SPDX-License-Identifier: Apache-2.0

import CVersion

/// The version of Herald.
package enum HeraldVersion {
    /// The number, which the directory compares with its oldest supported version.
    package static let number = HERALD_VERSION
    /// The number, and the commit if the build names one: `0.2.0 (4932dae)`.
    ///
    /// `--version`, the status page and the User-Agent of requests have this form.
    package static let current = String(cString: herald_version())
}
