// SPDX-License-Identifier: Apache-2.0

import Benchmark

/// Each is one piece of the work a call makes, a thousand times an iteration so that the clock's own cost is nothing;
/// only what is done to the whole brand index is done once.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock], timeUnits: .nanoseconds, warmupIterations: 20, scalingFactor: .kilo,
        maxDuration: .seconds(3), maxIterations: 2_000)
    messageBenchmarks()
    numberBenchmarks()
    brandBenchmarks()
    outcomeBenchmarks()
    recorderBenchmarks()
}
