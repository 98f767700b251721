// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles

/// The changes that a reload would make, without any of them.
package struct ReloadPlan: Equatable, Sendable {
    /// A setting of the file that differs from the one in force.
    package struct Change: Equatable, Sendable {
        /// The setting with both values.
        package let change: ConfigurationChange
        /// True if the running value stays until the next start.
        package let needsRestart: Bool

        package init(_ change: ConfigurationChange, needsRestart: Bool) {
            self.change = change
            self.needsRestart = needsRestart
        }
    }

    /// In the order of the file.
    package var changes: [Change] = []
    /// Settings that wait for a restart and have no value in either file, such as one by the name of the machine.
    package var waiting: [String] = []
    /// Why a reload would be refused; nil for one that would be applied.
    package var problem: String?

    package init(changes: [Change] = [], waiting: [String] = [], problem: String? = nil) {
        (self.changes, self.waiting, self.problem) = (changes, waiting, problem)
    }
}
