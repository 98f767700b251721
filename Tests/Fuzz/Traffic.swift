// SPDX-License-Identifier: Apache-2.0

/// What every fuzz target needs of the surroundings of a message.
enum Traffic {
    static let secret = Secret(key0: 1, key1: 2)
    static let source = PeerAddress(ipv4: 0xC633_6407, port: 40_000)
    static let sockets = [
        LocalSocket(position: 0, address: PeerAddress(ipv4: 0xC000_020A, port: 5060)),
        LocalSocket(position: 1, address: PeerAddress(ipv4: 0xC000_020A, port: 5061), transport: .tls),
    ]

    /// The bytes of one run.
    static func bytes(_ start: UnsafePointer<UInt8>, _ count: Int) -> [UInt8] {
        OSIPGrammar.start()
        return [UInt8](UnsafeBufferPointer(start: start, count: count))
    }
}
