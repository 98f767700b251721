// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Foundation
import GatewayStore
import Host
import Primitives
import Testing

@testable import GatewayOperator

@Suite("Fields of a call in JSON and CSV")
struct CallRecordFieldsTests {
    /// A row with a value in every column; texts are the name of their column.
    private static let full: LedgerCallRow = {
        var values: [String: ColumnValue] = [:]
        for (place, column) in SharedTable.call.columns.enumerated() {
            let time: Int64? = column.name.hasSuffix("_at") ? 1_767_225_600_250_000 + Int64(place) * 1_000_000 : nil
            values[column.name] = column.isText ? .text(column.name) : .integer(time ?? Int64(place))
        }
        (values["direction"], values["decision"]) = (.integer(1), .text("matched"))
        (values["caller"], values["destination"]) = (.integer(61_491_570_156), .integer(61_255_501_001))
        (values["forwarded"], values["also_called"]) = (.integer(1), .text("+61255501002 1002\n- 1003"))
        var evidence = DecisionEvidence()
        (evidence.isNamed, evidence.logo) = (true, .written)
        values["evidence"] = .integer(Int64(evidence.rawValue))
        return LedgerCallRow(shared: values, node: "north", events: [])
    }()

    @Test func `the record of a full call has each field in its form`() throws {
        let line = try Output.line(json: Self.full.recordJSON)
        #expect(
            line == """
                {"also_called":["+61255501002","1003"],"answered_at":"2026-01-01T00:00:07.250Z",\
                "answered_by":"answered_by","attempts":14,"brand_id":"brand_id","brand_name":"brand_name",\
                "call_id":"call_id","call_seconds":16,"caller":"+61491570156","caller_received":"caller_received",\
                "cancelled_at":"2026-01-01T00:00:08.250Z","carrier_name":"carrier_name","customer":"customer",\
                "decision":"matched","destination":"+61255501001","direction":"inbound",\
                "ended_at":"2026-01-01T00:00:09.250Z","forwarded":true,"gateway":"north",\
                "invite_at":"2026-01-01T00:00:04.250Z","latest_sip_call_id":"attempt_sip_call_id","outcome":"outcome",\
                "progress_at":"2026-01-01T00:00:05.250Z","q850_cause":12,"returned_at":"2026-01-01T00:00:21.250Z",\
                "ring_seconds":15,"ringing_at":"2026-01-01T00:00:06.250Z","sip_call_id":"sip_call_id","sip_status":11,\
                "subscriber":"subscriber","trunk":"trunk","written":"name logo"}

                """)
        var further = Self.full.json
        for name in ["continued_as", "events"] { #expect(further.removeValue(forKey: name) != nil) }
        #expect(try Output.line(json: further) == line, "the command has two further fields")
    }

    @Test func `the fields of CSV are those of JSON in a fixed order`() throws {
        #expect(
            LedgerCallRow.csvTitles.joined(separator: ",") == """
                call_id,sip_call_id,latest_sip_call_id,direction,trunk,caller,destination,subscriber,brand_id,brand_name,\
                carrier_name,decision,invite_at,progress_at,ringing_at,answered_at,cancelled_at,ended_at,returned_at,\
                sip_status,q850_cause,attempts,forwarded,answered_by,outcome,ring_seconds,call_seconds,caller_received,\
                customer,gateway,written,also_called,continued_as,events
                """)
        #expect(Set(LedgerCallRow.csvTitles) == Set(Self.full.json.keys))
        #expect(
            CSVLine.shown(Self.full.csvCells) == """
                call_id,sip_call_id,attempt_sip_call_id,inbound,trunk,+61491570156,+61255501001,subscriber,brand_id,\
                brand_name,carrier_name,matched,2026-01-01T00:00:04.250Z,2026-01-01T00:00:05.250Z,\
                2026-01-01T00:00:06.250Z,2026-01-01T00:00:07.250Z,2026-01-01T00:00:08.250Z,2026-01-01T00:00:09.250Z,\
                2026-01-01T00:00:21.250Z,11,12,14,true,answered_by,outcome,15,16,caller_received,customer,north,\
                name logo,'+61255501002 1003,continued_as,\r\n
                """)
    }

    @Test func `every column is in the records, or is known to be the ledger's alone`() {
        let own: Set = [
            "id", "subscriber_key", "refused_at", "sip_cause", "shown_event", "end_event", "return_event", "returnable",
            "session_until", "attempt_call_id", "end_clock", "evidence", "attempt_at", "continued_as",
            "earlier_attempts",
        ]
        #expect(Set(CallColumn.all.filter { $0.field == nil }.map(\.name)) == own)
    }

    @Test func `the page on records has every field`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/records.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        for title in LedgerCallRow.csvTitles { #expect(page.contains("`\(title)`"), "\(title)") }
    }
}
