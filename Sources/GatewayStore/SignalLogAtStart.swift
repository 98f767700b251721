// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GRDB
import Logging

// How a recorder begins with the signal log, and goes on without it.

extension OutcomeRecorder {
    /// Applies what the log holds and the ledger has not; ring and ledger are enough to go on where it cannot be read.
    ///
    /// - Parameter isAnew: the ledger is empty. What the log begins with counts then, whatever ring it is of: nothing else knows
    ///   of it where a ledger was lost.
    static func replay(
        _ signalLog: inout SignalLog?, _ database: Database, isAnew: Bool, into journal: inout LedgerJournal,
        log: Logger
    ) throws -> (ringID: Int64, position: UInt64)? {
        do {
            let position = RingPosition(database)
            let kept = try signalLog?.replay(startsAnywhere: isAnew, position: position.position) { signal, texts in
                journal.apply(signal, texts: texts)
            }
            if journal.batch.signals > 0 {
                log.notice(
                    "signals kept before the last stop are taken from the signal log",
                    metadata: ["count": "\(journal.batch.signals)"])
            }
            return kept
        } catch let error as SignalLogError {
            signalLog = nil
            warn(error, log: log)
            return nil
        }
    }

    /// Without the log every round writes to the ledger: dearer, and as safe.
    static func warn(_ error: SignalLogError, log: Logger) {
        log.warning("\(error); until the next start the ledger is written every round, which takes more CPU")
    }

    static func openLog(_ database: HeraldDatabase, size: Int, log: Logger) -> SignalLog? {
        do throws(SignalLogError) {
            return try SignalLog(path: database.folder + "/herald.signals", size: size)
        } catch {
            warn(error, log: log)
            return nil
        }
    }
}
