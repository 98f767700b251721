// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import Testing

/// The archive of RFC 4475, read from where it lies beside the repository and skipped where it does not.
enum TortureArchive {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../shared/rfc4475").standardizedFileURL
    static let isPresent = FileManager.default.fileExists(atPath: folder.appending(path: "wsinv.dat").path)

    static func read(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: folder.appending(path: "\(name).dat")))
    }
}

@Suite("Torture messages, RFC 4475", .enabled(if: TortureArchive.isPresent, "../shared/rfc4475 is not there"))
struct TortureMessageTests {
    @Test(arguments: [
        "wsinv", "intmeth", "esc01", "escnull", "esc02", "lwsdisp", "longreq", "dblreq", "semiuri", "transports",
        "mpart01", "baddate", "regbadct", "unksm2", "invut", "regaut01", "cparam01", "cparam02", "regescrt", "sdp01",
    ])
    func `a well-formed request goes on`(name: String) throws {
        let message = try SIPMessage.index(try TortureArchive.read(name))
        #expect(RequestValidity.refusal(of: message) == nil)
    }

    @Test(arguments: [
        ("badinv01", 400), ("clerr", 400), ("ncl", 400), ("scalar02", 400), ("quotbal", 400), ("ltgtruri", 400),
        ("lwsruri", 400), ("lwsstart", 400), ("trws", 400), ("escruri", 400), ("badaspec", 400), ("badvers", 505),
        ("mismatch01", 400), ("mismatch02", 400), ("insuf", 400), ("unkscm", 416), ("novelsc", 416), ("bext01", 420),
        ("multi01", 400), ("mcl01", 400), ("zeromf", 483),
    ])
    func `a bad request is answered`(name: String, status: Int) throws {
        let message = try SIPMessage.index(try TortureArchive.read(name))
        #expect(RequestValidity.refusal(of: message)?.status == status)
    }

    @Test(arguments: [("unreason", 200), ("noreason", 100), ("bcast", 200)])
    func `a response is read`(name: String, status: Int) throws {
        #expect(try SIPMessage.index(try TortureArchive.read(name)).status == status)
    }

    @Test(arguments: [("bigcode", SIPIndexError.notSIP), ("test", .notSIP), ("baddn", .headersUnfinished)])
    func `what is no message is dropped`(name: String, error: SIPIndexError) throws {
        let bytes = try TortureArchive.read(name)
        #expect(throws: error) { try SIPMessage.index(bytes) }
    }

    @Test func `a display name that never closes is answered once the message ends`() throws {
        let message = try SIPMessage.index(try TortureArchive.read("baddn") + Array("\r\n".utf8))
        #expect(RequestValidity.refusal(of: message)?.status == 400)
    }

    @Test func `a response whose CSeq is out of range has none`() throws {
        // §3.1.2.5: so it is dropped.
        #expect(try SIPMessage.index(try TortureArchive.read("scalarlg")).sequence == nil)
    }

    @Test func `the second of two requests in a datagram is cut`() throws {
        let bytes = try TortureArchive.read("dblreq")
        let message = try SIPMessage.index(bytes)
        #expect(message.bytes.count < bytes.count)
        #expect(message.bytes.count == message.bodyStart)
    }

    @Test func `a body of bytes stays as it is`() throws {
        let bytes = try TortureArchive.read("mpart01")
        let message = try SIPMessage.index(bytes)
        #expect(message.bytes == bytes)
        #expect(message[message.bodyStart..<bytes.count].contains(0))
    }
}
