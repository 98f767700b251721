// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import Testing

/// One message of Tests/Torture with its row of expected.tsv: a fault or an oddity that RFC 4475 or RFC 5118 lists.
struct TortureMessage: CustomTestStringConvertible, Sendable {
    let file: String
    let rule: String
    /// What may become of it as a datagram: statuses, `forward` and `drop`.
    let outcomes: Set<String>

    var testDescription: String { "\(rule) \(file)" }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Torture").standardizedFileURL

    static let all: [TortureMessage] = {
        let table = (try? String(contentsOf: folder.appending(path: "expected.tsv"), encoding: .utf8)) ?? ""
        return table.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return TortureMessage(
                file: cells[0], rule: cells[1], outcomes: Set(cells[3].split(separator: "|").map(String.init)))
        }
    }()

    static func named(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: folder.appending(path: name + ".sip")))
    }

    /// What index and validity make of the bytes, in the table's terms.
    func outcome() throws -> String {
        let bytes = try Self.named(String(file.dropLast(4)))
        let message: SIPMessage
        do throws(SIPIndexError) {
            message = try SIPMessage.index(bytes)
        } catch {
            // The gateway reads the fields of a request without its empty line, and rejects it.
            return error == .headersUnfinished ? "400" : "drop"
        }
        // A response without a transaction and with a Via of somebody else is dropped behind the index.
        if message.status != nil { return "drop" }
        return RequestValidity.refusal(of: message).map { String($0.status) } ?? "forward"
    }
}

@Suite("Torture messages, RFC 4475 and RFC 5118")
struct TortureMessageTests {
    @Test func `every message has a row, and every row a message`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: TortureMessage.folder.path)
        #expect(Set(files.filter { $0.hasSuffix(".sip") }) == Set(TortureMessage.all.map(\.file)))
        #expect(TortureMessage.all.count > 55)
    }

    @Test(arguments: TortureMessage.all)
    func `a message is forwarded, rejected or dropped as its rule says`(message: TortureMessage) throws {
        #expect(message.outcomes.contains(try message.outcome()))
    }

    @Test(arguments: [("reason-of-letters", 200), ("no-reason", 100), ("via-of-broadcast", 200)])
    func `a response is read`(name: String, status: Int) throws {
        #expect(try SIPMessage.index(try TortureMessage.named(name)).status == status)
    }

    @Test(arguments: [
        ("status-too-large", SIPIndexError.notSIP), ("no-version", .notSIP), ("no-empty-line", .headersUnfinished),
    ])
    func `a datagram that is no message has no index`(name: String, error: SIPIndexError) throws {
        let bytes = try TortureMessage.named(name)
        #expect(throws: error) { try SIPMessage.index(bytes) }
    }

    @Test func `a response whose CSeq is out of range has none`() throws {
        // RFC 4475 §3.1.2.5: so it is dropped.
        #expect(try SIPMessage.index(try TortureMessage.named("numbers-too-large-in-response")).sequence == nil)
    }

    @Test func `the second of two requests in a datagram is cut`() throws {
        let bytes = try TortureMessage.named("two-in-one")
        let message = try SIPMessage.index(bytes)
        #expect(message.bytes.count < bytes.count)
        #expect(message.bytes.count == message.bodyStart)
    }

    @Test func `a body of bytes stays as it is`() throws {
        let bytes = try TortureMessage.named("binary-body")
        let message = try SIPMessage.index(bytes)
        #expect(message.bytes == bytes)
        #expect(message[message.bodyStart..<bytes.count].contains(0))
    }
}
