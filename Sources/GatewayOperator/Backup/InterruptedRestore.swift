// SPDX-License-Identifier: Apache-2.0

/// A `herald restore` that was killed, or whose disk failed, while it replaced files.
package enum InterruptedRestore {
    /// Puts the files back that such a restore has replaced, so that the state is the one before it.
    ///
    /// The caller holds the lock of the folder.
    ///
    /// - Returns: a sentence about it for the log; nil without such a restore.
    /// - Throws: `BackupProblem` with the remedy, for files that cannot be put back.
    package static func takeBack(in state: String) throws(BackupProblem) -> String? {
        guard let count = try takeBack(in: state, StateChanges()) else { return nil }
        return """
            a restore of \(state) was interrupted; \(count) replaced files were put back, and the state is the one before it; \
            run herald restore again for the backup
            """
    }

    /// - Returns: the count of files that were put back; nil without a plan.
    static func takeBack(in state: String, _ changes: StateChanges) throws(BackupProblem) -> Int? {
        guard let plan = try RestorePlan(in: state) else {
            StateSwap.removeDrafts(in: state)
            return nil
        }
        do {
            return try StateSwap(plan, in: state, changes).takeBack()
        } catch {
            throw BackupProblem("\(error); \(remedy(state))")
        }
    }

    /// The remedy for a state folder with files of both states.
    static func remedy(_ state: String) -> String {
        "\(state) has files of a backup beside earlier ones; the next herald restore or start of herald puts the earlier "
            + "ones back"
    }

    /// Refuses the work on a folder with files of two states.
    static func refuse(in state: String) throws(BackupProblem) {
        guard StateChanges.number(of: state + "/" + RestorePlan.path) != nil else { return }
        throw BackupProblem("a restore was interrupted: \(remedy(state))")
    }
}
