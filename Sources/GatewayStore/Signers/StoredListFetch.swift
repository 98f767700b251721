// SPDX-License-Identifier: Apache-2.0

/// The state of the fetches of one list: a row of `signers.sqlite`. Times are seconds since 1970.
package struct StoredListFetch: Equatable, Sendable {
    /// The address, as the configuration has it.
    package var address: String
    /// The SHA-256 of the list that the host has sent last and that was taken in; empty before the first one.
    package var digest: [UInt8] = []
    /// The reason of the last failure for the operator; empty after a success.
    package var reason = ""
    /// Failures in a row.
    package var attempts = 0
    /// The time of the next fetch.
    package var nextAt: Int64
    /// The time of the last successful fetch; nil before the first one.
    package var fetchedAt: Int64?
    /// The validators of the list with the digest.
    package var etag: String?
    package var lastModified: String?

    package init(address: String, nextAt: Int64 = 0) {
        self.address = address
        self.nextAt = nextAt
    }
}
