// SPDX-License-Identifier: Apache-2.0

/// The version of Herald.
package enum HeraldVersion {
    /// The version that `--version`, requests to the directory and the status page show.
    package static let current = "0.1.0"
}
