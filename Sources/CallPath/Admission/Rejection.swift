// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// One message that Herald rejected or dropped, in a record of fixed size: the sender, the message and the cause.
public struct Rejection: Sendable {
    /// Whose message it is.
    public enum Sender: Hashable, Sendable {
        /// An address that no trunk and no PBX has.
        case unknown
        /// An unknown address whose User-Agent names a tool that searches for open servers.
        case scanner
        /// The trunk of this name.
        case trunk(String)
        /// The PBX of this name.
        case pbx(String)

        /// True for a configured peer.
        public var isPeer: Bool { self != .unknown && self != .scanner }
    }

    /// Why it was not taken.
    public enum Cause: UInt8, Hashable, Sendable, CaseIterable {
        /// No trunk and no PBX lists the address.
        case unlisted
        /// The address is listed, with another port or for another certificate.
        case otherPortOrCertificate
        /// The message breaks a rule of SIP; `phrase` names the header or the check.
        case brokenRule
        /// It is larger than `limits.max_message`; `size` has the figures.
        case messageSize
        /// It has more header fields than `limits.max_headers`; `size` has the figures.
        case fieldCount
        /// It is larger than a UDP datagram, once forwarded; `size` has the figures.
        case datagramSize
        /// A 2xx for which the caller had got a failure of Herald already.
        case tooLate
        /// The request came back as it had left.
        case loop
        /// `limits.max_transactions`, or the memory for their messages, is used up.
        case transactions
        /// The receive queue is fuller than Herald can work off.
        case overload
        /// The INVITE may have waited while the process did not run.
        case pause
        /// Above `limits.calls_per_second` of the trunk or the route.
        case rate
        /// Above `limits.calls` of the trunk or the route.
        case number
        /// The gateway stops.
        case draining
        /// No target of the group is up.
        case noTarget
        /// No route matches the called number, and `routes.default` is `reject`.
        case noRoute
        /// The signature of the call failed, and the trunk has `on_failed: reject`.
        case signature
        /// A test call is admitted from this address and port, by another Call-ID.
        case testCall
    }

    /// The measure that exceeds a limit, and the longest header field.
    public struct Size: Hashable, Sendable {
        /// Bytes of the message, or its number of header fields.
        public var measured: UInt32 = 0
        /// The limit that it exceeds.
        public var limit: UInt32 = 0
        /// Bytes of the longest header field, whose name is `detail`.
        public var longestField: UInt32 = 0

        public init(measured: Int = 0, limit: Int = 0, longestField: Int = 0) {
            self.measured = UInt32(clamping: measured)
            self.limit = UInt32(clamping: limit)
            self.longestField = UInt32(clamping: longestField)
        }
    }

    /// The far end of the last message.
    public var source: PeerAddress
    public var transport: SIPTransportKind
    public var sender: Sender
    /// The method of a request; of a response that of its CSeq.
    public var method: ShortText
    /// The status of a rejected response; 0 for a request.
    public var responseStatus: UInt16
    /// The status of Herald's response; 0 where it dropped the message.
    public var status: UInt16
    public var cause: Cause
    /// The reason phrase of Herald's response, which names the header or the check.
    public var phrase: StaticString
    /// The header's value if it cannot contain a number: the options of a Proxy-Require, the scheme of a URI.
    public var detail: ShortText
    /// The figures where a limit is the cause.
    public var size = Size()
    /// Number of messages in this record.
    public var count: UInt64 = 1
    /// Those of them that are INVITEs.
    public private(set) var invites: UInt64
    /// Wall clock of the first and of the last of them, in microseconds since 1970.
    public var first: Int64
    public var last: Int64

    public init(
        source: PeerAddress, transport: SIPTransportKind, sender: Sender, method: ShortText,
        responseStatus: UInt16 = 0, status: UInt16, cause: Cause, phrase: StaticString = "",
        detail: ShortText = ShortText(), at wallMicroseconds: Int64
    ) {
        self.source = source
        self.transport = transport
        self.sender = sender
        self.method = method
        self.responseStatus = responseStatus
        self.status = status
        self.cause = cause
        self.phrase = phrase
        self.detail = detail
        invites = responseStatus == 0 && method.isInvite ? 1 : 0
        first = wallMicroseconds
        last = wallMicroseconds
    }

    /// True if one record may count both: the same host, and for a configured peer the same cause.
    public func isLike(_ other: Rejection) -> Bool {
        guard source.hasSameHost(as: other.source), sender == other.sender else { return false }
        guard sender.isPeer else { return true }
        return cause == other.cause && status == other.status
            && phrase.utf8CodeUnitCount == other.phrase.utf8CodeUnitCount && phrase.utf8Start == other.phrase.utf8Start
    }

    /// Counts a later rejection of the same kind, and takes over its text.
    public mutating func add(_ later: Rejection) {
        let (count, invites, first) = (count, invites, first)
        self = later
        self.count = later.count + count
        self.invites = later.invites + invites
        self.first = min(later.first, first)
    }
}

/// Up to 32 bytes of a message, kept without an allocation; longer texts are cut.
public struct ShortText: Sendable {
    private var bytes = InlineArray<32, UInt8>(repeating: 0)
    private var count: UInt8 = 0

    /// No text.
    public init() {}

    public init(_ text: ArraySlice<UInt8>) {
        for byte in text.prefix(bytes.count) {
            bytes[Int(count)] = byte
            count += 1
        }
    }

    public init(_ text: StaticString) {
        for position in 0..<min(text.utf8CodeUnitCount, bytes.count) {
            bytes[position] = text.utf8Start[position]
            count += 1
        }
    }

    public var isEmpty: Bool { count == 0 }

    /// True for the method INVITE; methods are case-sensitive (RFC 3261 §7.1).
    var isInvite: Bool {
        let name: StaticString = "INVITE"
        guard Int(count) == name.utf8CodeUnitCount else { return false }
        return (0..<Int(count)).allSatisfy { bytes[$0] == name.utf8Start[$0] }
    }

    /// The text with everything but visible ASCII as an escape, fit for a log and a terminal.
    public var visible: String {
        var text = ""
        for position in 0..<Int(count) {
            let byte = bytes[position]
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "\\x" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return text
    }
}
