// SPDX-License-Identifier: Apache-2.0

public import Branding

/// One fact about a call, as the call path reports it; a fixed-size value in the ring.
///
/// It never contains the number of a withheld caller: `caller` is 0 then.
public struct CallUpdate: Hashable, Sendable {
    /// The kind of fact.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// An initial INVITE left for its target; carries the texts of the call.
        case invite = 1
        /// A provisional response above 100; `status` has its code.
        case provisional
        /// The first 2xx to the INVITE; retransmissions are not reported.
        case answered
        /// A final response above 299 to the INVITE, or the gateway's own (408 by timer, 500, 503); `status`, causes.
        case failed
        /// The caller's CANCEL; `cause` and `sipCause` come from its Reason header.
        case cancelled
        /// A BYE from either side.
        case bye
        /// A 2xx to a re-INVITE or UPDATE; `sessionSeconds` extends the session, 0 switches the timer off.
        case refreshed
        /// An earlier attempt of the call passed another gateway; `counterpart` names it, `status` is its number of INVITEs.
        ///
        /// Gateways write it for each other; the call path does not.
        case triedBefore
    }

    /// Properties of a message beside its status.
    public struct Marks: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The call was or is being forwarded: Diversion, History-Info (RFC 5806, RFC 7044).
        public static let forwarded = Marks(rawValue: 1)
        /// A voicemail box picks up, or is the called party.
        public static let voicemail = Marks(rawValue: 2)
        /// A queue or menu picks up, or is the called party.
        public static let system = Marks(rawValue: 4)
        static let all: Marks = [.forwarded, .voicemail, .system]
    }

    /// Meaning of the other side's tag in a message.
    public enum Counterpart: Hashable, Sendable {
        /// None: `call` identifies the call.
        case none
        /// The call this is about if the callee sent the message: nothing shows which side did.
        case callIfSentByCallee(CallIdentifier)
        /// The dialog of the callee that answered; a forked INVITE may have several.
        case answererDialog(CallIdentifier)
        /// The call that an earlier attempt was at another gateway, of a `triedBefore`.
        case earlierAttempt(CallIdentifier)
    }

    /// Direction of the call.
    public enum Direction: UInt8, Hashable, Sendable {
        /// Trunk to PBX; may be branded.
        case inbound = 1
        /// PBX to trunk; forwarded and recorded.
        case outbound
    }

    public var kind: Kind
    public var direction: Direction
    /// The call this is about; of a message with `callIfSentByCallee`, the call if the caller sent it.
    public var call: CallIdentifier
    public var counterpart: Counterpart
    /// Wall clock, microseconds since 1970.
    public var wallMicroseconds: Int64
    /// SIP status code; 0 where there is none.
    public var status: UInt16
    /// Q.850 cause of a Reason header; 0 where there is none.
    public var q850Cause: UInt16
    /// SIP cause of a Reason header (`SIP;cause=200`); 0 where there is none.
    public var sipCause: UInt16
    /// The mark of the trunk's name, see `TrunkPeer.mark`.
    public var trunk: UInt16
    /// The caller's digits; 0 when withheld or unclear.
    ///
    /// For an outbound call: the PBX subscriber's, if it has a number.
    public var caller: UInt64
    /// The called number's digits; 0 when unclear.
    public var destination: UInt64
    /// Nil if the INVITE left with a brand, else the reason; later updates may carry any reason.
    public var reason: PassThroughReason?
    public var marks = Marks()
    /// The findings behind the decision, of an `invite` alone; nil for none.
    ///
    /// Takes the place of the status and the Q.850 cause, which an INVITE does not have.
    public var evidence: DecisionEvidence?
    /// The verdict on the call's signed header fields, of an `invite` alone; nil without such a field, or where the trunk's
    /// calls are not verified.
    public var trust: TrustEvidence?
    /// The mark of the customer's name, below 2^28, in an `invite` update alone; 0 for no customer.
    public var customer: UInt32 = 0
    /// Of a 2xx, which of the parties that a call rings at once has answered (`CallIdentifier.mark`); 0 if it rings one.
    ///
    /// Below 2^28; an INVITE has the customer in its place.
    public var calledMark: UInt32 = 0
    /// True for a `failed` of the gateway's own: a timeout, or no target; nobody else has sent an end.
    public var isOwn = false
    /// Seconds from this update to the end of the session unless it is refreshed (RFC 4028); 0 for no timer.
    ///
    /// An update with texts has no space for it.
    public var sessionSeconds: UInt32 = 0

    /// The calls this may be about: a second one where nothing shows which side sent the message.
    public var calls: [CallIdentifier] {
        if case .callIfSentByCallee(let other) = counterpart { [call, other] } else { [call] }
    }

    public init(
        kind: Kind, direction: Direction, call: CallIdentifier, counterpart: Counterpart = .none,
        wallMicroseconds: Int64, status: UInt16 = 0, q850Cause: UInt16 = 0, sipCause: UInt16 = 0, trunk: UInt16 = 0,
        caller: UInt64 = 0, destination: UInt64 = 0, reason: PassThroughReason? = nil
    ) {
        self.kind = kind
        self.direction = direction
        self.call = call
        self.counterpart = counterpart
        self.wallMicroseconds = wallMicroseconds
        self.status = status
        self.q850Cause = q850Cause
        self.sipCause = sipCause
        self.trunk = trunk
        self.caller = caller
        self.destination = destination
        self.reason = reason
    }

    /// True for an inbound INVITE that left with the brand's name in it.
    public var isBranded: Bool { kind == .invite && direction == .inbound && reason == nil }
}

/// The texts of a call, written once with its `invite` update.
///
/// Each is cut to its limit in bytes, on the call path.
public struct CallTexts: Hashable, Sendable {
    /// Longest texts in bytes, in the order the ring stores them.
    public static let limits = (sipCallID: 160, brandName: 100, brandID: 64, subscriber: 64, carrierName: 43)

    /// The SIP Call-ID; at most 160 bytes.
    public var sipCallID: [UInt8]
    /// Name of the brand shown; at most 100 bytes.
    public var brandName: [UInt8]
    /// Identifier of the brand shown; at most 64 bytes.
    public var brandID: [UInt8]
    /// The called or calling PBX user (user part of the URI); at most 64 bytes.
    public var subscriber: [UInt8]
    /// The carrier's name in From that the brand's name replaced; at most 43 bytes.
    public var carrierName: [UInt8]
    /// The caller as the carrier wrote it, if that is no certain number; at most 64 bytes.
    ///
    /// It shares the place of `brandID`, because such a call has no brand. Empty for a withheld caller.
    public var callerReceived: [UInt8] {
        get { brandID }
        set { brandID = newValue }
    }

    public init(
        sipCallID: [UInt8] = [], brandName: [UInt8] = [], brandID: [UInt8] = [], subscriber: [UInt8] = [],
        carrierName: [UInt8] = []
    ) {
        self.carrierName = carrierName
        self.sipCallID = sipCallID
        self.brandName = brandName
        self.brandID = brandID
        self.subscriber = subscriber
    }

    /// Empties all texts, whose buffers stay for the next call.
    public mutating func clear() {
        sipCallID.removeAll(keepingCapacity: true)
        brandName.removeAll(keepingCapacity: true)
        brandID.removeAll(keepingCapacity: true)
        subscriber.removeAll(keepingCapacity: true)
        carrierName.removeAll(keepingCapacity: true)
    }

    /// The first bytes of a text, at most `limit`, without a part of a UTF-8 character (RFC 3629 §3).
    public static func cut(_ text: ArraySlice<UInt8>, to limit: Int) -> ArraySlice<UInt8> {
        guard text.count > limit else { return text }
        var end = text.startIndex + limit
        while end > text.startIndex, text[end] & 0xC0 == 0x80 { end -= 1 }
        return text[..<end]
    }
}
