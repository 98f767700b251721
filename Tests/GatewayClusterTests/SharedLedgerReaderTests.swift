// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GRDB
import GatewayCluster
import GatewayStore
import PostgreSQL
import Testing

@Suite("Reading the shared ledger")
struct SharedLedgerReaderTests {
    @Test func `each filter of herald calls finds what it finds in the gateway's own ledger`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        let shipper = shared.shipper(ledger)
        _ = try shipper.ship()
        for id in Int64(1)...6 {
            try ledger.begin(
                id, caller: 493_012_340 + id, brand: id == 3 ? "100 % Söhne_GmbH" : "Acme",
                customer: id == 4 ? "north" : nil, provider: id > 4 ? "123A" : nil, brandID: id == 5 ? "b-1" : nil)
        }
        try ledger.begin(7, caller: nil, received: "Anonymous Desk")
        try ledger.begin(8, caller: nil, alsoCalled: "+61255501002 1002\n- desk\n+4930555 555")
        for id in Int64(9)...10 { try ledger.begin(id) }
        // Bit 31 of the evidence tells values of a signature from a brand in shadow.
        try ledger.files.ledger.write {
            try $0.execute(
                sql: """
                    UPDATE call SET decision = 'signed_name' WHERE id = 6;
                    UPDATE call SET decision = 'shadow', evidence = 0x80000001 WHERE id = 9;
                    UPDATE call SET decision = 'shadow', evidence = 1 WHERE id = 10;
                    """)
        }
        try ledger.end(2)
        try ledger.end(5, outcome: "MISSED")
        _ = try shipper.ship()
        let own = LedgerReader(ledger.files)
        let changes: [(inout CallFilter) -> Void] = [
            { _ in }, { $0.number = E164Number("+493012343") }, { $0.numberEnd = "2345" }, { $0.received = "anon" },
            { $0.number = E164Number("+61255501002") }, { $0.number = E164Number("+6125550100") },
            { $0.numberEnd = "1002" },
            { $0.numberEnd = "0555" }, { $0.numberEnd = "desk" },
            { $0.name = "acme" }, { $0.name = "100 %" }, { $0.name = "e_g" }, { $0.name = "%" },
            { $0.trunk = "carrier" },
            { $0.trunk = "other" }, { $0.outcome = "OPEN" }, { $0.outcome = "MISSED" }, { $0.callID = "4@carrier" },
            { $0.callIDPart = "CALL-" }, { $0.since = 1_795_823_003 }, { $0.until = 1_795_823_003 },
            { $0.decisions = ["matched"] }, { $0.decisions = ["shadow"] }, { $0.decisions = ["no_match", "privacy"] },
            { $0.brand = "ACME" },
            { $0.brand = "100 %" }, { $0.brand = "b-1" }, { $0.customer = "north" }, { $0.customer = "south" },
            { $0.provider = "123A" }, { $0.provider = "123" }, { ($0.brand, $0.provider) = ("acme", "123A") },
        ]
        for change in changes {
            var filter = CallFilter()
            change(&filter)
            let expected = try own.calls(matching: filter, limit: 100)
            let found = try shared.calls(change)
            #expect(found.map(\.row) == expected.map(\.row), "\(filter)")
            #expect(found.map(\.events) == expected.map(\.events))
        }
        // The sixth and the ninth call have the name by their signer alone.
        #expect(try shared.calls { ($0.brand, $0.provider) = ("acme", "123A") }.map(\.row) == [5])
        #expect(try shared.calls { $0.brand = "ACME" }.map(\.row) == [10, 8, 7, 5, 4, 2, 1])
        #expect(
            try shared.calls { $0.number = E164Number("+61255501002") }.map(\.alsoCalled) == [
                ["+61255501002", "desk", "+4930555"]
            ])
        #expect(try shared.calls { $0.numberEnd = "30555" }.count == 1)
        #expect(try shared.calls { $0.number = E164Number("+6125550100") }.isEmpty)
    }

    @Test func `a call in shadow is found by decision and brand, and the view has both`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        try ledger.begin(1, brandID: "b-1")
        try ledger.begin(2, brandID: "b-1")
        try ledger.files.ledger.write { try $0.execute(sql: "UPDATE call SET decision = 'shadow' WHERE id = 2") }
        _ = try shared.shipper(ledger).ship()
        #expect(try shared.calls { $0.decisions = ["shadow"] }.map(\.row) == [2])
        #expect(try shared.calls { ($0.decisions, $0.brand) = (["shadow"], "b-1") }.map(\.brandName) == ["Acme"])
        let view = try shared.look.execute("SELECT brand_name FROM ledger.calls WHERE decision = 'shadow'")
        #expect(try view.map { try $0.text(0) } == ["Acme"])
        // The reader of an earlier version does not take it for a branded call.
        #expect(CallRecord.reason(ofDecision: "shadow") == .shadow && CallRecord.reason(ofDecision: "later") == .error)
    }

    @Test(arguments: ["'; DROP TABLE ledger.call; --", "\u{202E}evil", "a\nb", "\\", "{\"x\"}", "NULL"])
    func `names from the wire arrive as they are`(_ name: String) throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        try ledger.begin(1, brand: name, callID: name)
        _ = try shared.shipper(ledger).ship()
        #expect(try shared.calls { $0.name = name }.map(\.brandName) == [name])
        #expect(try shared.calls { $0.callID = name }.map(\.callID) == [name])
    }

    /// Facts of verdicts: result from bit 1, counts 4, bound 8, diversions from 9, name from 12, its place from 27.
    @Test(
        arguments: [
            nil, 1, 0b10_0001_0001_0011, 0b01_0011_0000_0101, 0b00_1011_0001_0111, 0b00_0001_0000_1001,
            0b00_0110_0001_1011, 0x8000_0001, 0x0800_0001, 0x1000_0001, 0x1800_0001,
        ] as [Int64?])
    func `the view has the verdict of a call as the records have it`(trust: Int64?) throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        try ledger.begin(1, trust: trust)
        _ = try shared.shipper(ledger).ship()
        let names = ["signature", "attestation", "signature_counts", "diversions", "signed_name", "name_origin"]
        let row = try #require(
            try shared.look.execute(
                "SELECT \(names.map { "\($0)::text" }.joined(separator: ", ")) FROM ledger.calls"
            ).first)
        let fields = Dictionary(
            uniqueKeysWithValues: CallColumn.all.flatMap(\.fields).map { ($0.name, $0.value) })
        let call = try #require(try shared.calls().first)
        for (place, name) in names.enumerated() {
            let expected: String? =
                switch fields[name]?(call) {
                case .text(let text): text
                case .integer(let number): number.map(String.init)
                case .flag(let flag): flag.map(String.init)
                default: "no field"
                }
            #expect(try row.text(place) == expected, "\(name)")
        }
    }

    @Test func `the view for reports has one row for each call, with times and gateway`() throws {
        let (ledger, shared) = (try LocalLedger(), try SharedDatabase())
        try ledger.begin(1)
        try ledger.end(1)
        try ledger.begin(2, caller: nil)
        _ = try shared.shipper(ledger, "north").ship()
        let row = try shared.look.execute(
            "SELECT gateway, caller, outcome, extract(epoch FROM ended_at - invite_at)::bigint FROM ledger.calls WHERE outcome = 'OPEN'"
        )
        #expect(try row.first?.text(0) == "north")
        #expect(try row.first?.text(1) == nil)
        #expect(try row.first?.text(2) == "OPEN")
    }
}
