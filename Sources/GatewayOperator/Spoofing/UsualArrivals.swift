// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore

/// The trunks, attestations and providers of a brand's own calls.
struct UsualArrivals {
    private let trunks: Set<String>
    private let providers: Set<String>
    /// The weakest attestation that is usual.
    private let weakest: Level
    private let isUntrustedUsual: Bool

    /// Attestations from the strongest to the weakest.
    enum Level: Int, Comparable, Hashable {
        case a, b, c, none, failed

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }

        init(_ row: BrandArrivals) {
            guard !row.way.isSignatureFailed else {
                self = .failed
                return
            }
            switch row.way.evidence.verification {
            case .passedA: self = .a
            case .passedB: self = .b
            case .passedC: self = .c
            case .none: self = .none
            case .failed: self = .failed
            }
        }

        var name: String {
            switch self {
            case .a: "attestation A"
            case .b: "attestation B"
            case .c: "attestation C"
            case .none: "no attestation"
            case .failed: "failed check"
            }
        }
    }

    /// - Parameter branded: the branded calls of the days before.
    init(_ branded: [BrandArrivals]) {
        trunks = Self.usual(branded) { Self.value(of: $0, .trunk) }
        let signed = branded.filter { $0.way.provider != nil }
        providers =
            SpoofingRules.calls(signed) >= SpoofingRules.fewest ? Self.usual(signed) { $0.way.provider ?? "" } : []
        weakest = Self.usual(branded) { Level($0) }.max() ?? .none
        isUntrustedUsual = Self.usual(branded, by: Self.isUntrusted).contains(true)
    }

    /// Whether the brand's own calls show what is usual of this kind.
    ///
    /// A number that was never signed has no usual provider: its first signature is no sign of spoofing.
    func isKnown(_ kind: SpoofingAlarm.Kind) -> Bool { kind != .provider || !providers.isEmpty }

    func isUnusual(_ row: BrandArrivals, _ kind: SpoofingAlarm.Kind) -> Bool {
        switch kind {
        case .untrusted: !isUntrustedUsual && Self.isUntrusted(row)
        case .attestation: Level(row) > weakest
        case .trunk: !trunks.contains(Self.value(of: row, .trunk))
        case .provider: row.way.provider.map { !providers.contains($0) } ?? false
        }
    }

    /// The usual values as a digest shows them.
    func values(_ kind: SpoofingAlarm.Kind) -> [String] {
        switch kind {
        case .untrusted: ["trusted trunks, or a signature for the number"]
        case .attestation: ["\(weakest.name) or stronger"]
        case .trunk: Array(trunks.sorted().prefix(SpoofingAlarm.mostListed))
        case .provider: Array(providers.sorted().prefix(SpoofingAlarm.mostListed))
        }
    }

    /// The value of a row that its kind is about.
    static func value(of row: BrandArrivals, _ kind: SpoofingAlarm.Kind) -> String {
        switch kind {
        case .untrusted, .trunk: row.way.trunk ?? "a trunk that is not configured now"
        case .attestation: Level(row).name
        case .provider: row.way.provider ?? ""
        }
    }

    private static func isUntrusted(_ row: BrandArrivals) -> Bool {
        let isVouched = row.way.evidence.source == .ownSignature && Level(row) < .none
        return row.way.evidence.isPresent && !row.way.evidence.isTrusted && !isVouched
    }

    private static func usual<Value: Hashable>(
        _ rows: [BrandArrivals], by value: (BrandArrivals) -> Value
    ) -> Set<Value> {
        let all = SpoofingRules.calls(rows)
        let counts = Dictionary(grouping: rows, by: value).mapValues(SpoofingRules.calls)
        return Set(counts.filter { $0.value * SpoofingRules.usualShare >= all }.keys)
    }
}
