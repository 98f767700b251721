// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Testing

@testable import GatewayOperator

@Suite("The file of call records")
struct CallFileOutputTests {
    private let calls: EndedCalls
    private let path: String

    init() throws {
        calls = try EndedCalls()
        path = calls.folder.path + "/calls"
    }

    private func output(_ format: HeraldConfiguration.RecordFormat = .json, path: String? = nil) -> CallFileOutput {
        CallFileOutput(calls.queue, path: path ?? self.path, format: format)
    }

    private func lines() throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isNewline).map(String.init)
    }

    /// The SIP Call-IDs of the file, in its order.
    private func callIDs() throws -> [String] {
        try lines().map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["sip_call_id"] as? String)
        }
    }

    @Test func `calls are written once, in the order of their end`() throws {
        var output = output()
        try calls.end(3)
        #expect(try output.round(at: 0) == CallOutputRound(sent: 3, hasMore: false))
        #expect(try output.round(at: 1) == CallOutputRound())
        try calls.end(1)
        _ = try output.round(at: 2)
        #expect(try callIDs() == ["c1", "c2", "c3", "c4"])
        #expect(try calls.waiting(.file) == 0)
        #expect(try calls.waiting(.webhook) == 4, "the other output has a queue of its own")
    }

    @Test func `a record has the link to the call's page where the pages have an address`() throws {
        var output = CallFileOutput(
            calls.queue, path: path, format: .json, links: CallLinks("https://sbc.example/pages"))
        try calls.end(1)
        _ = try output.round(at: 0)
        let object =
            try JSONSerialization.jsonObject(with: Data(try #require(try lines().first).utf8)) as? [String: Any]
        let id = try #require(object?["call_id"] as? String)
        #expect(object?["link"] as? String == "https://sbc.example/pages/calls/\(id)")
    }

    @Test func `a full batch asks for the next round at once`() throws {
        var output = output()
        try calls.end(CallFileOutput.batch + 1)
        #expect(try output.round(at: 0) == CallOutputRound(sent: CallFileOutput.batch, hasMore: true))
        #expect(try output.round(at: 0) == CallOutputRound(sent: 1, hasMore: false))
        #expect(try lines().count == CallFileOutput.batch + 1)
    }

    @Test func `CSV begins with titles and has the fields of JSON but the events`() throws {
        var output = output(.csv)
        try calls.end(2)
        _ = try output.round(at: 0)
        let lines = try lines()
        let signed =
            "signature,attestation,signature_counts,diversions,signed_name,name_origin,signature_rejected,signature_marks,"
            + "signature_causes,signature_code,origid,provider,signer,link"
        #expect(lines.count == 3)
        #expect(lines[0] == LedgerCallRow.recordTitles.joined(separator: ","))
        #expect(lines[0].hasSuffix("caller_received,customer,gateway,written,also_called,\(signed)"))
        #expect(lines[1].contains("\"Acme, \"\"Bank\"\"\""))
        let call = try #require(try calls.queue.due(.webhook, limit: 1, now: 0).first?.call)
        #expect(Set(call.recordJSON.keys) == Set(LedgerCallRow.recordTitles))
        #expect(call.recordCells.count == LedgerCallRow.recordTitles.count)
    }

    @Test func `a file that cannot be written loses no call`() throws {
        var output = output(path: "/dev/full")
        try calls.end(2)
        let error = #expect(throws: CallRecordFileError.self) { try output.round(at: 0) }
        #expect(error?.description.hasSuffix("its records wait in the ledger") == true)
        #expect(try calls.waiting(.file) == 2)
        var next = self.output()
        #expect(try next.round(at: 0).sent == 2)
        #expect(try callIDs() == ["c1", "c2"])
    }

    @Test func `a queue that refuses removals does not write a call twice`() throws {
        var output = output()
        try calls.end(2)
        try calls.setRemovals(fail: true)
        #expect(throws: (any Error).self) { try output.round(at: 0) }
        #expect(throws: (any Error).self) { try output.round(at: 1) }
        #expect(try callIDs() == ["c1", "c2"])
        try calls.setRemovals(fail: false)
        try calls.end(1)
        #expect(try output.round(at: 2).sent == 1)
        #expect(try callIDs() == ["c1", "c2", "c3"])
    }

    @Test func `a process that ends before the removal writes the calls again`() throws {
        var output = output()
        try calls.end(1)
        try calls.setRemovals(fail: true)
        #expect(throws: (any Error).self) { try output.round(at: 0) }
        try calls.setRemovals(fail: false)
        var next = self.output()
        _ = try next.round(at: 1)
        #expect(try callIDs() == ["c1", "c1"], "at least once; the call_id shows the repetition")
    }
}
