// SPDX-License-Identifier: Apache-2.0

/// How a client signs in, and the file of its tokens.
package struct BearerSettings: Sendable {
    package var device: DeviceIdentity
    /// File of the tokens between starts, readable for this user only.
    package var tokenFile: String

    package init(device: DeviceIdentity, tokenFile: String) {
        self.device = device
        self.tokenFile = tokenFile
    }
}
