// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore

/// A transaction of the gateway, with its call.
typealias GatewayTransaction = ProxyTransaction<TransactionFacts>

/// The state that the gateway keeps with each transaction.
struct TransactionFacts {
    /// The call that an INVITE begins; nil for every other request.
    let call: CallIdentifier?
    /// Monotonic seconds of the last report of a response.
    var reportedAt: UInt32 = 0
    /// True for a REGISTER with the gateway's address in Path (RFC 3327 §5.2).
    let carriesPath: Bool
    /// The report of the call's signatures that a response to the trunk is to have; empty for none, and once it was sent.
    var signatureReport: [UInt8] = []
    /// Responses and the CANCEL that were reported, a bit each.
    private var reported: UInt8 = 0

    init(call: CallIdentifier?, carriesPath: Bool = false) {
        self.call = call
        self.carriesPath = carriesPath
    }

    private static let (ringingBit, progressBit): (UInt8, UInt8) = (1, 8)
    private static let (answeredBit, cancelledBit): (UInt8, UInt8) = (32, 128)

    /// True once a 180 was reported.
    var hasRung: Bool { reported & Self.ringingBit != 0 }
    /// True once a 180 or 183 was reported.
    var hasAlerted: Bool { reported & (Self.ringingBit | Self.progressBit) != 0 }
    /// True once a 2xx of any target was reported: later failures of the INVITE do not matter.
    var hasAnswered: Bool { reported & Self.answeredBit != 0 }
    /// True once the caller's CANCEL was reported.
    var isCancelled: Bool { reported & Self.cancelledBit != 0 }

    /// Marks the caller's CANCEL as reported.
    mutating func markCancelled() { reported |= Self.cancelledBit }

    /// Marks a response as reported; true at the first of its kind: 180 (bit 0), 181 (1), 182 (2), 183 (3), other 1xx (4), 2xx (5),
    /// final (6).
    mutating func markReported(_ status: Int) -> Bool {
        let bit: UInt8 =
            switch status {
            case 180: Self.ringingBit
            case 181: 2
            case 182: 4
            case 183: Self.progressBit
            case ..<200: 16
            case ..<300: Self.answeredBit
            default: 64
            }
        // After a 2xx nothing else counts; after a failure only a 2xx that crossed it does (RFC 3261 §16.7 step 5).
        if reported & bit != 0 || hasAnswered { return false }
        reported |= bit
        return true
    }
}

extension GatewayTransaction {
    /// The call that it begins; nil for a request that begins none.
    var call: CallIdentifier? { ownerState.call }
    /// True when it begins a call.
    var isCall: Bool { call != nil }
}
