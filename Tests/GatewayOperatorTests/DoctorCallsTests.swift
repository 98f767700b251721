// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Host
import Testing

@testable import GatewayOperator

@Suite("Doctor: the calls of the last hour")
struct DoctorCallsTests {
    private static func call(
        _ decision: String, direction: Int64 = 1, trunk: String? = "carrier", status: Int64? = 200, rang: Bool = true,
        cancelled: Bool = false
    ) -> LedgerCallRow {
        LedgerCallRow(
            shared: [
                "id": .integer(1), "call_id": .text("0f3c9a52"), "sip_call_id": .text("s"),
                "direction": .integer(direction), "trunk": .text(trunk), "decision": .text(decision),
                "invite_at": .integer(0), "ringing_at": .integer(rang ? 1 : nil), "status": .integer(status),
                "cancelled_at": .integer(cancelled ? 2 : nil), "attempts": .integer(1),
            ], node: "a", events: [])
    }

    private func warnings(_ calls: [LedgerCallRow]) -> [String] {
        DoctorCalls.findings(calls).filter { $0.level == .warning }.map(\.text)
    }

    @Test func `a wrong region is named with cause, remedy and a call to look at`() throws {
        let calls = [Self.call("number_unclear"), Self.call("number_unclear"), Self.call("number_unclear")]
        let text = try #require(warnings(calls + [Self.call("matched")]).first)
        #expect(text.hasPrefix("3 of 4 calls of trunk carrier in the last hour had no brand (number_unclear): "))
        #expect(text.contains("Check region and phone_contexts of trunk carrier."))
        #expect(text.hasSuffix("herald calls show 0f3c9a52"))
    }

    @Test(arguments: ["no_match", "privacy", "emergency", "mid_dialog", "gated:unauthorised", "stale"])
    func `calls without a brand for causes of the caller or the directory are no warning`(decision: String) {
        #expect(warnings((0..<9).map { _ in Self.call(decision) }).isEmpty)
    }

    @Test(arguments: ["untrusted", "policy", "failed_verification", "trimmed", "already_branded", "name_source"])
    func `each cause that the site can end is a warning`(decision: String) {
        #expect(warnings((0..<3).map { _ in Self.call(decision) }).count == 1)
        #expect(warnings((0..<2).map { _ in Self.call(decision) }).isEmpty, "two calls may be an accident")
        #expect(warnings((0..<3).map { _ in Self.call(decision) } + (0..<4).map { _ in Self.call("matched") }).isEmpty)
    }

    @Test func `each trunk is judged alone`() {
        let calls =
            (0..<9).map { _ in Self.call("matched") } + (0..<3).map { _ in Self.call("untrusted", trunk: "second") }
        #expect(warnings(calls).count == 1)
        #expect(warnings(calls).first?.contains("trunk second is not trusted") == false, "a sentence begins large")
        #expect(warnings(calls).first?.contains("Trunk second is not trusted") == true)
    }

    @Test(arguments: [
        (404, "the PBX does not know the called number; check its inbound routes"),
        (403, "the PBX does not accept Herald; add Herald's address to its trunk"),
        (488, "the PBX refuses the codecs of the call"), (503, "see herald targets, and the log of the PBX"),
        (480, "no phone of the called number is registered at the PBX"), (500, "see herald targets"),
        (420, "see the log of the PBX"),
    ])
    func `a PBX that rejects every call is named with status and remedy`(status: Int64, remedy: String) throws {
        let calls = (0..<3).map { _ in Self.call("matched", status: status, rang: false) }
        let text = try #require(warnings(calls).first)
        #expect(
            text.hasPrefix("3 of 3 calls of trunk carrier in the last hour ended with \(status) before a phone rang: "))
        #expect(text.contains(remedy))
    }

    @Test func `busy phones that rang, given up calls and calls of the PBX are no warning`() {
        #expect(warnings((0..<5).map { _ in Self.call("matched", status: 480) }).isEmpty)
        #expect(warnings((0..<5).map { _ in Self.call("matched", status: 486, rang: false) }).isEmpty)
        #expect(warnings((0..<5).map { _ in Self.call("matched", status: 487, rang: false, cancelled: true) }).isEmpty)
        #expect(warnings((0..<5).map { _ in Self.call("outbound", direction: 2, status: 404, rang: false) }).isEmpty)
    }

    @Test func `calls are counted where nothing is wrong`() {
        let findings = DoctorCalls.findings([Self.call("matched"), Self.call("no_match")])
        #expect(findings.map(\.text) == ["2 calls of trunks in the last hour, 1 with a brand"])
        #expect(findings.map(\.level) == [.ok])
        #expect(DoctorCalls.findings([]).isEmpty)
    }

    @Test func `where only the newest calls are read, the texts say so`() {
        let all = (0..<2_000).map {
            Self.call($0.isMultiple(of: 2) ? "untrusted" : "matched", status: 404, rang: false)
        }
        let texts = DoctorCalls.findings(all).map(\.text)
        #expect(texts.first == "2000 calls of trunks among the newest 2000 calls, 1000 with a brand")
        #expect(texts.count == 3 && texts.allSatisfy { $0.contains(" among the newest 2000 calls") }, "\(texts)")
        let fewer = DoctorCalls.findings(Array(all.dropLast())).map(\.text)
        #expect(fewer.count == 3 && fewer.allSatisfy { $0.contains(" in the last hour") }, "\(fewer)")
    }
}
