// SPDX-License-Identifier: Apache-2.0

/// The durations of RFC 3261 §17, Table 4, and the rules that derive one from another.
///
/// Held as whole milliseconds, because every live transaction keeps a copy: 20 bytes.
public struct TransactionTimers: Hashable, Sendable {
    /// The values of RFC 3261 Table 4: T1 500 ms, T2 4 s, T4 5 s, timer C 181 s, timer D 32 s.
    public static let standard = TransactionTimers()

    private let t1Milliseconds: UInt32
    private let t2Milliseconds: UInt32
    private let t4Milliseconds: UInt32
    private let cMilliseconds: UInt32
    private let dMilliseconds: UInt32

    /// Takes the base values; each is cut to whole milliseconds, between 1 ms and 49 days.
    ///
    /// - Parameters:
    ///   - t1: estimate of the round-trip time (§17.1.1.1).
    ///   - t2: longest interval between resent requests other than INVITE and resent final responses (§17.1.2.2).
    ///   - t4: how long a message stays in the network (§17.1.2.2).
    ///   - c: how long a proxy waits for a final response to an INVITE; must exceed three minutes (§16.6 step 11).
    ///   - d: how long resent final responses are acknowledged on unreliable transports; at least 32 s (§17.1.1.2).
    public init(
        t1: Duration = .milliseconds(500), t2: Duration = .seconds(4), t4: Duration = .seconds(5),
        c: Duration = .seconds(181), d: Duration = .seconds(32)
    ) {
        t1Milliseconds = UInt32(TimerDelay(t1).milliseconds)
        t2Milliseconds = UInt32(TimerDelay(t2).milliseconds)
        t4Milliseconds = UInt32(TimerDelay(t4).milliseconds)
        cMilliseconds = UInt32(TimerDelay(c).milliseconds)
        dMilliseconds = UInt32(TimerDelay(d).milliseconds)
    }

    /// Timers B, F, H, J, L and M, and the wait after a CANCEL: 64 × T1 (§17.1.1.2, §9.1; RFC 6026 §7.1, §7.2).
    public var transactionTimeout: TimerDelay { .milliseconds(64 * UInt64(t1Milliseconds)) }

    /// Timers I and K: T4, on unreliable transports only (§17.2.1, §17.1.2.2).
    public var t4: TimerDelay { .milliseconds(UInt64(t4Milliseconds)) }

    /// Timer C: a proxy's patience with a ringing target (§16.6 step 11).
    public var c: TimerDelay { .milliseconds(UInt64(cMilliseconds)) }

    /// Timer D: how long a resent final response is acknowledged again, on unreliable transports only (§17.1.1.2).
    public var d: TimerDelay { .milliseconds(UInt64(dMilliseconds)) }

    /// T2: the longest resend interval of timers E and G (§17.1.2.2, §17.2.1).
    public var t2: TimerDelay { .milliseconds(UInt64(t2Milliseconds)) }

    /// The interval of timer A after so many resends: T1, 2 × T1, 4 × T1 and on without a cap (§17.1.1.2).
    public func doubledInterval(afterResends count: UInt8) -> TimerDelay {
        .milliseconds(UInt64(t1Milliseconds) << UInt64(min(count, Self.mostDoublings)))
    }

    /// The interval of timers E and G after so many resends: doubling from T1, never above T2 (§17.1.2.2, §17.2.1).
    public func cappedInterval(afterResends count: UInt8) -> TimerDelay {
        min(doubledInterval(afterResends: count), t2)
    }

    /// How long a client's timer E runs until it is reset to T2: 0.5 + 1 + 2 = 3.5 s by default.
    ///
    /// The time of the 100 to a request other than INVITE (RFC 4320 §4.1). Over an unreliable transport none is sent
    /// earlier.
    public var tryingDelay: TimerDelay {
        var delay = TimerDelay.zero
        var resends: UInt8 = 0
        while resends < Self.mostDoublings, doubledInterval(afterResends: resends) < t2 {
            delay = delay + doubledInterval(afterResends: resends)
            resends += 1
        }
        return delay
    }

    // 2^16 × 49 days still fits 64 bits of milliseconds; timer B ends a transaction after six doublings.
    private static let mostDoublings: UInt8 = 16
}

/// One timer of a transaction, named by its letter in RFC 3261.
///
/// The raw value is what a timer wheel carries as its kind.
public enum TransactionTimer: UInt8, CaseIterable, Sendable {
    /// INVITE request resend, unreliable transports (§17.1.1.2).
    case a
    /// INVITE transaction timeout (§17.1.1.2).
    case b
    /// Proxy INVITE transaction timeout (§16.6 step 11).
    case c
    /// Wait for resent responses to an INVITE (§17.1.1.2).
    case d
    /// Resend of a request other than INVITE, unreliable transports (§17.1.2.2).
    case e
    /// Timeout of a transaction other than INVITE (§17.1.2.2).
    case f
    /// INVITE final response resend, unreliable transports (§17.2.1).
    case g
    /// Wait for the ACK (§17.2.1).
    case h
    /// Wait for resent ACKs (§17.2.1).
    case i
    /// Wait for resent requests other than INVITE (§17.2.2).
    case j
    /// Wait for resent responses to a request other than INVITE (§17.1.2.2).
    case k
    /// Wait for resent INVITEs after a 2xx (RFC 6026 §7.1).
    case l
    /// Wait for further 2xx (RFC 6026 §7.2).
    case m
    /// Wait for the final response to a cancelled INVITE (§9.1).
    case cancelWait
    /// Time at which a request other than INVITE gets its 100 (RFC 4320 §4.1).
    case trying

    /// True for a timer whose end sends nothing: it may run some milliseconds longer, together with others.
    public var onlyForgets: Bool {
        switch self {
        case .d, .i, .j, .k, .l, .m: true
        case .a, .b, .c, .e, .f, .g, .h, .cancelWait, .trying: false
        }
    }

    /// A place from 0 to 2 in which no transaction ever has two timers running at once.
    ///
    /// An owner can so keep three timer handles per transaction; starting a timer replaces what its slot held.
    public var slot: Int {
        switch self {
        case .a, .e, .g: 0
        case .c, .cancelWait, .trying: 2
        case .b, .d, .f, .h, .i, .j, .k, .l, .m: 1
        }
    }
}

/// A set of timers of one transaction.
public struct TimerSet: OptionSet, Hashable, Sendable {
    /// One bit for each timer, by its raw value.
    public let rawValue: UInt16

    /// Takes the bits as they are.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Makes the set of one timer.
    public init(_ timer: TransactionTimer) { rawValue = 1 << UInt16(timer.rawValue) }

    /// Whether the timer is in the set.
    public func contains(_ timer: TransactionTimer) -> Bool { contains(TimerSet(timer)) }

    /// The timers of an INVITE client transaction in the state `calling`.
    static let calling: TimerSet = [TimerSet(.a), TimerSet(.b), TimerSet(.c)]
    /// The timers of an INVITE client transaction in the state `proceeding`.
    static let proceeding: TimerSet = [TimerSet(.c), TimerSet(.cancelWait)]
}
