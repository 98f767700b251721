// SPDX-License-Identifier: Apache-2.0

/// What an operator's command can make a running gateway do; the running gateway plays this role.
///
/// Never on the call path; safe from any thread.
package protocol GatewayControl: Sendable {
    /// Syncs with the directory at once and returns when the sync has ended.
    ///
    /// - Parameter full: asks for the whole set instead of what has changed.
    func sync(full: Bool) async -> ControlledSync
}

/// How a sync that an operator asked for ended.
package struct ControlledSync: Hashable, Sendable, Codable {
    /// How it ended.
    package enum Result: String, Hashable, Sendable, Codable {
        case succeeded
        /// The directory or the disk is the cause; the last records stay in use.
        case failed
        /// A sync runs already, and no second one begins.
        case busy
        /// There is no directory, or the gateway stops.
        case unavailable
    }

    package var result: Result
    /// True where the whole set was asked for; nil where no sync ran.
    package var isFull: Bool?
    /// Records written and removed.
    package var written: Int?
    package var removed: Int?
    /// Numbers that calls can be branded from now.
    package var numbers: Int?
    /// Records left out, by reason.
    package var rejected: [String: Int]?
    package var seconds: Double?
    /// The cause and its remedy; nil after a success.
    package var error: String?

    package init(
        _ result: Result, isFull: Bool? = nil, written: Int? = nil, removed: Int? = nil, numbers: Int? = nil,
        rejected: [String: Int]? = nil, seconds: Double? = nil, error: String? = nil
    ) {
        self.result = result
        self.isFull = isFull
        self.written = written
        self.removed = removed
        self.numbers = numbers
        self.rejected = rejected
        self.seconds = seconds
        self.error = error
    }

    package enum CodingKeys: String, CodingKey {
        case result, written, removed, numbers, rejected, seconds, error
        case isFull = "full"
    }
}
