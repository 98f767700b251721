// SPDX-License-Identifier: Apache-2.0

public import CallAccounting
import Synchronization
public import Trust

/// Counts of verified calls. Any thread. A count is one relaxed atomic addition.
public final class TrustCounters: Sendable {
    private let results = InlineArray<8, Atomic<UInt64>> { _ in Atomic(0) }
    private let causes = InlineArray<64, Atomic<UInt64>> { _ in Atomic(0) }
    private let contradicted = Atomic<UInt64>(0)
    private let changing = Atomic<UInt64>(0)
    private let naming = Atomic<UInt64>(0)
    /// The clock's offset of the worker that verified last, in seconds; `Int64.min` while too few signers are known.
    private let offset = Atomic<Int64>(.min)

    public init() {
        precondition(
            TrustEvidence.Result.allCases.count <= 8 && TrustCause.allCases.allSatisfy { $0.rawValue < 64 },
            "an enumeration has more cases than counters")
    }

    /// Counts a verified call, the causes of its header fields and its marks.
    ///
    /// - Parameters:
    ///   - changesCall: whether the call has another decision by the verdict than without it, or would have in shadow.
    ///   - changesNames: whether its name, logo, reason or their marks differ by the signed values, or would in shadow.
    ///   - hasVerifiedLogo: whether the bytes of its picture were compared, which takes the remark `rcd_icon` back.
    func add(_ signed: SignedVerdict, changesCall: Bool, changesNames: Bool, hasVerifiedLogo: Bool) {
        let evidence = signed.evidence
        results[Int(evidence.result.rawValue)].add(1, ordering: .relaxed)
        for cause in signed.verdict.causes { causes[Int(cause.rawValue)].add(1, ordering: .relaxed) }
        if !signed.verdict.marks.isEmpty {
            for mark in signed.verdict.marks.all where mark != .rcdIcon || !hasVerifiedLogo {
                causes[Int(mark.rawValue)].add(1, ordering: .relaxed)
            }
        }
        if evidence.contradictsTrunk { contradicted.add(1, ordering: .relaxed) }
        if changesCall { changing.add(1, ordering: .relaxed) }
        if changesNames { naming.add(1, ordering: .relaxed) }
    }

    /// Keeps the offset of the clock that the tokens of many signers show.
    func setClockOffset(_ seconds: Int64?) { offset.store(seconds ?? .min, ordering: .relaxed) }

    /// Calls with signed header fields, by the result for the number.
    public func count(_ result: TrustEvidence.Result) -> UInt64 {
        results[Int(result.rawValue)].load(ordering: .relaxed)
    }

    /// Header fields by cause, and calls by mark.
    public func count(_ cause: TrustCause) -> UInt64 { causes[Int(cause.rawValue)].load(ordering: .relaxed) }

    /// Calls whose verdict contradicts the trunk's verstat.
    public var contradictions: UInt64 { contradicted.load(ordering: .relaxed) }

    /// Calls that the verdict decides in another way, or would in shadow.
    public var changedCalls: UInt64 { changing.load(ordering: .relaxed) }

    /// Calls whose name, logo, reason or their marks differ by signed values, or would in shadow.
    public var changedNames: UInt64 { naming.load(ordering: .relaxed) }

    /// Seconds by which the tokens of most signers are ahead of this machine's clock; nil with fewer than eight signers.
    public var clockOffset: Int64? {
        let seconds = offset.load(ordering: .relaxed)
        return seconds == .min ? nil : seconds
    }
}

/// The shared parts of the verification of signed calls: the signers, the requests for further ones, and counts.
public struct GatewayTrust: Sendable {
    public let signers: CurrentTrust
    public let requests: SignerRequests
    public let counters: TrustCounters

    public init(
        signers: CurrentTrust = CurrentTrust(), requests: SignerRequests = SignerRequests(),
        counters: TrustCounters = TrustCounters()
    ) {
        (self.signers, self.requests, self.counters) = (signers, requests, counters)
    }
}
