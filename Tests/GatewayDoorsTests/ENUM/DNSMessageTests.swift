// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import GatewayDoors

@Suite("A query of any bytes, RFC 1035 §4 and RFC 6891")
struct DNSMessageTests {
    @Test func `a query is read with its name as it was sent`() throws {
        guard case .query(let query) = DNSMessage(DNSBytes.query("1.0.CNAM.eXample.net", edns: 0)) else {
            Issue.record("no query")
            return
        }
        #expect(query.id == 0x1234 && query.wantsRecursion && query.type == 35 && query.recordClass == 1)
        #expect(query.question == DNSBytes.question("1.0.CNAM.eXample.net"))
        let labels = query.labels.map { String(decoding: query.question[$0], as: UTF8.self) }
        #expect(labels == ["1", "0", "CNAM", "eXample", "net"])
        #expect(query.ednsVersion == 0)
        #expect(query.labels(from: 2, are: ["cnam", "example", "net"].map { Array($0.utf8) }))
        #expect(!query.labels(from: 1, are: ["cnam", "example", "net"].map { Array($0.utf8) }))
        #expect(!query.labels(from: 3, are: ["example", "org"].map { Array($0.utf8) }))
    }

    @Test(arguments: [
        DNSBytes.query("."), DNSBytes.query("a.example.net", edns: 0, options: [0, 10, 0, 2, 1, 2, 0, 12, 0, 0]),
        DNSBytes.query("a.example.net", flags: 0), DNSBytes.query("a.example.net", edns: 1),
        DNSBytes.query(String(repeating: "a.", count: 127)),
        DNSBytes.query(Array(repeating: String(repeating: "a", count: 62), count: 4).joined(separator: ".")),
    ]) func `these are queries`(bytes: [UInt8]) {
        guard case .query = DNSMessage(bytes) else {
            Issue.record("\(DNSMessage(bytes))")
            return
        }
    }

    /// A form that is no query, and its message.
    static let broken: [(String, [UInt8])] = [
        ("no question", DNSBytes.header(counts: [0, 0, 0, 0])),
        ("two questions", DNSBytes.message(DNSBytes.header(counts: [2, 0, 0, 0]), named, named)),
        ("a record", DNSBytes.message(DNSBytes.header(counts: [1, 1, 0, 0]), named, DNSBytes.opt())),
        ("an authority", DNSBytes.message(DNSBytes.header(counts: [1, 0, 1, 0]), named, DNSBytes.opt())),
        ("a truncated query", DNSBytes.query("a.b", flags: 0x0200)),
        ("bytes behind", DNSBytes.message(DNSBytes.query("a.b"), [0])),
        ("an announced OPT", DNSBytes.message(withOptions, named)),
        (
            "two OPT",
            DNSBytes.message(DNSBytes.header(counts: [1, 0, 0, 2]), named, DNSBytes.opt(), DNSBytes.opt())
        ),
        ("a pointer to itself", DNSBytes.message(DNSBytes.header(), [0xC0, 12, 0, 35, 0, 1])),
        ("a pointer to the header", DNSBytes.message(DNSBytes.header(), [1, 0x61, 0xC0, 0, 0, 35, 0, 1])),
        ("a pointer ahead", DNSBytes.message(DNSBytes.header(), [0xC0, 14, 1, 0x61, 0, 0, 35, 0, 1])),
        ("a reserved label", DNSBytes.message(DNSBytes.header(), [0x40, 0x61, 0, 0, 35, 0, 1])),
        (
            "a label of 64 bytes",
            DNSBytes.message(DNSBytes.header(), [64], [UInt8](repeating: 0x61, count: 64), [0, 0, 35, 0, 1])
        ),
        ("a name of 256 bytes", DNSBytes.query(String(repeating: "a.", count: 126) + "bb.c")),
        ("OPT with a name", DNSBytes.message(withOptions, named, [1, 0x61], DNSBytes.opt())),
        ("another record than OPT", DNSBytes.message(withOptions, named, [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])),
        ("an option without an end", DNSBytes.query("a.b", edns: 0, options: [0, 10, 0, 9, 1])),
        ("half an option", DNSBytes.query("a.b", edns: 0, options: [0, 10, 0])),
        (
            "more than 512 bytes",
            DNSBytes.query(
                "a.b", edns: 0, options: DNSBytes.message([0, 12, 2, 0], [UInt8](repeating: 0, count: 512)))
        ),
    ]

    private static let named = DNSBytes.question("a.b")
    private static let withOptions = DNSBytes.header(counts: [1, 0, 0, 1])

    @Test(arguments: broken) func `another form is a format error`(form: String, bytes: [UInt8]) {
        guard case .fault(let fault) = DNSMessage(bytes) else {
            Issue.record("\(form): \(DNSMessage(bytes))")
            return
        }
        #expect(fault.code == .formatError && fault.id == 0x1234, "\(form)")
    }

    @Test func `an end at any byte is a format error, or no message`() {
        let whole = DNSBytes.query("1.cnam.example.net", edns: 0, options: [0, 12, 0, 2, 0, 0])
        for count in 0..<whole.count {
            switch DNSMessage(Array(whole.prefix(count))) {
            case .query: Issue.record("\(count) bytes")
            case .fault(let fault): #expect(count >= 12 && fault.code == .formatError)
            case .ignored: #expect(count < 12)
            }
        }
    }

    /// Two servers would send each other errors for ever.
    @Test func `a response gets none`() {
        #expect(DNSMessage(DNSBytes.query("a.b", flags: 0x8180)) == .ignored)
        #expect(DNSMessage([]) == .ignored)
    }

    /// Inverse queries, NOTIFY, UPDATE.
    @Test(arguments: [1, 2, 4, 5, 6, 15] as [UInt16]) func `another operation is not implemented`(operation: UInt16) {
        guard case .fault(let fault) = DNSMessage(DNSBytes.query("a.b", flags: operation << 11)) else {
            Issue.record("no fault")
            return
        }
        #expect(fault.code == .notImplemented && UInt16(fault.operation) == operation)
    }

    @Test func `any change of a query ends in one of the three`() {
        var random = RepeatableRandom(seed: 112)
        let whole = DNSBytes.query("1.2.3.cnam.example.net", edns: 0, options: [0, 12, 0, 2, 0, 0])
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard case .query(let query) = DNSMessage(bytes) else { continue }
            #expect(bytes[12...].starts(with: query.question))
        }
    }
}
