// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Synchronization
import Trust

/// Verifies signed calls for the clients of doors, by the verification and the signers that calls use.
///
/// A door and a call of the same trunk have the same verdict. Any thread; it does no I/O, and nothing is fetched for a request.
/// An unknown signer is listed for the service that keeps signers, as by a call.
public final class DoorVerification: Sendable {
    private let settings: CurrentSettings
    private let trust: GatewayTrust
    private let trunk: String
    /// Its own, as each worker has its own.
    private let memory = Mutex(TrustMemory())

    /// - Parameter trunk: the name of the trunk whose rules apply.
    public init(_ settings: CurrentSettings, _ trust: GatewayTrust, trunk: String) {
        (self.settings, self.trust, self.trunk) = (settings, trust, trunk)
    }

    /// The verification of a call; nil if the trunk verifies no calls at present.
    ///
    /// - Parameter now: Unix time in seconds.
    public func verify(_ call: StatedSignedCall, at now: Int64) -> VerifiedCall? {
        guard let trunk = settings.load().topology.trunks.first(where: { $0.name == self.trunk }),
            let rules = trunk.signatures, let regime = rules.policy.regimes.first
        else { return nil }
        var message: [UInt8] = []
        var fields: [Range<Int>] = []
        for value in call.identities {
            fields.append(message.count..<message.count + value.count)
            message += value
            message += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
        let signed = SignedCall(of: call, on: trunk, rules)
        let snapshot = trust.signers.load().snapshot
        let verdict = memory.withLock { memory in
            snapshot.verify(message.span, fields, of: signed, under: rules.policy, at: now, with: &memory)
        }
        for request in verdict.requests {
            trust.requests.add(request, trunk: trunk.mark, rules: rules.policy.fetchRules)
        }
        return VerifiedCall(verdict, of: message, under: regime)
    }
}
