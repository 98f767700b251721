// SPDX-License-Identifier: Apache-2.0

import Benchmark
import Branding

/// Reading what a trunk calls a number.
func numberBenchmarks() {
    let normaliser = NumberNormaliser(region: Region("US"))
    for (name, text) in [("+digits", "+12025550123"), ("national", "(202) 555-0123"), ("no number", "anonymous")] {
        let bytes = Array(text.utf8)
        Benchmark("normaliser: \(name)") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(normaliser.normalise(bytes)) }
        }
    }
}
