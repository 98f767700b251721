// SPDX-License-Identifier: Apache-2.0

import Logging

/// Warns about a recorder that finishes no round, mostly because its thread waits for a disk.
///
/// Runs on another thread than the recorder and uses the monotonic clock. It logs a warning at the begin, one each
/// `pause`, and a notice at the end.
package struct RecorderWatch: Sendable {
    /// Age of the last round at which the first warning is due.
    static let patience = Duration.seconds(30)
    /// Time between two warnings.
    static let pause = Duration.seconds(600)

    private let recorder: OutcomeRecorder
    private let age: @Sendable () -> Duration
    /// Age at the last warning; nil while the recorder works.
    private var warnedAt: Duration?

    /// - Parameter age: time since the last finished round; a test may have its own.
    package init(_ recorder: OutcomeRecorder, age: (@Sendable () -> Duration)? = nil) {
        self.recorder = recorder
        self.age = age ?? { recorder.age }
    }

    /// Looks once; call it every few seconds.
    package mutating func look() {
        let age = age()
        guard age >= Self.patience else {
            if warnedAt != nil {
                warnedAt = nil
                recorder.log.notice("the recorder is at work again")
            }
            return
        }
        if let warnedAt, age >= warnedAt, age - warnedAt < Self.pause { return }
        warnedAt = age
        let filling = Int((recorder.waiting * 100).rounded())
        recorder.log.warning(
            """
            the recorder has finished no round for \(age.components.seconds) s; calls go on, and the ring with \
            their updates is \(filling) % full; check the disk of \(recorder.database.folder), else restart herald
            """)
    }
}
