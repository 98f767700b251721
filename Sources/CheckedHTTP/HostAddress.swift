// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Primitives
import Synchronization

/// An address of a foreign host, with the check whether something may be fetched from it.
package struct HostAddress: Hashable, Sendable, CustomStringConvertible {
    /// Four or sixteen bytes.
    private let bytes: [UInt8]
    package let description: String

    /// Reads an IPv4 or IPv6 literal without brackets or zone. Nil for other text.
    package init?(_ literal: String) {
        guard let address = AddressBytes(literal) else { return nil }
        bytes = address.bytes
        description = literal
    }

    package var isIPv6: Bool { bytes.count == 16 }

    /// True for the machine itself.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// False for private, shared, loopback, link-local, multicast, documentation and reserved networks (RFC 6890), and
    /// for IPv6 addresses that carry such an IPv4 address.
    package var isPublic: Bool {
        if bytes.count == 4 { return !Self.reservedIPv4.contains { $0.contains(bytes) } }
        if let carried = carriedIPv4 { return !Self.reservedIPv4.contains { $0.contains(carried) } }
        // Public IPv6 addresses lie in 2000::/3.
        return bytes[0] >> 5 == 1 && !Self.reservedIPv6.contains { $0.contains(bytes) }
    }

    /// The IPv4 address inside `::ffff:0:0/96` and the NAT64 prefix `64:ff9b::/96`.
    private var carriedIPv4: [UInt8]? {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)
        let head = Array(bytes.prefix(12))
        return head == mapped || head == translated ? Array(bytes.suffix(4)) : nil
    }

    private struct Network {
        let bytes: [UInt8]
        let length: Int

        init(_ bytes: [UInt8], _ length: Int) {
            self.bytes = bytes
            self.length = length
        }

        func contains(_ address: [UInt8]) -> Bool { AddressBytes.agree(address, bytes, bits: length) }
    }

    private static let reservedIPv4 = [
        Network([0], 8), Network([10], 8), Network([100, 64], 10), Network([127], 8), Network([169, 254], 16),
        Network([172, 16], 12), Network([192, 0, 0], 24), Network([192, 0, 2], 24), Network([192, 88, 99], 24),
        Network([192, 168], 16), Network([198, 18], 15), Network([198, 51, 100], 24), Network([203, 0, 113], 24),
        Network([224], 4), Network([240], 4),
    ]

    /// Protocol assignments with Teredo, documentation twice, and 6to4, which carries IPv4 addresses.
    private static let reservedIPv6 = [
        Network([0x20, 0x01, 0x00], 23), Network([0x20, 0x01, 0x0D, 0xB8], 32), Network([0x20, 0x02], 16),
        Network([0x3F, 0xFF, 0x00], 20),
    ]
}

/// Resolves the addresses of a host name. Tests inject their own.
package typealias HostResolver = @Sendable (_ host: String) async -> [HostAddress]

extension HostAddress {
    /// Queries the system's resolver on a thread of its own. Empty without a response, and once the task is cancelled.
    package static func resolve(_ host: String) async -> [HostAddress] {
        if let literal = HostAddress(host) { return [literal] }
        // The resolver cannot be interrupted, and may take longer than the whole fetch.
        let reply = ResolverReply()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                reply.wait(continuation)
                DispatchQueue.global(qos: .utility).async { reply.give(ask(host)) }
            }
        } onCancel: {
            reply.give([])
        }
    }

    private static func ask(_ host: String) -> [HostAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [HostAddress] = []
        var entry = list
        while let current = entry {
            if let address = literal(current.pointee).flatMap({ HostAddress($0) }) { addresses.append(address) }
            entry = current.pointee.ai_next
        }
        return addresses
    }

    private static func literal(_ info: addrinfo) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The first of two replies, that of the resolver or that of a cancellation. Any thread.
private final class ResolverReply: Sendable {
    private enum State {
        case open(CheckedContinuation<[HostAddress], Never>?)
        case given([HostAddress])
    }

    private let state = Mutex(State.open(nil))

    /// Resumes the continuation with the first reply.
    func wait(_ continuation: CheckedContinuation<[HostAddress], Never>) {
        let reply: [HostAddress]? = state.withLock { state in
            if case .given(let addresses) = state { return addresses }
            state = .open(continuation)
            return nil
        }
        if let reply { continuation.resume(returning: reply) }
    }

    /// Gives a reply; further ones have no effect.
    func give(_ addresses: [HostAddress]) {
        let waiting: CheckedContinuation<[HostAddress], Never>? = state.withLock { state in
            guard case .open(let continuation) = state else { return nil }
            state = .given(addresses)
            return continuation
        }
        waiting?.resume(returning: addresses)
    }
}
