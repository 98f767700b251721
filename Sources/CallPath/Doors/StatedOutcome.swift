// SPDX-License-Identifier: Apache-2.0

public import CallAccounting

/// The course of a call as a PBX reports it after its end.
///
/// Bytes as the client sent them, checked for their lengths and for control characters. Times are microseconds since 1970, in
/// their order.
public struct StatedOutcome: Hashable, Sendable {
    /// Caller and called party.
    public var call: StatedCall
    /// The identifier that the PBX has for the call and for no other; at most 160 bytes.
    public var callID: [UInt8]
    public var began: Int64
    /// The time at which a phone began to ring; nil if none did.
    public var rang: Int64?
    /// Nil for a call that nobody answered.
    public var answered: Int64?
    public var ended: Int64
    /// The end of a call that nobody answered.
    public var end = ReportedEnd()
    /// The name that the PBX put on a phone that rang; empty if it does not know.
    public var shownName: [UInt8] = []
    /// The machine that answered; nil for a person.
    public var answerer: CallAnswerer?

    /// A call with the times of its begin and its end.
    public init(_ call: StatedCall, callID: [UInt8], began: Int64, ended: Int64) {
        (self.call, self.callID, self.began, self.ended) = (call, callID, began, ended)
    }
}

/// The codes with which a PBX reports the end of a call.
public struct ReportedEnd: Hashable, Sendable {
    /// SIP status, from 300; 0 for none.
    public var status: UInt16
    /// Cause of ITU-T Q.850, 1 to 127; 0 for none.
    public var cause: UInt16

    public init(status: UInt16 = 0, cause: UInt16 = 0) { (self.status, self.cause) = (status, cause) }

    /// The status of an end that a PBX reports by its cause; 487 for a caller who gave up, or without any code.
    ///
    /// Source: RFC 3398 §7.2.4.1. 16 and 31 are the usual clearing of a caller who waits no longer, and 26 is the end of a
    /// branch while another phone was answered.
    public var finalStatus: UInt16 {
        if status >= 300 { return status }
        switch cause {
        case 0, 16, 26, 31: return 487
        case 1, 2, 3: return 404
        case 17: return 486
        case 18: return 408
        case 19, 20: return 480
        case 21, 55, 57, 87: return 403
        case 22, 23: return 410
        case 27: return 502
        case 28: return 484
        case 34, 38, 41, 42, 47, 58, 88: return 503
        case 29, 79: return 501
        case 65, 70: return 488
        case 102: return 504
        default: return 500
        }
    }
}
