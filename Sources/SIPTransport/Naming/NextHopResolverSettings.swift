// SPDX-License-Identifier: Apache-2.0

public import Host

extension NextHopResolver {
    /// Time and random numbers. Tests inject their own.
    public struct Time: Sendable {
        let clock: any Clock<Duration>
        /// Time since this value was made.
        let elapsed: @Sendable () -> Duration
        let wallSeconds: @Sendable () -> Int64
        let chance: @Sendable () -> Double

        /// Takes the clock of waits, the wall clock in seconds since 1970, and random numbers in 0 ..< 1.
        public init(
            clock: some Clock<Duration>, wallSeconds: @escaping @Sendable () -> Int64,
            chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
        ) {
            self.clock = clock
            let start = clock.now
            elapsed = { start.duration(to: clock.now) }
            self.wallSeconds = wallSeconds
            self.chance = chance
        }
    }

    /// Rules of the resolution, waits after failures, and the file of the results.
    public struct Settings: Hashable, Sendable {
        public var resolution: NextHopResolution
        public var backoff: Backoff
        /// The file that keeps results over restarts; nil for none.
        public var path: String?

        public init(
            resolution: NextHopResolution = NextHopResolution(),
            backoff: Backoff = Backoff(first: .seconds(1), limit: .seconds(60)), path: String? = nil
        ) {
            self.resolution = resolution
            self.backoff = backoff
            self.path = path
        }
    }
}
