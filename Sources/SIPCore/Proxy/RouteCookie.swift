// SPDX-License-Identifier: Apache-2.0

import Primitives

/// State of a dialog that travels in the gateway's Record-Route, as the `hd` parameter (RFC 3261 §16.6 step 4).
///
/// Each later request of the dialog returns it in Route. So the state outlives a restart without any memory of the call.
/// A dialog whose Route does not come back is routed by its URIs alone. The text is hexadecimal: target, origin,
/// connection, payload, seal. Cookies of an earlier version do not match the seal and are ignored.
public struct RouteCookie: Hashable, Sendable {
    /// State that the user of this type adds to the cookie; SIPCore does not interpret it.
    public struct Payload: Hashable, Sendable {
        public let mark: UInt32
        public let value: UInt64

        public init(mark: UInt32, value: UInt64 = 0) {
            self.mark = mark
            self.value = value
        }
    }

    public let payload: Payload
    /// The target that took the call.
    public let target: DialogEnd
    /// The source of the call.
    public let origin: DialogEnd
    /// The stream connection by which the call came, or 0. Its number is never used again, not even after a restart.
    public let connection: UInt64
    /// The age of the secret that sealed it, see `Secret.aged`.
    public private(set) var sealAge = 0

    public init(payload: Payload, target: DialogEnd, origin: DialogEnd, connection: UInt64 = 0) {
        self.payload = payload
        self.target = target
        self.origin = origin
        self.connection = connection
    }

    /// The same dialog with another target, as after a failover.
    public func withTarget(_ target: DialogEnd) -> RouteCookie {
        RouteCookie(payload: payload, target: target, origin: origin, connection: connection)
    }

    /// Reads the `hd` parameter in a request of the dialog; nil when the gateway did not seal it for this dialog.
    ///
    /// - Parameter isByOriginator: whether the side that began the dialog sends the request. It selects the tag that the seal
    ///   covers, so a cookie does not serve the other side.
    init?(
        _ text: ArraySlice<UInt8>, in request: SIPMessage, secret: Secret, isByOriginator: (Payload) -> Bool
    ) {
        guard let (cookie, seal) = Self.read(text.span) else { return nil }
        let tag = isByOriginator(cookie.payload) ? request.fromTag : request.toTag
        let age = secret.age { cookie.seal(originatorTag: tag, in: request, secret: $0) == seal }
        guard let age else { return nil }
        self = cookie
        sealAge = age
    }

    /// Reads the `hd` parameter of a Record-Route in the forwarded request that began the dialog.
    init?(_ text: ArraySlice<UInt8>, ofDialogBegunBy request: SIPMessage, secret: Secret) {
        self.init(text, in: request, secret: secret) { _ in true }
    }

    /// Reads the parts that `append(to:)` wrote, and the seal behind them.
    private static func read(_ text: Span<UInt8>) -> (cookie: RouteCookie, seal: UInt64)? {
        var position = 0
        var (isMarked, isOfStream) = (false, false)
        guard let target = DialogEnd(text, at: &position, isMarked: &isMarked), !isMarked,
            let origin = DialogEnd(text, at: &position, isMarked: &isOfStream)
        else { return nil }
        var connection: UInt64 = 0
        if isOfStream {
            guard let taken = Hexadecimal.take(16, of: text, at: &position), taken != 0 else { return nil }
            connection = taken
        }
        guard let payload = Payload(text, at: &position),
            let seal = Hexadecimal.take(16, of: text, at: &position), position == text.count
        else { return nil }
        return (RouteCookie(payload: payload, target: target, origin: origin, connection: connection), seal)
    }

    /// Writes target, origin, connection and payload, without the seal.
    fileprivate func append(to out: inout OutputSpan<UInt8>) {
        target.append(to: &out)
        origin.append(to: &out, isMarked: connection != 0)
        if connection != 0 { out.append(hex: connection, digits: 16) }
        payload.append(to: &out)
    }

    fileprivate func seal(originatorTag: Range<Int>?, in request: SIPMessage, secret: Secret) -> UInt64 {
        var hash = secret.hash(for: .dialogSeal)
        hash.combine(request.first(.callID)?.value ?? 0..<0, of: request)
        hash.combine(originatorTag ?? 0..<0, of: request)
        hash.combine(UInt64(payload.mark))
        hash.combine(payload.value)
        target.combine(into: &hash)
        origin.combine(into: &hash)
        if connection != 0 { hash.combine(connection) }
        return hash.finish()
    }
}

extension RouteCookie.Payload {
    /// Reads what `append(to:)` wrote at a position of a text, of which a seal of sixteen digits is left over.
    fileprivate init?(_ text: Span<UInt8>, at position: inout Int) {
        guard let mark = Hexadecimal.take(8, of: text, at: &position) else { return nil }
        var value: UInt64 = 0
        if text.count - position > 16 {
            guard let taken = Hexadecimal.take(16, of: text, at: &position), taken != 0 else { return nil }
            value = taken
        }
        self.init(mark: UInt32(truncatingIfNeeded: mark), value: value)
    }

    /// Writes eight hexadecimal digits, and sixteen more for a value that is not 0.
    fileprivate func append(to out: inout OutputSpan<UInt8>) {
        out.append(hex: UInt64(mark), digits: 8)
        if value != 0 { out.append(hex: value, digits: 16) }
    }
}

/// A route cookie with its seal: a keyed hash of the cookie, the Call-ID, and the tag of the side that began the dialog.
public struct SealedRouteCookie: Sendable {
    private let cookie: RouteCookie
    private let seal: UInt64

    /// Most bytes of the parameter: its name, two ends, the connection, the payload and the seal.
    fileprivate static let longest = 4 + 2 * 37 + 16 + 24 + 16

    /// Seals the cookie of the dialog that a request begins.
    public init(_ cookie: RouteCookie, of request: SIPMessage, secret: Secret) {
        self.cookie = cookie
        seal = cookie.seal(originatorTag: request.fromTag, in: request, secret: secret)
    }

    fileprivate func append(to out: inout OutputSpan<UInt8>) {
        cookie.append(to: &out)
        out.append(hex: seal, digits: 16)
    }
}

/// The Record-Route entry of the gateway: one of its sockets, and the dialog's cookie (RFC 3261 §16.6 step 4).
public struct RecordRoute: Sendable {
    private let socket: LocalSocket
    private let cookie: SealedRouteCookie
    private let isSecure: Bool
    /// The originator's display name; empty where the forwarded one is the same.
    private let carrierName: ArraySlice<UInt8>

    /// - Parameters:
    ///   - request: the request that begins the dialog; a sips Request-URI asks for a sips entry (RFC 3261 §16.6 step 4).
    ///   - isRenamed: whether the forwarded From has another display name.
    public init(
        socket: LocalSocket, cookie: SealedRouteCookie, of request: SIPMessage, isRenamed: Bool = false
    ) {
        self.init(
            socket: socket, cookie: cookie, of: request,
            carrierName: isRenamed ? CarrierName.text(in: request) : [])
    }

    /// - Parameter carrierName: the originator's display name as written.
    init(socket: LocalSocket, cookie: SealedRouteCookie, of request: SIPMessage, carrierName: ArraySlice<UInt8>) {
        self.socket = socket
        self.cookie = cookie
        self.carrierName = carrierName
        // A hop that is not TLS has no sips URI: its far end would look for TLS there.
        isSecure = socket.transport == .tls && request[request.requestURI].prefix(5).equalsIgnoringCase("sips:")
    }

    /// Writes the whole line.
    func append(to out: inout [UInt8]) {
        out.append("Record-Route: <")
        appendURI(to: &out)
        out.append(">\r\n")
    }

    /// Writes the URI alone.
    func appendURI(to out: inout [UInt8]) {
        socket.appendURI(to: &out, isSecure: isSecure)
        out.append(addingCapacity: SealedRouteCookie.longest) { out in
            out.append(";hd=")
            cookie.append(to: &out)
        }
        CarrierName.append(carrierName, to: &out)
    }
}
