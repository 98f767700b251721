// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewaySync
import Synchronization

/// The records of a sync response, kept in memory.
final class MemoryIntake: BrandIntake {
    struct Content {
        var records: [BrandRecord] = []
        var inactive: [InactiveNumber] = []
        var restarts = 0
        /// Records of each call.
        var batches: [Int] = []
    }

    private let content = Mutex(Content())

    var records: [BrandRecord] { content.withLock { $0.records } }
    var inactive: [InactiveNumber] { content.withLock { $0.inactive } }
    var restarts: Int { content.withLock { $0.restarts } }
    var batches: [Int] { content.withLock { $0.batches } }

    func add(_ records: [BrandRecord], inactive: [InactiveNumber]) async throws {
        content.withLock { content in
            content.records += records
            content.inactive += inactive
            content.batches.append(records.count + inactive.count)
        }
    }

    func restart() async throws {
        content.withLock { content in
            content = Content(restarts: content.restarts + 1)
        }
    }

    func forEachPage(of limit: Int, _ body: ([E164Number]) async throws -> Void) async throws {
        let numbers = records.map(\.number)
        if !numbers.isEmpty { try await body(numbers) }
    }
}

extension DirectoryClient {
    /// Syncs into nowhere.
    @discardableResult
    func sync(since cursor: String?, deviceID: String) async throws(DirectoryError) -> SyncDelivery {
        try await sync(since: cursor, deviceID: deviceID, into: MemoryIntake())
    }
}
