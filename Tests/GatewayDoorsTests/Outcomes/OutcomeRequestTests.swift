// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import Testing

@testable import GatewayDoors

@Suite("Reports of calls: the forms that PBXs send")
struct OutcomeRequestTests {
    /// 2026-01-01T00:01:00Z, in microseconds.
    static let now: Int64 = 1_767_225_660_000_000
    private static let began: Int64 = 1_767_225_600_000_000

    private static let plain = """
        {"call_id":"1767225600.12","caller":"+61255501301","called":"1001","began":1767225600,"rang":"1767225602.5",\
        "answered":"2026-01-01T00:00:05Z","ended":1767225650.25,"cause":16,"shown_name":"Harbour Dental"}
        """

    private static func json(_ text: String) throws(OutcomeProblem) -> StatedOutcome {
        try OutcomeRequest.json(Array(text.utf8), now: now)
    }

    private static func form(_ text: String) throws(OutcomeProblem) -> StatedOutcome {
        try OutcomeRequest.form(Array(text.utf8), now: now)
    }

    @Test func `a JSON object has every member of a report`() throws {
        let outcome = try Self.json(Self.plain)
        #expect(outcome.callID == Array("1767225600.12".utf8) && outcome.call.called == Array("1001".utf8))
        #expect(outcome.began == Self.began && outcome.rang == Self.began + 2_500_000)
        #expect(outcome.answered == Self.began + 5_000_000 && outcome.ended == Self.began + 50_250_000)
        #expect(outcome.end == ReportedEnd(cause: 16) && outcome.shownName == Array("Harbour Dental".utf8))
    }

    @Test func `a form of Asterisk is the same report`() throws {
        let form = """
            call_id=1767225600.12&caller=%2B61255501301&called=1001&began=1767225600&rang=1767225602.5\
            &answered=1767225605&ended=1767225650.25&cause=16&status=ANSWER&shown_name=Harbour%20Dental
            """
        #expect(try Self.form(form) == Self.json(Self.plain))
        #expect(try Self.form(form.replacing("%20", with: "+")) == Self.json(Self.plain))
        #expect(try Self.form(form + "&caller=anonymous&cause=17") == Self.json(Self.plain), "the first value counts")
    }

    /// Words of Asterisk for the end: DIALSTATUS of Dial, and disposition of a CDR (docs.asterisk.org), with HANGUPCAUSE.
    static let words: [(status: String, cause: String, end: ReportedEnd)] = [
        ("ANSWER", "16", ReportedEnd(cause: 16)), ("ANSWERED", "", ReportedEnd()),
        ("NOANSWER", "16", ReportedEnd(cause: 19)), ("NO ANSWER", "0", ReportedEnd(cause: 19)),
        ("BUSY", "17", ReportedEnd(cause: 17)), ("BUSY", "", ReportedEnd(cause: 17)),
        ("BUSY", "21", ReportedEnd(cause: 21)), ("CANCEL", "0", ReportedEnd(cause: 16)),
        ("CANCEL", "26", ReportedEnd(cause: 26)), ("CONGESTION", "", ReportedEnd(cause: 34)),
        ("CHANUNAVAIL", "", ReportedEnd(cause: 20)), ("CHANUNAVAIL", "3", ReportedEnd(cause: 3)),
        ("FAILED", "", ReportedEnd(cause: 41)), ("DONTCALL", "", ReportedEnd(cause: 21)),
        ("TORTURE", "", ReportedEnd(cause: 21)), ("", "127", ReportedEnd(cause: 127)),
    ]

    @Test(arguments: words) func `a word of Asterisk counts where its cause shows nothing`(
        status: String, cause: String, end: ReportedEnd
    ) throws {
        let word = status.replacing(" ", with: "%20")
        let outcome = try Self.form("call_id=1&began=1767225600&ended=1767225650&status=\(word)&cause=\(cause)")
        #expect(outcome.end == end)
    }

    // MARK: FreeSWITCH

    /// Members of records of mod_json_cdr as published: of 2018 without escapes, of 2019 and of 2025 with them.
    static func record(
        _ variables: String, name: String = "Mac", number: String = "+61255501301", herald: String = "true"
    ) -> String {
        """
        {"core-uuid":"a","switchname":"pbx","channel_data":{"state":"CS_REPORTING","direction":"inbound"},
        "variables":{"direction":"inbound","uuid":"9d6f7a5e-57a6-11e9-8647-d663bd873d93","herald":"\(herald)",\(variables)},
        "app_log":{"applications":[{"app_name":"bridge","app_data":"user/1001"}]},
        "callflow":[{"dialplan":"XML","profile_index":"1","caller_profile":{"username":"102","caller_id_name":"\(name)",
        "caller_id_number":"\(number)","destination_number":"1001","uuid":"9d6f7a5e"},
        "times":{"created_time":"1554461443064073"}}]}
        """
    }

    private static func freeSWITCH(_ text: String, now: Int64) throws(OutcomeProblem) -> StatedOutcome? {
        try OutcomeRequest.freeSWITCH(Array(text.utf8), now: now)
    }

    @Test func `an answered call has the times of its record`() throws {
        let outcome = try #require(
            try Self.freeSWITCH(
                Self.record(
                    """
                    "hangup_cause":"NORMAL_CLEARING","hangup_cause_q850":"16","start_stamp":"2019-04-05%2010%3A50%3A43",
                    "start_uepoch":"1554461443064073","answer_uepoch":"1554461444604069",
                    "progress_uepoch":"1554461443484084","progress_media_uepoch":"1554461444604069",
                    "end_uepoch":"1554461446944059","effective_caller_id_name":"Harbour%20Dental"
                    """), now: 1_554_461_450_000_000))
        #expect(outcome.began == 1_554_461_443_064_073 && outcome.rang == 1_554_461_443_484_084)
        #expect(outcome.answered == 1_554_461_444_604_069 && outcome.ended == 1_554_461_446_944_059)
        #expect(outcome.shownName == Array("Harbour Dental".utf8) && outcome.end.cause == 16)
        #expect(outcome.call.number == Array("+61255501301".utf8) && outcome.call.called == Array("1001".utf8))
    }

    @Test func `a caller who gave up has neither answer nor bridge`() throws {
        let outcome = try #require(
            try Self.freeSWITCH(
                Self.record(
                    """
                    "hangup_cause":"ORIGINATOR_CANCEL","hangup_cause_q850":"16","start_stamp":"2025-11-12%2010%3A21%3A42",
                    "start_uepoch":"1762923102707743","answer_uepoch":"0","bridge_uepoch":"0",
                    "progress_uepoch":"1762923112727744","end_uepoch":"1762923116247748"
                    """), now: 1_762_923_120_000_000))
        #expect(outcome.answered == nil && outcome.rang == 1_762_923_112_727_744)
        #expect(outcome.end.finalStatus == 487 && outcome.shownName == Array("Mac".utf8))
    }

    /// Ringing, bridge and last application of an answered call: who picked up, and whether a phone had the name.
    static let pickedUp: [(rang: Bool, bridge: Bool, lastApp: String, answerer: CallAnswerer?, hasName: Bool)] = [
        (true, true, "bridge", nil, true), (false, true, "bridge", nil, true),
        (true, false, "voicemail", .voicemail, true),
        (false, false, "voicemail", .voicemail, false), (false, false, "ivr", .system, false),
    ]

    @Test(arguments: pickedUp) func `a call without a bridge was taken by a machine`(
        rang: Bool, bridge: Bool, lastApp: String, answerer: CallAnswerer?, hasName: Bool
    ) throws {
        let outcome = try #require(
            try Self.freeSWITCH(
                Self.record(
                    """
                    "hangup_cause":"NORMAL_CLEARING","hangup_cause_q850":"16","start_stamp":"2019-04-05%2010%3A50%3A43",
                    "start_uepoch":"1554461443064073","answer_uepoch":"1554461444604069","last_app":"\(lastApp)",
                    "progress_uepoch":"\(rang ? "1554461443484084" : "0")","end_uepoch":"1554461446944059",
                    "bridge_uepoch":"\(bridge ? "1554461444604069" : "0")","effective_caller_id_name":"Harbour%20Dental"
                    """), now: 1_554_461_450_000_000))
        #expect(outcome.answerer == answerer)
        #expect(outcome.shownName == (hasName ? Array("Harbour Dental".utf8) : []))
    }

    @Test func `a record without escapes keeps its percent signs`() throws {
        let times = """
            "start_stamp":"2018-03-13 08:28:23","start_uepoch":"1520944103557418","answer_uepoch":"1520944105037574",
            "progress_uepoch":"1520944103637959","end_uepoch":"1520944164057232","hangup_cause_q850":"16"
            """
        let record = Self.record(times + #","effective_caller_id_name":"100%25""#)
        let outcome = try #require(try Self.freeSWITCH(record, now: 1_520_944_170_000_000))
        #expect(outcome.shownName == Array("100%25".utf8))
        #expect(
            try Self.freeSWITCH(Self.record(times, herald: ""), now: 1_520_944_170_000_000) == nil, "a phone's call")
    }

    // MARK: Times

    private static func times(_ began: String, _ rang: String, _ answered: String, _ ended: String)
        throws(OutcomeProblem)
        -> StatedOutcome
    { try form("call_id=1&began=\(began)&rang=\(rang)&answered=\(answered)&ended=\(ended)") }

    /// Times of a PBX whose clock is right, and of others.
    static let wrongTimes: [(began: String, rang: String, answered: String, ended: String, member: String)] = [
        ("1767225650", "", "", "1767225600", "ended"), ("1767225600", "", "", "1767225961", "ended"),
        ("1767139259", "", "", "1767225600", "began"), ("1767225600", "1767225500", "", "1767225650", "rang"),
        ("1767225600", "", "1767225655", "1767225650", "answered"),
        ("1767225600", "1767225640", "1767225610", "1767225650", "answered"),
        ("-5", "", "", "1767225650", "began"), ("1e9", "", "", "1767225650", "began"),
        ("9999999999", "", "", "1767225650", "began"), ("99999999999999999999", "", "", "1767225650", "began"),
        ("2026-13-01T00:00:00Z", "", "", "1767225650", "began"), ("NaN", "", "", "1767225650", "began"),
        ("1767225600", "x", "", "1767225650", "rang"),
    ]

    @Test(arguments: wrongTimes) func `times out of order, of the future and of another day are refused by name`(
        began: String, rang: String, answered: String, ended: String, member: String
    ) {
        #expect {
            _ = try Self.times(began, rang, answered, ended)
        } throws: { error in
            if case .invalid(member, _)? = error as? OutcomeProblem { return true }
            return false
        }
    }

    @Test func `rounded seconds come into their order, and a fast clock moves the call as a whole`() throws {
        let rounded = try Self.times("1767225600", "1767225606", "1767225605", "1767225650")
        #expect(rounded.rang == rounded.answered && rounded.answered == Self.began + 5_000_000)
        // The PBX is 100 s ahead.
        let ahead = try Self.times("1767225700", "", "1767225705", "1767225760")
        #expect(ahead.began == Self.now - 60_000_000 && ahead.answered == Self.now - 55_000_000)
        #expect(ahead.ended == Self.now)
        #expect(try Self.times("1767225600", "0", "", "1767225650").rang == nil)
    }

    // MARK: Bad input

    static let hostile: [(body: String, problem: OutcomeProblem)] = [
        ("", .unreadable), ("[]", .unreadable), ("{", .unreadable), ("null", .unreadable),
        (String(repeating: "[", count: 10_000), .unreadable), ("{}", .missing("call_id")),
        (#"{"call_id":"1"}"#, .missing("began")), (#"{"call_id":"1","began":1767225600}"#, .missing("ended")),
        (#"{"call_id":"a b"}"#, .invalid("call_id", "must be 1 to 160 visible ASCII characters")),
        (#"{"call_id":"\u001b[31m"}"#, .invalid("call_id", "must be 1 to 160 visible ASCII characters")),
        (#"{"call_id":["1"]}"#, .invalid("call_id", "must be text or a number")),
        (#"{"call_id":"1","caller":"+61\u0000"}"#, .invalid("caller", "must have no control character")),
        (#"{"call_id":"1","called":"a\r\nb"}"#, .invalid("called", "must have no control character")),
    ]

    @Test(arguments: hostile) func `a body of no use is refused, and the response names the member`(
        body: String, problem: OutcomeProblem
    ) {
        #expect(throws: problem) { try Self.json(body) }
    }

    @Test(arguments: ["128", "-1", "x", "65552"]) func `a cause beyond Q.850 is refused`(cause: String) {
        #expect(throws: OutcomeProblem.invalid("cause", "must be a cause of Q.850, 0 to 127")) {
            try Self.form("call_id=1&began=1767225600&ended=1767225650&cause=\(cause)")
        }
    }

    @Test func `texts have limits`() {
        let long = String(repeating: "6", count: 65)
        #expect(throws: OutcomeProblem.invalid("caller", "must have at most 64 bytes")) {
            try Self.form("call_id=1&began=1767225600&ended=1767225650&caller=\(long)")
        }
        #expect(throws: OutcomeProblem.self) { try Self.form("call_id=\(String(repeating: "a", count: 161))") }
        #expect(throws: OutcomeProblem.self) { try Self.form("call_id=1&caller=%FF") }
    }
}
