// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import GatewayDoors
import Testing

@Suite("Requests for names, in the forms of clients")
struct NamesRequestTests {
    private func read(
        _ target: String, states: [NamesRequest.Statement] = [.called, .verstat]
    ) throws -> NamesRequest {
        try NamesRequest(target: target.utf8, states: states)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: [
        ("/name/+61255501301", "+61255501301"), ("/name/%2B61255501301", "+61255501301"),
        ("/name/%2b61255501301", "+61255501301"), ("/name/%2061255501301", " 61255501301"),
        ("/name/61255501301", "61255501301"),
        // FreeSWITCH leaves nothing of `anonymous`, and FreePBX joins its own slashes.
        ("/name/", ""), ("/name", ""), ("//name//+61255501301", "+61255501301"),
        ("/name/+61255501301/", "+61255501301"),
        ("/name/[NUMBER]", "[NUMBER]"), ("/name/a/b", "a/b"), ("/name/%", "%"), ("/name/%zz%4", "%zz%4"),
        ("/name/%00%0d%0a", "\u{0}\r\n"), ("/name/?name=x", ""),
    ])
    func `the number is the path behind name`(target: String, number: String) throws {
        #expect(try text(read(target).call.number) == number)
    }

    @Test(arguments: ["/", "", "/names/1", "/Name/1", "name/1", "/status", "http://host/name/1", "*", "/name%2F1"])
    func `any other path is none of a name`(target: String) {
        #expect(throws: NamesRequest.Problem.path) { try read(target) }
    }

    @Test(arguments: [
        ("", ""), ("?name=", ""), ("?name=Reception", "Reception"), ("?name=Jane%20Doe", "Jane Doe"),
        // A form has plus signs for blanks (PHP, Kamailio's s.urlencode.param). Beside %20 they are signs.
        ("?name=Jane+Doe", "Jane Doe"), ("?name=A+B%20Ltd", "A+B Ltd"), ("?name=A%2BB", "A+B"),
        // FreePBX escapes blanks and commas alone.
        ("?name=Fish & Chips", "Fish & Chips"), ("?name=AT&T%20=%20#1?", "AT&T = #1?"),
        ("?name=100%%20Pure", "100% Pure"),
        ("?name=Doe%2C%20\"Jo\"", "Doe, \"Jo\""), ("?name=50%", "50%"), ("?name=%C3%A4%e4", "Ã¤ä"),
        ("?name=Zahn%C3%A4rzte", "Zahnärzte"), ("?name=Zahn%E4rzte", "Zahnärzte"),
        // Variables that the client has not filled.
        ("?name=[NAME]", ""), ("?name=[Name]", ""), ("?name=${caller_id_name}", ""), ("?name={{.Name}}", ""),
        ("?name=$(fn)", ""), ("?name=%3Cnull%3E", ""), ("?name=[V] Jane", "[V] Jane"),
    ])
    func `the name reaches to the end of the query`(query: String, name: String) throws {
        #expect(try text(read("/name/1\(query)").call.name) == name)
    }

    @Test(arguments: [
        ("", NamesRequest.Format.text), ("?format=text", .text), ("?format=json", .json),
        ("?name=x&format=json", .json),
        ("?format=json&name=x", .json), ("?x=1&format=json&y=2", .json), ("?format=[Format]", .text),
        ("?format=", .text),
        // A caller cannot choose the form once the client has.
        ("?format=text&name=x&format=json", .text), ("?name=x&format=json&y", .text),
        ("?format=json&format=text", .json),
    ])
    func `the form is text unless the client asks for JSON`(query: String, format: NamesRequest.Format) throws {
        #expect(try read("/name/1\(query)").format == format)
    }

    @Test(arguments: ["?format=xml", "?format=JSON", "?format=json%00"])
    func `another form is an error`(query: String) {
        #expect(throws: NamesRequest.Problem.format) { try read("/name/1\(query)") }
    }

    @Test func `a form behind the name is no part of it`() throws {
        #expect(try text(read("/name/1?name=Jane%20Doe&format=json").call.name) == "Jane Doe")
        #expect(try text(read("/name/1?format=text&name=Jane&format=json").call.name) == "Jane&format=json")
    }

    @Test func `called number and attestation come before the name, which cannot set them`() throws {
        let call = try read("/name/1?called=%2B61255502001&verstat=TN-Validation-Passed-A&name=x&called=2&verstat=A")
            .call
        #expect(text(call.called) == "+61255502001" && text(call.attestation) == "TN-Validation-Passed-A")
        #expect(text(call.name) == "x&called=2&verstat=A")
        let hostile = try read("/name/1?name=x&called=2&verstat=A").call
        #expect(hostile.called.isEmpty && hostile.attestation.isEmpty)
        let unfilled = try read("/name/1?called=[DID]&verstat=<null>").call
        #expect(unfilled.called.isEmpty && unfilled.attestation.isEmpty)
    }

    /// A client that does not escape the caller's number writes these targets for callers of a hostile choice.
    @Test(arguments: [
        "/name/+61255501301?verstat=A&called=%2B61255502001",
        "/name/+61255501301?called=0255502001&verstat=A?format=text",
    ])
    func `a caller's number states neither the called number nor the attestation unless a key names them`(
        target: String
    ) throws {
        let call = try read(target, states: []).call
        #expect(text(call.number) == "+61255501301" && call.called.isEmpty && call.attestation.isEmpty)
        #expect(try !read(target, states: [.called]).call.called.isEmpty)
        #expect(try read(target, states: [.called]).call.attestation.isEmpty)
        #expect(try read(target, states: [.verstat]).call.called.isEmpty)
        #expect(try !read(target, states: [.verstat]).call.attestation.isEmpty)
    }

    @Test func `a query of 10 kB is read as a name`() throws {
        let name = String(repeating: "a", count: 10_000)
        #expect(try read("/name/1?name=\(name)").call.name.count == 10_000)
        #expect(try read("/name/1?\(String(repeating: "&", count: 10_000))format=json").format == .json)
    }
}
