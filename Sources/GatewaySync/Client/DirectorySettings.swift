// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
package import Host
import Primitives

/// Address, credentials, timeouts and limits of the directory client.
package struct DirectorySettings: Sendable {
    package var address: DirectoryAddress
    package var key: APIKey
    /// Where the operator keeps the key, such as `the file /etc/herald/api-key`; nil if unknown.
    package var keySource: String?
    /// Herald's own version, for `User-Agent`.
    package var version: String
    /// `X-Client-Type`.
    package var clientType = "herald"
    /// Trust in the directory's certificate; unused for `http`.
    package var trust = DirectoryTrust()
    /// Nil if requests are not signed.
    package var signing: RequestSigning?
    /// Nil if every request carries the API key.
    package var bearer: BearerSettings?
    /// Longest time for a connection to open, its TLS handshake included.
    package var connectTimeout: Duration = .seconds(10)
    /// Longest silence of a connection.
    package var requestTimeout: Duration = .seconds(30)
    /// Longest time for a whole request, other than a sync.
    package var resourceTimeout: Duration = .seconds(60)
    /// Longest time for a whole sync, with its large body.
    package var syncTimeout: Duration = .seconds(1800)
    /// Largest sync body in bytes, unpacked.
    ///
    /// A record takes about 200 bytes. Records are written to a file as they arrive.
    package var syncLimit = 4 * 1024 * 1024 * 1024
    /// Largest body of every other response in bytes.
    package var responseLimit = 1024 * 1024
    /// Attempts before a request counts as failed.
    package var attempts = 3
    /// The waits between attempts, spread by ± 20 %.
    package var backoff = Backoff(first: .seconds(1), limit: .seconds(10))

    package init(address: DirectoryAddress, key: APIKey, version: String) {
        self.address = address
        self.key = key
        self.version = version
    }

    /// Secrets that no text may show.
    var secrets: [String] { [key.value] + (signing.map { [$0.revealed] } ?? []) }

    /// Identifies directory and key together without showing the key, in hexadecimal.
    package var account: String {
        Hexadecimal.text(SHA256.hash(data: Data("\(address.authority) \(key.value)".utf8)).prefix(16))
    }

    /// True if the directory must prove one of the configured keys.
    var isPinned: Bool { address.isSecure && !trust.pins.isEmpty }
}
