// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("The URI of a calling name")
struct CallingNameURITests {
    private func text(_ uri: CallingNameURI, _ record: CallingNameRecord) -> String {
        String(decoding: uri.bytes(record), as: UTF8.self)
    }

    /// A `!` would end the expression of a NAPTR record, and a backslash begin a reference.
    @Test(arguments: [
        ("Acme", "Acme"), ("Acme Bank", "Acme%20Bank"), ("A-1.b_c~d", "A-1.b_c~d"), ("a!b\\1", "a%21b%5C1"),
        ("50% \"off\"", "50%25%20%22off%22"), ("A&B;u=p/?#", "A%26B%3Bu%3Dp%2F%3F%23"),
    ]) func `a name is escaped`(name: String, escaped: String) throws {
        let record = CallingNameRecord.name(try #require(CallingName(name)))
        #expect(text(CallingNameURI(), record) == "pstndata:cnam/\(escaped)")
        #expect(text(CallingNameURI(name: "data:,{name};x"), record) == "data:,\(escaped);x")
    }

    @Test func `a missing name has its reason`() {
        #expect(text(CallingNameURI(), .unavailable(.withheld)) == "pstndata:cnam/;unavailable=p")
        #expect(text(CallingNameURI(unavailable: "x:{reason}/"), .unavailable(.unknown)) == "x:u/")
    }

    @Test(arguments: [
        CallingNameURI.usualName, "data:,{name}", "tel:;cnam={name}", "a:{name}",
        "a:" + String(repeating: "b", count: 92) + "{name}",
    ]) func `these are forms`(form: String) {
        #expect(CallingNameURI.isForm(form, with: CallingNameURI.nameMark))
    }

    @Test(arguments: [
        "", "{name}", "pstndata:cnam/", "pstndata:{name}{name}", "pstndata:{reason}", "a:b c{name}", "a:!{name}",
        "a:\\1{name}", "a:\"{name}", "a:ä{name}", ":{name}", "a b:{name}", "a:\r\n{name}",
        "a:" + String(repeating: "b", count: 93) + "{name}",
    ]) func `these are none`(form: String) {
        #expect(!CallingNameURI.isForm(form, with: CallingNameURI.nameMark))
    }
}
