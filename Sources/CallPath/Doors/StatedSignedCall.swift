// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore
import Trust

/// The parts of a signed call that the client of a door states.
///
/// Bytes as the client sent them, of any content.
public struct StatedSignedCall: Hashable, Sendable {
    /// A party of the call.
    public enum Party: Hashable, Sendable {
        /// A telephone number, with or without its plus sign.
        case number([UInt8])
        /// A SIP or tel URI.
        case uri([UInt8])
    }

    /// The caller by From or P-Asserted-Identity.
    public var caller: Party
    /// The called party by the Request-URI; nil where the client states To alone.
    public var called: Party?
    /// The called party by To.
    public var to: Party
    /// The Date header field in Unix seconds; nil without one.
    public var date: Int64?
    /// The values of the Identity header fields, in order.
    public var identities: [[UInt8]]

    public init(caller: Party, called: Party? = nil, to: Party, date: Int64? = nil, identities: [[UInt8]]) {
        (self.caller, self.called, self.to) = (caller, called, to)
        (self.date, self.identities) = (date, identities)
    }
}

extension SignedCall {
    /// The facts of a call that a client states, in the forms of its trunk.
    init(of call: StatedSignedCall, on trunk: TrunkPeer, _ rules: TrunkSignatures) {
        let to = call.to.number(on: trunk)
        let called = call.called.map { $0.number(on: trunk) } ?? to
        self.init(caller: call.caller.number(on: trunk), called: rules.called == .to ? to : called, to: to)
        if rules.policy.regimes.contains(where: \.checksDate) { date = call.date }
    }
}

extension StatedSignedCall.Party {
    /// The number in canonical form; nil for any other text, and for digits with two readings that are both in use.
    fileprivate func number(on trunk: TrunkPeer) -> CanonicalNumber? {
        switch self {
        case .number(let text):
            if let number = StatedNumber.read(text, by: trunk.normaliser) { return CanonicalNumber(number) }
            let digits = StatedNumber.trimmed(text)
            return trunk.normaliser.normalise(digits) == nil ? CanonicalNumber(dialled: digits) : nil
        case .uri(let text):
            return SIPURI(text, text.indices).flatMap { CanonicalNumber($0, on: trunk) }
        }
    }
}
