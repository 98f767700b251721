// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayStore
import Host
import Primitives

/// Appends ended calls to `outcomes.cdr_file`, oldest first, as JSON lines or CSV.
struct CallFileOutput: CallRecordOutput {
    private let queue: CallOutputStore
    private let file: CallRecordFile
    private let format: HeraldConfiguration.RecordFormat
    private let links: CallLinks
    /// Calls in the file whose removal from the queue has failed, such as on a full disk; never written twice.
    private var written: [Int64] = []

    /// Calls written at once.
    static let batch = 500

    init(
        _ queue: CallOutputStore, path: String, format: HeraldConfiguration.RecordFormat,
        links: CallLinks = CallLinks(nil)
    ) {
        self.queue = queue
        self.format = format
        self.links = links
        file = CallRecordFile(path: path, titles: format == .csv ? CSVLine.shown(LedgerCallRow.recordTitles) : "")
    }

    mutating func round(at now: Int64) throws -> CallOutputRound {
        try settle()
        let due = try queue.due(.file, limit: Self.batch, now: now)
        guard !due.isEmpty else { return CallOutputRound() }
        try file.append(try due.map { try line($0.call) }.joined())
        written = due.map(\.id)
        try settle()
        return CallOutputRound(sent: due.count, hasMore: due.count == Self.batch)
    }

    func shutdown() async {}

    private func line(_ call: LedgerCallRow) throws -> String {
        let call = links.linked(call)
        return format == .csv ? CSVLine.shown(call.recordCells) : try Output.line(json: call.recordJSON)
    }

    private mutating func settle() throws {
        guard !written.isEmpty else { return }
        try queue.done(written)
        written = []
    }
}
