// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Trust
import TrustFixtures

/// Cases and tokens that were made and verified by other programs.
@Suite("Vectors of signed identity")
struct VectorTests {
    @Test func `the laboratory is complete`() {
        #expect(TrustLab.shared.cases.count == 122)
        #expect(TrustLab.shared.vectors.count == 15)
    }

    @Test(arguments: TrustLab.shared.cases.filter { $0.sequence == nil })
    func `a case has its verdict`(_ item: TrustLab.Case) throws {
        let snapshot = try TrustLab.shared.snapshot(
            item.known, at: item.now, crl: item.crl.flatMap { TrustLab.shared.crls[$0] })
        var memory = TrustMemory()
        check(item, item.expect.us, snapshot, item.regime, &memory)
        if let fr = item.expect.fr { check(item, fr, snapshot, "fr", &memory) }
        if let own = item.expect.in_private { check(item, own, snapshot, "private", &memory) }
        if let lenient = item.expect.lenient { check(item, lenient, snapshot, item.regime, &memory, drops: true) }
    }

    @Test func `cases of a sequence have their verdicts in one process`() throws {
        let cases = TrustLab.shared.cases.filter { $0.sequence != nil }
        #expect(cases.count == 9)
        let snapshot = try TrustLab.shared.snapshot()
        var memory = TrustMemory()
        for item in cases { check(item, item.expect.us, snapshot, item.regime, &memory) }
        #expect(memory.clockOffset(at: 1_471_375_508) == -90)
    }

    private func check(
        _ item: TrustLab.Case, _ expected: TrustLab.Expectation, _ snapshot: TrustSnapshot, _ regime: String,
        _ memory: inout TrustMemory, drops: Bool = false
    ) {
        var policy = TrustLab.policy(regime, fetches: item.fetch == "on")
        if drops { policy.regimes[0].rcd.cardByContent = .drop }
        var call = SignedCall(caller: item.caller, called: item.called, to: item.to)
        call.date = item.date.flatMap(Self.seconds)
        let verdict = snapshot.verify(item.identity, of: call, under: policy, at: item.now, with: &memory)
        let title = "\(item) under \(regime)"
        if let number = expected.number { #expect(Self.text(verdict.number) == number, "\(title)") }
        if let causes = expected.causes {
            #expect(verdict.causes.map(\.name) == causes, "\(title)")
            #expect(verdict.code(under: policy.regimes[0]) == expected.code, "\(title)")
        }
        if let rows = expected.rows { #expect(verdict.causes.map(Self.row) == rows, "\(title)") }
        if let bound = expected.bound { #expect(Self.text(verdict.binding) == bound, "\(title)") }
        if let name = expected.name { #expect(Self.text(verdict.name) == name, "\(title)") }
        if let reason = expected.reason { #expect(Self.text(verdict.reason) == reason, "\(title)") }
        if let icon = expected.icon { #expect(Self.text(verdict.icon) == icon, "\(title)") }
        #expect(verdict.marks.all.map(\.name) == expected.marks ?? [], "\(title)")
        if item.regime == regime, !drops {
            #expect(verdict.verstat(under: TrustLab.regimes[0]).rawValue == item.expect.verstat, "\(title)")
        }
    }

    /// The row of the list of causes. Two rows have several causes.
    private static func row(_ cause: TrustCause) -> Int {
        switch cause {
        case .badSignature: 33
        case .rcdDigestWhole, .rcdJCL, .origidForm: 44
        default: Int(cause.rawValue)
        }
    }

    private static func seconds(_ date: String) -> Int64? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: date).map { Int64($0.timeIntervalSince1970) }
    }

    private static func text(_ number: TrustVerdict.Number) -> String {
        switch number {
        case .none: "none"
        case .failed: "failed"
        case .passed(nil): "passed(-)"
        case .passed(.a): "passed(A)"
        case .passed(.b): "passed(B)"
        case .passed(.c): "passed(C)"
        }
    }

    private static func text(_ binding: TrustVerdict.Binding) -> String {
        switch binding {
        case .nothing: "nothing"
        case .calledNumber: "called number"
        case .chain(1): "chain of 1 diversion"
        case .chain(let count): "chain of \(count) diversions"
        }
    }

    private static func text(_ value: TrustVerdict.SignedText) -> String {
        switch value {
        case .absent: "absent"
        case .verified: "verified"
        case .unverified(let cause): "unverified(\(cause.name))"
        }
    }

    private static func text(_ icon: TrustVerdict.SignedIcon) -> String {
        switch icon {
        case .absent: "absent"
        case .named: "named but not yet compared"
        case .inline: "inline"
        case .unverified(let cause): "unverified(\(cause.name))"
        }
    }

    // MARK: Older tokens

    /// Tokens of a forwarded call; each row is the tokens of one call by their positions.
    @Test(arguments: TrustLab.shared.vectors)
    func `an older token has its cause`(_ vector: TrustLab.Vector) throws {
        let lab = TrustLab.shared
        let x5u = lab.certificates["rfc8225"]?.x5u ?? ""
        let first = try #require(lab.vectors.first { $0.name.hasPrefix("forwarded: shaken") })
        let isDiversion = vector.name.contains("div ")
        let tokens = isDiversion ? [first.token, vector.token] : [vector.token]
        let called =
            isDiversion
            ? "12025552002" : vector.name.hasPrefix("rcd with jcd, all digests") ? "12155551001" : "12025551001"
        let fields = tokens.map { token in
            let ppt = Self.ppt(of: token).map { ";ppt=\($0)" } ?? ""
            return "\(token);info=<\(x5u)>;alg=ES256\(ppt)"
        }
        let verdict = try lab.snapshot(["rfc8225"]).verify(
            fields, of: SignedCall(caller: "12025551000", called: called))
        let cause = try #require(TrustCause(named: vector.cause))
        #expect(verdict.causes.contains(cause) || verdict.marks.contains(cause), "\(verdict.causes) \(verdict.marks)")
        #expect(Self.row(cause) == Int(vector.row))
        if cause == .passed { #expect(verdict.causes == tokens.map { _ in .passed }) }
        if cause == .chainBroken { #expect(verdict.causes == [.chainBroken, .chainBroken]) }
        if cause == .rcdMalformed || cause == .rcdAlone { #expect(verdict.name == .absent) }
    }

    private static func ppt(of token: String) -> String? {
        var header = token.prefix { $0 != "." }.replacing("-", with: "+").replacing("_", with: "/")
        header += String(repeating: "=", count: (4 - header.count % 4) % 4)
        let data = Data(base64Encoded: String(header)) ?? Data()
        return (try? JSONSerialization.jsonObject(with: data) as? [String: Any])?["ppt"] as? String
    }
}
