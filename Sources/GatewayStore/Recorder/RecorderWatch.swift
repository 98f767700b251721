// SPDX-License-Identifier: Apache-2.0

import Logging

/// Warns when the recorder stands still: its thread waits for a disk, or for something nobody foresaw.
///
/// Runs on another thread than the recorder and goes by the monotonic clock. One warning when it begins, one each
/// `pause` while it lasts, and a notice at its end.
package struct RecorderWatch: Sendable {
    /// Age of the last round from which on the recorder counts as standing still.
    static let patience = Duration.seconds(30)
    /// Between two warnings.
    static let pause = Duration.seconds(600)

    private let recorder: OutcomeRecorder
    private let age: @Sendable () -> Duration
    /// Age at the last warning; nil while the recorder is at work.
    private var warnedAt: Duration?

    /// - Parameter age: time since the last finished round; the recorder's own unless a test has another.
    package init(_ recorder: OutcomeRecorder, age: (@Sendable () -> Duration)? = nil) {
        self.recorder = recorder
        self.age = age ?? { recorder.age }
    }

    /// Looks once; to be called every few seconds.
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
            the recorder has finished no round for \(age.components.seconds) s; calls go on and their signals wait in the \
            ring, which is \(filling) % full; see whether the disk of \(recorder.database.folder) answers, else restart herald
            """)
    }
}
