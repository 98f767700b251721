// SPDX-License-Identifier: Apache-2.0

package import Host

/// Durations of syncs, from the request to the swapped index, by kind and result; any thread.
package struct SyncDurations: Sendable {
    private let full = (succeeded: DurationHistogram(.sync), failed: DurationHistogram(.sync))
    private let delta = (succeeded: DurationHistogram(.sync), failed: DurationHistogram(.sync))

    /// Counts a sync.
    func record(_ duration: Duration, isFull: Bool, succeeded: Bool) {
        let kind = isFull ? full : delta
        (succeeded ? kind.succeeded : kind.failed).record(duration)
    }

    /// The series for the metrics page.
    package var samples: [HistogramSample] {
        [("full", full), ("delta", delta)].flatMap { kind, durations in
            [("succeeded", durations.succeeded), ("failed", durations.failed)].map { result, histogram in
                HistogramSample(
                    name: "herald_sync_duration_seconds",
                    help: "Seconds from the request of a sync to the index in use, by kind and result",
                    labels: [MetricLabel("kind", kind), MetricLabel("result", result)],
                    value: histogram.distribution)
            }
        }
    }
}
