// SPDX-License-Identifier: Apache-2.0

/// A clock elsewhere, as exchanges with its machine have shown it.
///
/// An exchange shows the other clock with an error of at most half its round trip. So the shortest exchange counts, and its
/// error grows with the drift of both clocks. An exchange that contradicts it shows that a clock was set, and counts at once.
/// Times are microseconds. The clock of this machine is a monotonic one, so a step of the wall clock here changes nothing.
public struct ClockEstimate: Hashable, Sendable {
    /// Microseconds in which two clocks without a time server drift apart by one microsecond: 200 ppm.
    private static let drift: Int64 = 5_000

    private struct Measurement: Hashable {
        var offset: Int64
        var error: Int64
        var at: Int64

        func error(at now: Int64) -> Int64 { error + max(0, now - at) / ClockEstimate.drift }
    }

    private var best: Measurement?

    public init() {}

    /// The other clock less the monotonic clock here; nil before the first exchange.
    public var offset: Int64? { best?.offset }

    /// The largest error of `offset`; nil before the first exchange.
    public func error(at now: Int64) -> Int64? { best?.error(at: now) }

    /// Takes in an exchange, unless a shorter one is more exact.
    ///
    /// - Parameters:
    ///   - other: the other clock at some time between the two others.
    ///   - sent: the monotonic clock here before the request was sent.
    ///   - received: the same after the response was received.
    public mutating func measure(_ other: Int64, sent: Int64, received: Int64) {
        let error = max(0, received - sent) / 2 + 1
        let offset = other - sent - max(0, received - sent) / 2
        if let best {
            let present = best.error(at: received)
            guard error <= present || abs(offset - best.offset) > error + present else { return }
        }
        best = Measurement(offset: offset, error: error, at: received)
    }
}
