// SPDX-License-Identifier: Apache-2.0

extension NextHopResolver {
    /// Clock and randomness of the resolver.
    ///
    /// Tests inject their own.
    package struct Time: Sendable {
        let clock: any Clock<Duration>
        /// Time since this value was created.
        let elapsed: @Sendable () -> Duration
        let wallSeconds: @Sendable () -> Int64
        let chance: @Sendable () -> Double

        /// Takes the clock for waits, the wall clock in seconds since 1970, and random numbers in 0 ..< 1.
        package init(
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

    /// Settings for resolution, backoff and the file of addresses.
    package struct Settings: Hashable, Sendable {
        package var resolution: NextHopResolution
        package var backoff: NextHopBackoff
        /// File that keeps addresses across restarts; nil for none.
        package var path: String?

        package init(
            resolution: NextHopResolution = NextHopResolution(), backoff: NextHopBackoff = NextHopBackoff(),
            path: String? = nil
        ) {
            self.resolution = resolution
            self.backoff = backoff
            self.path = path
        }
    }
}
