// SPDX-License-Identifier: Apache-2.0

/// The order of a test call, as the control socket carries it.
struct TestCallOrder: Hashable, Sendable {
    /// Longest time of a test, in seconds.
    static let longest = 900

    /// The name of the trunk whose rules hold; nil for the first.
    var trunk: String?
    /// The caller as the operator wrote it; nil for a number of the stored brands.
    var from: String?
    /// The user part of the Request-URI.
    var to: String
    /// Whether the PBX's call back is awaited.
    var awaitsReturn = false
    /// Seconds after which the gateway ends the test by itself.
    var seconds = 300

    /// The first part that cannot be; nil for a good order.
    var problem: String? {
        guard Self.isUser(to) else {
            return
                "the called number has 1 to 64 digits and letters, and + - . * _ besides, such as +61255502000 or 2001"
        }
        guard (1...Self.longest).contains(seconds) else { return "a test call takes at most \(Self.longest) s in all" }
        return nil
    }

    /// Whether a text is a user part that needs no escape, in any position (RFC 3261 §25.1).
    static func isUser(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "+-.*_".utf8.contains(byte)
                }
            }
    }

    /// Whether a text is fit for the Call-ID of an order: long enough that nobody finds it by trying.
    static func isCallID(_ text: String) -> Bool {
        (16...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "-._@".utf8.contains(byte)
                }
            }
    }

    /// The order as parameters of a request.
    ///
    /// - Parameters:
    ///   - caller: the address that the caller sends from; nil for a plan.
    ///   - callID: the Call-ID of its INVITE; nil for a plan.
    func query(caller: String? = nil, callID: String? = nil) -> KeyValuePairs<String, String?> {
        [
            "trunk": trunk, "from": from, "to": to, "returned": awaitsReturn ? "true" : "false",
            "seconds": String(seconds), "caller": caller, Self.secret: callID,
        ]
    }

    /// The parameter that no log has: an INVITE with this Call-ID is the test's.
    static let secret = "call_id"
}

/// The course that the gateway would give a test call, before it begins.
struct TestCallPlan: Hashable, Sendable, Codable {
    var trunk: String
    /// Whether the trunk's assertions are trusted.
    var isTrusted: Bool
    /// The policy of route or trunk.
    var policy: String
    var pbx: String
    /// The caller in E.164.
    var from: String
    /// The brand that the number has in the stored copy; nil without one.
    var brand: String?
    var to: String
    /// Whether a call back after an answered call counts as `returned`.
    var returnsAnswered: Bool
    /// The host of the gateway's address, which the caller sends from as well.
    var host: String
    /// The port of the gateway's address.
    var port: Int
    /// The transport of the gateway's address.
    var transport = Transport.udp

    /// A transport of test calls, as in Via.
    enum Transport: String, Hashable, Sendable, Codable { case udp = "UDP", tcp = "TCP" }

    enum CodingKeys: String, CodingKey {
        case trunk, policy, pbx, from, brand, to, host, port, transport
        case isTrusted = "trusted"
        case returnsAnswered = "returns_answered"
    }
}

/// A line of the stream that keeps a test call open.
struct TestCallSign: Hashable, Sendable, Codable {
    enum State: String, Hashable, Sendable, Codable {
        /// The gateway takes the caller's messages from now on.
        case open
        /// Once a second.
        case alive
        /// The gateway takes no new calls any more.
        case draining
        /// The gateway has ended the test.
        case end
    }

    var state: State
    /// Why the test has ended.
    var reason: String?
}
