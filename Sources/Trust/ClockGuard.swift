// SPDX-License-Identifier: Apache-2.0

/// Finds a wrong clock of this machine by the tokens of many signers. For one thread.
///
/// It holds the offset `iat − now` of the last good token of each of 32 signers. A clock is suspect if eight or more signers
/// are known and the median of their offsets lies beyond 30 s.
struct ClockGuard: Sendable {
    private struct Sample {
        var signer: Int64
        var offset: Int64
        var taken: Int64
    }

    static let mostSigners = 32
    static let leastSigners = 8
    static let tolerance: Int64 = 30
    /// Seconds that an offset counts.
    static let life: Int64 = 3600
    /// Tokens beyond their age that are verified each minute for the guard alone.
    static let probesPerMinute = 12

    private var samples: [Sample] = []
    private var minute: Int64 = .min
    private var probes = 0

    /// The median offset in seconds; nil with fewer than eight signers.
    func offset(at now: Int64) -> Int64? {
        guard samples.count >= Self.leastSigners else { return nil }
        let offsets = samples.filter { Self.isRecent($0, now) }.map(\.offset).sorted()
        return offsets.count < Self.leastSigners ? nil : offsets[offsets.count / 2]
    }

    /// True if most signers see another time.
    func isSuspect(at now: Int64) -> Bool {
        offset(at: now).map { $0 > Self.tolerance || $0 < -Self.tolerance } ?? false
    }

    /// Takes the offset of a token with a good signature.
    mutating func take(_ issued: Int64, of signer: Int64, at now: Int64) {
        let sample = Sample(signer: signer, offset: issued.saturated(minus: now), taken: now)
        if let known = samples.firstIndex(where: { $0.signer == signer }) {
            samples[known] = sample
        } else if samples.count < Self.mostSigners {
            samples.append(sample)
        } else if let oldest = samples.indices.min(by: { samples[$0].taken < samples[$1].taken }) {
            samples[oldest] = sample
        }
    }

    /// True if a token beyond its age should be verified all the same.
    mutating func mayProbe(at now: Int64) -> Bool {
        if minute != now / 60 { (minute, probes) = (now / 60, 0) }
        guard probes < Self.probesPerMinute else { return false }
        probes += 1
        return true
    }

    private static func isRecent(_ sample: Sample, _ now: Int64) -> Bool {
        let age = now.saturated(minus: sample.taken)
        return age <= life && age >= -life
    }
}

extension Int64 {
    /// The difference, or the bound of the type that it lies beyond.
    func saturated(minus other: Int64) -> Int64 {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? (self < 0 ? .min : .max) : difference
    }
}
