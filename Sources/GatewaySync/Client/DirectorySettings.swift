// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// How to reach the directory, and how patiently.
package struct DirectorySettings: Sendable {
    package var address: DirectoryAddress
    package var key: APIKey
    /// Herald's own version, for `User-Agent`.
    package var version: String
    /// `X-Client-Type`.
    package var clientType = "herald"
    /// Whom the client takes for the directory; without meaning for `http`.
    package var trust = DirectoryTrust()
    /// Nil where requests are not signed.
    package var signing: RequestSigning?
    /// Nil where every request shows the API key.
    package var bearer: BearerSettings?
    /// Longest time for a connection to open, its TLS handshake included.
    package var connectTimeout: Duration = .seconds(10)
    /// Longest silence of a connection.
    package var requestTimeout: Duration = .seconds(30)
    /// Longest time for a whole request, other than a sync.
    package var resourceTimeout: Duration = .seconds(60)
    /// Longest time for a whole sync; its body may be large.
    package var syncTimeout: Duration = .seconds(1800)
    /// Largest sync body in bytes, unpacked.
    ///
    /// A record takes about 200 bytes; they go to a file as they come.
    package var syncLimit = 4 * 1024 * 1024 * 1024
    /// Largest body of every other answer in bytes.
    package var answerLimit = 1024 * 1024
    /// How often a request is made before it counts as failed.
    package var attempts = 3
    /// The waits between attempts, spread by ± 20 %.
    package var backoff = Backoff(first: .seconds(1), limit: .seconds(10))

    package init(address: DirectoryAddress, key: APIKey, version: String) {
        self.address = address
        self.key = key
        self.version = version
    }

    /// What must never be shown to anybody.
    var secrets: [String] { [key.value] + (signing.map { [$0.revealed] } ?? []) }

    /// Names directory and key together without showing the key, in hexadecimal.
    var account: String {
        SHA256.hash(data: Data("\(address.authority) \(key.value)".utf8)).prefix(16)
            .map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// True where the directory must prove one of the configured keys.
    var isPinned: Bool { address.isSecure && !trust.pins.isEmpty }
}
