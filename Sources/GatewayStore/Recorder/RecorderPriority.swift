// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The scheduling of the recorder's thread: below call threads, and equal to them while it cannot keep up.
///
/// On a core busy with calls the usual weight leaves a fifth to the recorder. Under overload that is too little, and
/// the ring fills within seconds. A recorder that always equals call threads takes the core in bursts, and messages are
/// lost. If the system refuses the change, the recorder keeps its usual weight.
struct RecorderPriority {
    /// The part of the ring that waits from which on the recorder is behind, and below which it is in time again.
    ///
    /// Above `OutcomeRounds.crowded`: up to there updates wait for their second and not for the recorder.
    static let (behind, inTime) = (0.5, 0.05)
    /// The niceness of call threads (`CallThreadPriority`); it needs the same rights.
    static let beside: Int32 = -5

    /// On Linux a niceness belongs to a thread; 0 is the current thread.
    private static let thread = Int32(PRIO_PROCESS.rawValue)

    /// Sets the niceness of the current thread; false if the system refuses.
    private let set: (Int32) -> Bool
    private let usual: Int32
    private var isRaised = false

    /// - Parameters:
    ///   - usual: the niceness of the thread.
    ///   - set: sets another niceness.
    init(
        usual: Int32 = getpriority(Self.thread, 0),
        set: @escaping (Int32) -> Bool = { setpriority(Self.thread, 0, $0) == 0 }
    ) {
        (self.usual, self.set) = (usual, set)
    }

    /// Adapts to the part of the ring that waits, 0 to 1; on the recorder's thread.
    mutating func follow(_ filling: Double) {
        let isBehind = filling > (isRaised ? Self.inTime : Self.behind)
        guard isBehind != isRaised, set(isBehind ? min(Self.beside, usual) : usual) else { return }
        isRaised = isBehind
    }
}
