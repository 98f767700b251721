// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How the scheduler treats the recorder's thread: behind call threads, and as one of them while it cannot keep up.
///
/// On a core that calls keep busy the weights leave it a fifth, which was too little for what that core carries: after
/// eight seconds of it the ring was full and signals were lost (docs/performance/log.md). Always beside call threads
/// it took the core in bursts, and messages were lost. Where the system refuses it, all is as without.
struct RecorderPriority {
    /// The part of the ring that waits from which on the recorder is behind, and below which it is in time again.
    ///
    /// Above `OutcomeRounds.crowded`: up to there signals wait for their second and not for the recorder.
    static let (behind, inTime) = (0.5, 0.05)
    /// The niceness of call threads (`CallThreadPriority`); it takes the same rights.
    static let beside: Int32 = -5

    /// On Linux a niceness belongs to a thread; 0 is the one that asks.
    private static let thread = Int32(PRIO_PROCESS.rawValue)

    /// Gives the thread that calls it a niceness; false where the system refuses.
    private let set: (Int32) -> Bool
    private let usual: Int32
    private var isRaised = false

    /// - Parameters:
    ///   - usual: the niceness of the thread.
    ///   - set: how it gets another one.
    init(
        usual: Int32 = getpriority(Self.thread, 0),
        set: @escaping (Int32) -> Bool = { setpriority(Self.thread, 0, $0) == 0 }
    ) {
        (self.usual, self.set) = (usual, set)
    }

    /// Hears which part of the ring waits, 0 to 1; on the recorder's thread.
    mutating func follow(_ filling: Double) {
        let isBehind = filling > (isRaised ? Self.inTime : Self.behind)
        guard isBehind != isRaised, set(isBehind ? min(Self.beside, usual) : usual) else { return }
        isRaised = isBehind
    }
}
