// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Testing
import TrustFixtures

@testable import Trust

/// Bytes that nobody should send.
@Suite("Hostile identity")
struct HostileIdentityTests {
    private static let lab = TrustLab.shared
    private static let usual = ";info=<https://cert.example.net/spc.pem>;alg=ES256;ppt=shaken"

    private static func base64(_ text: String) -> String { TrustLab.base64(Data(text.utf8)) }

    @Test(
        arguments: [
            (String(repeating: "A", count: 12_001), .oversize, "a token of 12 kB"),
            (String(repeating: "A", count: 12_000), .malformed, "a token just below"),
            (String(repeating: ".", count: 12_000), .malformed, "dots alone"),
            (
                String(repeating: "A", count: 8196) + ".e30." + String(repeating: "A", count: 86), .oversize,
                "a token header above 6 kB"
            ),
            (
                base64(#"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://cert.example.net/spc.pem"}"#)
                    + "."
                    + String(repeating: "A", count: 8196) + "." + String(repeating: "A", count: 86), .oversize,
                "a payload above 6 kB"
            ),
            (String(repeating: "A", count: 5000), .malformed, "no dot"),
            (
                base64(String(repeating: "{\"a\":", count: 1000)) + ".e30." + String(repeating: "A", count: 86),
                .malformed, "deep objects"
            ),
            (
                base64(String(repeating: "[", count: 4000)) + ".e30." + String(repeating: "A", count: 86), .malformed,
                "deep lists"
            ),
            (
                base64("{" + (0..<500).map { "\"\($0)\":0" }.joined(separator: ",") + "}") + ".e30."
                    + String(repeating: "A", count: 86),
                .malformed, "500 members"
            ),
            ("\u{0}\u{1}.\u{2}.\u{3}", .malformed, "control characters"),
            ("ä.ö.ü", .malformed, "letters beyond ASCII"),
        ] as [(String, TrustCause, String)])
    func `a token ends in a cause`(_ token: String, _ expected: TrustCause, _ rule: String) throws {
        let verdict = try Self.lab.snapshot(["spc"]).verify([token + Self.usual])
        #expect(verdict.causes == [expected] && verdict.number == .failed, "\(rule)")
        #expect(verdict.requests.isEmpty, "nothing is fetched for it")
    }

    @Test func `a thousand header fields cost eight`() throws {
        let value = try Self.lab.signed(TrustLab.claims())
        let list = [String](repeating: value, count: 1000)
        let snapshot = try Self.lab.snapshot(["spc"])
        let fields = snapshot.verify(list)
        #expect(fields.causes.count == 8 && fields.unread == 992)
        let commas = snapshot.verify([list.joined(separator: ",")])
        #expect(commas.causes == fields.causes && commas.unread == 992)
        let nothing = snapshot.verify([String(repeating: ",", count: 60_000)])
        #expect(nothing.causes == [.unsigned])
        let semicolons = snapshot.verify([String(repeating: ";", count: 60_000)])
        #expect(semicolons.causes == [.malformed])
    }

    @Test func `invented signers leave nothing in memory`() throws {
        let snapshot = TrustSnapshot(generation: 1, regimeSet: TrustLab.regimeSet, [])
        var memory = TrustMemory()
        for index in 0..<200 {
            let header = #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://h\#(index).example.net/c"}"#
            let value = try Self.lab.signed(
                TrustLab.claims(), header: header,
                parameters: ";info=<https://h\(index).example.net/c>;alg=ES256;ppt=shaken")
            let verdict = snapshot.verify([value], with: &memory)
            #expect(verdict.causes == [.signerNotYetKnown] && verdict.requests.count == 1)
        }
        #expect(memory.signatures.isEmpty)
    }

    @Test func `a chain is cut off before it costs`() throws {
        // Each layer of a div-o is a third longer, so few fit into a token of 12 kB.
        var inner = try Self.lab.signed(TrustLab.claims()).split(separator: ";")[0]
        var depth = 0
        while inner.utf8.count < 12_000, depth < 12 {
            let payload =
                #"{"dest":{"tn":["1202555\#(2000 + depth)"]},"div":{"tn":"12025551001"},"iat":1471375423,"opt":"\#(inner)","orig":{"tn":"12025551000"}}"#
            inner = try Self.lab.signed(payload, by: "div-b", ppt: "div-o").split(separator: ";")[0]
            depth += 1
            let value = inner + ";info=<https://cert.example.net/div-b.pem>;alg=ES256;ppt=div-o"
            let verdict = try Self.lab.snapshot().verify(
                [String(value)], of: SignedCall(caller: "12025551000", called: "1202555\(2000 + depth - 1)"))
            #expect(verdict.causes.count == 1 && verdict.number != .passed(nil))
        }
        #expect(depth > 5)
    }

    @Test func `damaged header fields end in a cause and never in a passed call`() throws {
        var random = RepeatableRandom(seed: 8224)
        let snapshot = try Self.lab.snapshot()
        let seeds = Self.lab.cases.flatMap(\.identity).map { Array($0.utf8) }
        var memory = TrustMemory()
        var seen = TrustCauses()
        for round in 0..<6_000 {
            var bytes = seeds[round % seeds.count]
            // A change inside the first two parts of the token, or anywhere.
            let token = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
            let end = Bool.random(using: &random) ? bytes.count : max(token, 1)
            for _ in 0..<Int.random(in: 1..<4, using: &random) where end <= bytes.count {
                let place = Int.random(in: 0..<end, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes[place] = Array(".;,=<>\"\\ A-_".utf8).randomElement(using: &random) ?? 0
                case 2 where bytes.count > 2 && place + 1 < bytes.count && end < bytes.count: bytes.remove(at: place)
                default: bytes.swapAt(place, Int.random(in: 0..<end, using: &random))
                }
            }
            let verdict = snapshot.verify(
                bytes.span, [0..<bytes.count], of: .usual, under: TrustLab.policy("us"), at: 1_471_375_428,
                with: &memory)
            #expect(verdict.causes.count <= 8)
            for cause in verdict.causes { seen.insert(cause) }
            if case .passed = verdict.number {
                // Only parameters that do not count may have changed.
                let original = String(
                    decoding: seeds[round % seeds.count].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
                #expect(String(decoding: bytes, as: UTF8.self).contains(original))
            }
        }
        #expect(seen.all.count > 12)
    }
}
