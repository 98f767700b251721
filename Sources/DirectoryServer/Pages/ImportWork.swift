// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import Synchronization

/// A file of brands on its way from the browser to the account: read, previewed, imported.
///
/// Reading a large file takes longer than a person waits for a page. So the work goes on behind the response, and a page shows
/// how far it is.
final class ImportWork: Sendable {
    /// The point that the work has reached.
    enum Stage: Sendable {
        /// The file is being read; nil before the first thousand lines.
        case reading(BrandImport.Progress?)
        /// The confirmed changes are being made.
        case importing(BrandImport.Progress?)
        /// The changes wait for their confirmation.
        ///
        /// - Parameter hasMoved: true after a refused confirmation.
        case previewed(BrandImport.Result, hasMoved: Bool)
        case imported(BrandImport.Result)
        case failed(any Error)

        /// Nil unless the work goes on.
        var progress: BrandImport.Progress?? {
            switch self {
            case .reading(let progress), .importing(let progress): .some(progress)
            case .previewed, .imported, .failed: nil
            }
        }
    }

    let account: AccountID
    let path: String
    let region: Region?
    let options: BrandImport.Options
    private let state = Mutex(Stage.reading(nil))
    private let cancelled = Atomic<Bool>(false)

    init(account: AccountID, path: String, region: Region?, options: BrandImport.Options) {
        (self.account, self.path, self.region, self.options) = (account, path, region, options)
    }

    var stage: Stage { state.withLock { $0 } }

    /// Begins the import of previewed changes.
    ///
    /// - Returns: the digest of the confirmed plan; nil if no preview with a plan waits, as after a second confirmation.
    func confirm() -> String? {
        state.withLock { stage in
            guard case .previewed(let result, _) = stage, let plan = result.plan else { return nil }
            stage = .importing(nil)
            return plan.digest
        }
    }

    /// Ends the reading of the file; false while confirmed changes are being made.
    func cancel() -> Bool {
        state.withLock { stage in
            if case .importing = stage { return false }
            cancelled.store(true, ordering: .relaxed)
            return true
        }
    }

    /// Records the progress.
    ///
    /// - Throws: `CancellationError` after `cancel`, which ends the work.
    func advance(to progress: BrandImport.Progress) throws {
        if cancelled.load(ordering: .relaxed) { throw CancellationError() }
        state.withLock { stage in
            switch stage {
            case .reading: stage = .reading(progress)
            case .importing: stage = .importing(progress)
            case .previewed, .imported, .failed: break
            }
        }
    }

    func end(_ stage: Stage) { state.withLock { $0 = stage } }
}

/// The imports that may work at once, so that browsers cannot occupy every thread and the disk.
final class ImportSlots: Sendable {
    static let most = 2
    private let taken = Mutex(0)

    /// False if all are taken.
    func take() -> Bool {
        taken.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
    }

    func free() { taken.withLock { $0 -= 1 } }
}
