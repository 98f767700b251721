// SPDX-License-Identifier: Apache-2.0

package import Host

extension NextHopResolver {
    /// Time and random numbers. Tests inject their own.
    package struct Time: Sendable {
        let clock: any Clock<Duration>
        /// Time since this value was made.
        let elapsed: @Sendable () -> Duration
        let wallSeconds: @Sendable () -> Int64
        let chance: @Sendable () -> Double

        /// Takes the clock of waits, the wall clock in seconds since 1970, and random numbers in 0 ..< 1.
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

    /// Rules of the resolution, waits after failures, and the file of the results.
    package struct Settings: Hashable, Sendable {
        package var resolution: NextHopResolution
        package var backoff: Backoff
        /// The file that keeps results over restarts; nil for none.
        package var path: String?

        package init(
            resolution: NextHopResolution = NextHopResolution(),
            backoff: Backoff = Backoff(first: .seconds(1), limit: .seconds(60)), path: String? = nil
        ) {
            self.resolution = resolution
            self.backoff = backoff
            self.path = path
        }
    }
}
