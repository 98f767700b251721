// SPDX-License-Identifier: Apache-2.0

/// The bytes that all connections hold: received parts of messages, messages that wait to be written, and the connections.
///
/// The connections of one peer hold at most half of the limit, those of all unknown peers a tenth. So a peer with many
/// addresses cannot take the memory of the others. Used on one event loop only.
struct StreamMemory {
    /// The peer whose connections share a limit.
    enum Owner: Hashable {
        case peer(UInt64)
        case unknownPeers
    }

    /// Bytes of an open connection without messages: channel, buffers of the read, and for TLS its session.
    static let connection = 16 << 10
    static let secureConnection = 64 << 10

    private let limit: Int
    private var held: [Owner: Int] = [:]
    /// Bytes of all owners.
    private(set) var total = 0

    init(limit: Int) { self.limit = limit }

    /// Bytes that the connections of an owner may hold.
    func limit(of owner: Owner) -> Int { owner == .unknownPeers ? limit / 10 : limit / 2 }

    /// Whether an owner may hold more bytes.
    func allows(_ bytes: Int, of owner: Owner) -> Bool { held[owner, default: 0] + bytes <= limit(of: owner) }

    /// Changes the bytes of an owner.
    mutating func change(_ owner: Owner, by bytes: Int) {
        let now = held[owner, default: 0] + bytes
        held[owner] = now > 0 ? now : nil
        total += bytes
    }

    /// The owner that must release bytes, and how many; nil while the limits are kept.
    ///
    /// An eighth of the limit more than necessary, so that connections are searched seldom.
    ///
    /// - Parameter owner: the owner that has taken bytes.
    func excess(after owner: Owner) -> (owner: Owner, bytes: Int)? {
        let own = held[owner, default: 0]
        if own > limit(of: owner) { return (owner, own - limit(of: owner) / 8 * 7) }
        guard total > limit, let most = held.max(by: { $0.value < $1.value }) else { return nil }
        return (most.key, total - limit / 8 * 7)
    }
}
