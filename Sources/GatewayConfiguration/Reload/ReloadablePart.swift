// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles

/// A part of the gateway with settings of its own, which a reload applies.
package protocol ReloadablePart: Sendable {
    /// Builds what the settings of `next` need, without a change to the running part.
    ///
    /// - Returns: the step that puts the settings in force and cannot fail; nil where they are in force already.
    /// - Throws: when the settings cannot be used.
    func prepare(_ next: HeraldConfiguration) throws -> (@Sendable () async -> Void)?

    /// Checks what `prepare` needs, without a change to the running part or to a file.
    ///
    /// - Throws: when the settings cannot be used.
    func check(_ next: HeraldConfiguration) throws

    /// Called after each applied reload, also of a part without a change.
    func reloaded() async
}

extension ReloadablePart {
    /// Prepares the settings and drops the step.
    package func check(_ next: HeraldConfiguration) throws { _ = try prepare(next) }

    /// Does nothing.
    package func reloaded() async {}
}
