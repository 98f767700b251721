// SPDX-License-Identifier: Apache-2.0

/// A setting with which no message can be sent. The text names the thing, the cause and the remedy, and no secret.
package struct PushSettingsError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
