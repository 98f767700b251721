// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The facts of a message that a trace needs: the call, the parties, and whether a party withholds its number.
///
/// Read off the call path, from the copy of the message. The parties and the summary are read when they are needed.
public struct TraceFacts: Sendable {
    private let message: SIPMessage
    private let callIDRange: Range<Int>
    /// True for a request that begins something: no To tag, and neither CANCEL nor ACK.
    public let isInitial: Bool
    /// True if the message asks for privacy, in whatever header and from whatever peer.
    ///
    /// Broader than the decision of the call path, which ignores claims of untrusted trunks.
    public let asksForPrivacy: Bool

    private static let limits = SIPLimits(headerFields: 1000)

    /// Nil if the bytes are no SIP message that Herald can read.
    public init?(_ bytes: [UInt8]) {
        guard let message = try? SIPMessage.index(bytes, limits: Self.limits), let callID = message.first(.callID)
        else { return nil }
        self.message = message
        callIDRange = callID.value
        isInitial = message.method.map { $0 != .cancel && $0 != .ack && !message.isInDialog } ?? false
        asksForPrivacy = CallerPrivacy.isAsked(in: message) || Self.hasAnonymousName(message)
    }

    /// The Call-ID, as bytes of the message.
    public var callID: ArraySlice<UInt8> { message[callIDRange] }

    /// The first line without its URI: `INVITE`, `180 Ringing`.
    public var summary: String { Self.summary(of: message) }

    /// The users of all URIs that may name the sender of the first request.
    public var callers: [[UInt8]] { Self.identities.flatMap { Self.users(of: $0, in: message) } }

    /// The users of Request-URI and To.
    public var called: [[UInt8]] {
        var called = Self.users(of: .to, in: message)
        if let uri = SIPURI(message.bytes, message.requestURI) { called.append(Array(uri.unescapedUser)) }
        return called
    }

    /// The customer of a trunk's call, by the route of the called number.
    func customer(on trunk: TrunkPeer, _ routes: CallRoutes) -> CallCustomer? {
        CalledRoute(of: message, on: trunk, routes).customer
    }

    /// The customer of a PBX's call: that of the PBX, else that of the calling number, unless it is withheld.
    func customer(of pbx: PBXPeer, on trunk: TrunkPeer?, _ routes: CallRoutes) -> CallCustomer? {
        let caller = message.first(.from).flatMap { NameAddress(message.bytes, $0.value)?.uri }
        let isWithheld = CallerPrivacy.isAsked(in: message)
        let number = isWithheld ? nil : trunk.flatMap { CalledNumber.caller(of: message, caller, on: $0) }
        return routes.customer(ofCaller: number, at: pbx)
    }

    private static let identities: [HeaderName] = [
        .from, .pAssertedIdentity, .pPreferredIdentity, .remotePartyID, .contact,
    ]

    private static func summary(of message: SIPMessage) -> String {
        let end = message.bytes.firstIndex { $0 == 13 || $0 == 10 } ?? message.bytes.endIndex
        let line = String(decoding: message.bytes[..<end], as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 1)
        return String((message.status == nil ? words.first : words.last) ?? "")
    }

    private static func hasAnonymousName(_ message: SIPMessage) -> Bool {
        message.headers.contains { field in
            switch field.name {
            case .pAssertedIdentity, .pPreferredIdentity, .remotePartyID: break
            default: return false
            }
            for value in HeaderValues(message.bytes, field.value) {
                let extent = NameAddressExtent.scan(message.bytes, value)
                if AnonymousNames.asksForNoName(AnonymousNames.name(in: message, extent.displayName)) { return true }
            }
            return false
        }
    }

    private static func users(of name: HeaderName, in message: SIPMessage) -> [[UInt8]] {
        var users: [[UInt8]] = []
        for field in message.fields(name) {
            for value in HeaderValues(message.bytes, field.value) where users.count < 8 {
                guard let uri = SIPURI(message.bytes, NameAddressExtent.scan(message.bytes, value).uri) else {
                    continue
                }
                users.append(Array(uri.unescapedUser))
            }
        }
        return users.filter { !$0.isEmpty }
    }
}
