// SPDX-License-Identifier: Apache-2.0

/// Results of signatures by the SHA-256 of the token, for retransmissions, forks and hunting. For one thread.
///
/// Holds 4,096 results in 256 kB, which the first signed call allocates. A new result replaces an old one of the same place.
struct SignatureCache: Sendable {
    private struct Entry {
        var token: ChainDigest
        var generation: UInt64
        var callID: UInt64
        var isGood: Bool
    }

    /// A result of an earlier call or of this one.
    struct Hit {
        var isGood: Bool
        /// Whether the token was with another Call-ID before.
        var isReplayed: Bool
    }

    static let places = 4096

    private var entries: [Entry?] = []

    /// Whether no result was kept yet.
    var isEmpty: Bool { entries.isEmpty }

    /// The result of a token under the same snapshot.
    func hit(_ token: ChainDigest, generation: UInt64, callID: UInt64) -> Hit? {
        guard !entries.isEmpty, let entry = entries[Self.place(of: token)], entry.token == token,
            entry.generation == generation
        else { return nil }
        return Hit(isGood: entry.isGood, isReplayed: entry.callID != callID)
    }

    /// Keeps a result. True if the token was with another Call-ID before, be it under another snapshot.
    mutating func keep(_ token: ChainDigest, generation: UInt64, callID: UInt64, isGood: Bool) -> Bool {
        if entries.isEmpty { entries = [Entry?](repeating: nil, count: Self.places) }
        let place = Self.place(of: token)
        // The first Call-ID stays, or a second gateway would hide that the token came twice.
        let first = entries[place].flatMap { $0.token == token ? $0.callID : nil } ?? callID
        entries[place] = Entry(token: token, generation: generation, callID: first, isGood: isGood)
        return first != callID
    }

    private static func place(of token: ChainDigest) -> Int { Int(token.low % UInt64(places)) }
}
