// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Synchronization

/// Calls a second of the last two minutes, from the counters.
///
/// It reads the counters once a second, beside the call path.
final class CallRates: Service {
    /// One second of the past.
    struct Sample: Hashable, Sendable {
        /// New calls a second, from trunks and from PBXs.
        var calls: Double
        /// New calls from trunks, and of those the branded ones, in this second.
        var inbound: UInt64
        var branded: UInt64
    }

    /// Seconds that are kept.
    static let kept = 120

    private struct State {
        var last: (traffic: CallTraffic, at: ContinuousClock.Instant)?
        var samples: [Sample] = []
    }

    private let traffic: @Sendable () -> CallTraffic
    private let state = Mutex(State())

    /// - Parameter traffic: reads the counters.
    init(_ traffic: @escaping @Sendable () -> CallTraffic) { self.traffic = traffic }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.sample(at: .now)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The samples of the last two minutes, the newest last.
    var recent: [Sample] { state.withLock { $0.samples } }

    /// Takes one sample.
    func sample(at now: ContinuousClock.Instant) {
        let traffic = traffic()
        state.withLock { state in
            defer { state.last = (traffic, now) }
            guard let (last, at) = state.last, now > at else { return }
            let calls = traffic.inbound &- last.inbound &+ traffic.outbound &- last.outbound
            state.samples.append(
                Sample(
                    calls: Double(calls) / ((now - at) / .seconds(1)), inbound: traffic.inbound &- last.inbound,
                    branded: traffic.branded &- last.branded))
            if state.samples.count > Self.kept { state.samples.removeFirst(state.samples.count - Self.kept) }
        }
    }
}
