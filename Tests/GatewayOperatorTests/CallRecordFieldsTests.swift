// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
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
        // passed(B), counts, bound by a chain of 2, a verified name that the brand has too; `passed` and `unsupported_ppt`.
        values["trust"] = .integer(0b1_0101_0001_0101 | 3 << 27)
        (values["trust_causes"], values["signature_code"]) = (.integer(0x022D), .integer(438))
        values["origid"] = .text("00000000-0000-0001-0000-000000000002")
        return LedgerCallRow(shared: values, node: "north", events: [])
    }()

    @Test func `the record of a full call has each field in its form`() throws {
        let line = try Output.line(json: Self.full.recordJSON)
        #expect(
            line == """
                {"also_called":["+61255501002","1003"],"answered_at":"2026-01-01T00:00:07.250Z",\
                "answered_by":"answered_by","attempts":14,"attestation":"B","brand_id":"brand_id","brand_name":"brand_name",\
                "call_id":"call_id","call_seconds":16,"caller":"+61491570156","caller_received":"caller_received",\
                "cancelled_at":"2026-01-01T00:00:08.250Z","carrier_name":"carrier_name","customer":"customer",\
                "decision":"matched","destination":"+61255501001","direction":"inbound","diversions":2,\
                "ended_at":"2026-01-01T00:00:09.250Z","forwarded":true,"gateway":"north",\
                "invite_at":"2026-01-01T00:00:04.250Z","latest_sip_call_id":"attempt_sip_call_id",\
                "name_origin":"both","origid":"00000000-0000-0001-0000-000000000002","outcome":"outcome",\
                "progress_at":"2026-01-01T00:00:05.250Z","provider":"provider","q850_cause":12,"returned_at":"2026-01-01T00:00:21.250Z",\
                "ring_seconds":15,"ringing_at":"2026-01-01T00:00:06.250Z","signature":"passed",\
                "signature_causes":["passed","unsupported_ppt"],"signature_code":438,"signature_counts":true,\
                "signature_marks":[],"signature_rejected":false,"signed_name":"verified","signer":"signer","sip_call_id":"sip_call_id","sip_status":11,\
                "subscriber":"subscriber","trunk":"trunk","written":"name logo"}

                """)
        var further = Self.full.json(in: .utc)
        for name in ["continued_as", "events", "local_time"] { #expect(further.removeValue(forKey: name) != nil) }
        #expect(try Output.line(json: further) == line, "the command has three further fields")
    }

    @Test func `the fields of CSV are those of JSON in a fixed order`() throws {
        #expect(
            LedgerCallRow.csvTitles.joined(separator: ",") == """
                call_id,sip_call_id,latest_sip_call_id,direction,trunk,caller,destination,subscriber,brand_id,brand_name,\
                carrier_name,decision,invite_at,progress_at,ringing_at,answered_at,cancelled_at,ended_at,returned_at,\
                sip_status,q850_cause,attempts,forwarded,answered_by,outcome,ring_seconds,call_seconds,caller_received,\
                customer,gateway,written,also_called,signature,attestation,signature_counts,diversions,signed_name,\
                name_origin,signature_rejected,signature_marks,signature_causes,signature_code,origid,provider,signer,\
                link,continued_as,events,local_time
                """)
        #expect(Set(LedgerCallRow.csvTitles) == Set(Self.full.json(in: .utc).keys))
        #expect(
            CSVLine.shown(Self.full.csvCells(in: .utc)) == """
                call_id,sip_call_id,attempt_sip_call_id,inbound,trunk,+61491570156,+61255501001,subscriber,brand_id,\
                brand_name,carrier_name,matched,2026-01-01T00:00:04.250Z,2026-01-01T00:00:05.250Z,\
                2026-01-01T00:00:06.250Z,2026-01-01T00:00:07.250Z,2026-01-01T00:00:08.250Z,2026-01-01T00:00:09.250Z,\
                2026-01-01T00:00:21.250Z,11,12,14,true,answered_by,outcome,15,16,caller_received,customer,north,\
                name logo,'+61255501002 1003,passed,B,true,2,verified,both,false,,passed unsupported_ppt,438,\
                00000000-0000-0001-0000-000000000002,provider,signer,,continued_as,,2026-01-01T00:00:04Z\r\n
                """)
    }

    /// Facts of a verdict, with `signature`, `attestation`, `signature_counts`, `diversions`, `signed_name` and `name_origin`.
    ///
    /// Bits: 1 to 3 result, 4 counts, 8 bound, 9 to 11 diversions, 12 and 13 name, 25 and 26 its place.
    private static let verdicts: [(facts: Int64, cells: [String?])] = [
        (1, ["none", nil, "false", nil, "absent", nil]),
        (0b10_0001_0001_0011 | 1 << 27, ["passed", "A", "true", "0", "unverified", "directory"]),
        (0b01_0011_0000_0101 | 2 << 27, ["passed", "B", "false", "1", "verified", "rcd"]),
        (0b00_1011_0001_0111 | 3 << 27, ["passed", "C", "true", "5", "absent", "both"]),
        (0b00_0001_0001_1001, ["passed", nil, "true", "0", "absent", nil]),
        (0b00_0110_0001_1011, ["failed", nil, "true", nil, "absent", nil]),
    ]

    @Test(arguments: verdicts.indices)
    func `a verdict is read as its facts say`(index: Int) {
        let (facts, cells) = Self.verdicts[index]
        let row = LedgerCallRow(shared: ["trust": .integer(facts)], node: "", events: [])
        let found = Dictionary(uniqueKeysWithValues: zip(LedgerCallRow.recordTitles, row.recordCells))
        let names = ["signature", "attestation", "signature_counts", "diversions", "signed_name", "name_origin"]
        #expect(names.map { found[$0] ?? nil } == cells)
        #expect(row.recordJSON["signature_causes"] == .array([]))
        #expect(row.recordJSON["signature_marks"] == .array([]) && found["signature_rejected"] == "false")
        #expect(["signature_code", "origid", "provider", "signer"].allSatisfy { (found[$0] ?? nil) == nil })
    }

    /// Each mark has a bit of its own, from bit 15 on; bit 25 is that of a rejected call.
    @Test(arguments: [
        (15, "origid_form"), (16, "seen_before"), (17, "rcd_digest_bare"), (18, "rcd_digest_whole"), (19, "rcd_jcl"),
        (20, "rcd_malformed"), (21, "rcd_name"), (22, "rcd_icon"), (23, "rcd_alone"), (24, "rcd_attestation"),
    ]) func `a mark has its name in JSON and CSV`(bit: Int, name: String) {
        let facts = Int64(1) | 1 << bit | 1 << 25
        let row = LedgerCallRow(shared: ["trust": .integer(facts)], node: "", events: [])
        #expect(row.recordJSON["signature_marks"] == .array([.string(name)]))
        #expect(row.recordJSON["signature_rejected"] == .bool(true))
        let found = Dictionary(uniqueKeysWithValues: zip(LedgerCallRow.recordTitles, row.recordCells))
        #expect(found["signature_marks"] == name && found["signature_rejected"] == "true")
    }

    @Test func `a call without a verdict has none of its fields`() throws {
        let row = LedgerCallRow(shared: ["decision": .text("matched")], node: "", events: [])
        let names: Set = [
            "signature", "attestation", "signature_counts", "diversions", "signed_name", "name_origin",
            "signature_causes", "signature_code", "origid", "provider", "signer",
            "signature_marks", "signature_rejected",
        ]
        #expect(row.recordJSON.filter { names.contains($0.key) && $0.value != nil }.isEmpty)
        #expect(names.isSubset(of: LedgerCallRow.recordTitles))
        #expect(!(try Output.line(json: row.recordJSON).contains("sign")))
    }

    @Test func `the subject of a certificate is escaped and is no formula`() throws {
        let values: [String: ColumnValue] = [
            "trust": .integer(3), "signer": .text("=CMD(),\u{1B}[2J\u{202E}"), "provider": .text("+1"),
        ]
        let row = LedgerCallRow(shared: values, node: "", events: [])
        #expect(try !Output.line(json: row.recordJSON).utf8.contains(0x1B))
        #expect(!CSVLine.shown(row.csvCells(in: .utc)).utf8.contains(0x1B))
        #expect(CSVLine.shown(row.csvCells(in: .utc)).contains("'="))
    }

    /// A carrier without a name often writes the number, and a delegate's certificate may have it.
    @Test(arguments: [("signed_name", "Call 20*****000"), ("matched", "Call 2025551000")])
    func `a masked record has no number in its foreign texts`(decision: String, brand: String) throws {
        let values: [String: ColumnValue] = [
            "decision": .text(decision), "direction": .integer(1), "caller": .integer(12_025_551_000),
            "carrier_name": .text("(202) 555-1000"), "brand_name": .text("Call 2025551000"), "trust": .integer(3),
            "provider": .text("123A"), "signer": .text("CN=+1 202 555 1000, O=Shop"),
        ]
        let row = LedgerCallRow(shared: values, node: "", events: [])
        let json = row.json(in: .utc) { NumberMask.masked($0) }
        #expect(json["carrier_name"] == .string("(20*) ***-*000"))
        #expect(json["signer"] == .string("CN=+1 2** *** *000, O=Shop"))
        #expect(json["brand_name"] == .string(brand) && json["provider"] == .string("123A"))
        let cells = Set(row.csvCells(in: .utc) { NumberMask.masked($0) }.compactMap { $0 })
        #expect(cells.isSuperset(of: ["(20*) ***-*000", "CN=+1 2** *** *000, O=Shop", brand]))
        #expect(row.json(in: .utc)["carrier_name"] == .string("(202) 555-1000"), "whole for a command")
        let named = LedgerCallRow(shared: ["carrier_name": .text("Taxi 24/7")], node: "", events: [])
        #expect(named.json(in: .utc) { _ in "hidden" }["carrier_name"] == .string("Taxi 24/7"))
    }

    @Test func `every column is in the records, or is known to be the ledger's alone`() {
        let own: Set = [
            "id", "subscriber_key", "refused_at", "sip_cause", "shown_event", "end_event", "return_event", "returnable",
            "session_until", "attempt_call_id", "end_clock", "evidence", "attempt_at", "continued_as",
            "earlier_attempts",
        ]
        #expect(Set(CallColumn.all.filter(\.fields.isEmpty).map(\.name)) == own)
    }

    @Test func `the page on records has every field`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/records.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        for title in LedgerCallRow.csvTitles { #expect(page.contains("`\(title)`"), "\(title)") }
    }
}
