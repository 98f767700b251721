// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host
import Hummingbird
import NIOCore
import Primitives
import ServiceLifecycle
import Synchronization

/// Calls as a stream of CSV (RFC 4180) or JSON Lines, newest first.
///
/// It reads some calls, sends them, and waits until the client has taken them: memory stays the same for any number of calls, and a
/// slow client holds no transaction of the ledger.
struct CallExport: Sendable {
    /// The form of an export; the raw value is the end of its file's name.
    enum Format: String, CaseIterable, Sendable {
        case csv
        case json = "jsonl"

        var contentType: String { self == .csv ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson" }
    }

    /// Calls that are read at once.
    static let page = 500
    /// The largest number of calls of one export.
    static let most = 1_000_000

    let source: any CallSource
    let filter: CallFilter
    let format: Format
    let limit: Int
    let zone: LocalZone
    /// The form in which the reader may see a number; nil for whole numbers.
    var shown: (@Sendable (String) -> String)?

    /// The body of a response.
    ///
    /// - Parameter slot: its place among the exports, which it has until it ends.
    func body(_ slot: CallExportSlot) -> ResponseBody {
        ResponseBody { writer in
            defer { withExtendedLifetime(slot) {} }
            if format == .csv { try await writer.write(ByteBuffer(string: CSVLine.shown(LedgerCallRow.csvTitles))) }
            var (filter, left) = (self.filter, limit)
            while left > 0, !Task.isCancelled, !Task.isShuttingDownGracefully {
                let found = try await source.calls(filter, limit: min(left, Self.page))
                if !found.calls.isEmpty { try await writer.write(ByteBuffer(string: try text(of: found.calls))) }
                left -= found.calls.count
                guard let next = found.rest?.before ?? (found.calls.count == Self.page ? found.calls.last?.row : nil)
                else { break }
                filter.before = next
            }
            try await writer.finish(nil)
        }
    }

    /// The lines of some calls.
    func text(of calls: [LedgerCallRow]) throws -> String {
        try calls.map(source.links.linked).map { call in
            switch format {
            case .csv: CSVLine.shown(call.csvCells(in: zone, shown: shown))
            case .json: try Output.line(json: call.json(in: zone, shown: shown))
            }
        }.joined()
    }
}

/// The exports that run; each reads the ledger all the time.
final class CallExports: Sendable {
    /// Exports at once.
    static let most = 2

    fileprivate let count = Mutex(0)

    /// Nil while too many exports run.
    func open() -> CallExportSlot? {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        return isFree ? CallExportSlot(self) : nil
    }
}

/// A place among the exports, free again when the last reference to it ends.
final class CallExportSlot: Sendable {
    private let exports: CallExports

    fileprivate init(_ exports: CallExports) { self.exports = exports }

    deinit { exports.count.withLock { $0 -= 1 } }
}
