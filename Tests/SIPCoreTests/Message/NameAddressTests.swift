// SPDX-License-Identifier: Apache-2.0

import SIPCore
import Testing

@Suite("Name and address, RFC 3261 §20.10 and §25.1")
struct NameAddressTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let value: String
        let name: String
        let uri: String
        let parameters: String
        let hasBrackets: Bool

        var testDescription: String { value }

        init(_ value: String, _ name: String, _ uri: String, _ parameters: String, brackets: Bool = true) {
            self.value = value
            self.name = name
            self.uri = uri
            self.parameters = parameters
            hasBrackets = brackets
        }
    }

    static let rows: [Row] = [
        Row("<sip:a@b>", "", "sip:a@b", ""),
        Row("<sip:a@b>;tag=1", "", "sip:a@b", ";tag=1"),
        Row("\"A. Bell\" <sip:a@b>;tag=1", "\"A. Bell\"", "sip:a@b", ";tag=1"),
        Row("A Bell <sip:a@b>", "A Bell", "sip:a@b", ""),
        Row("caller<sip:a@b>;x", "caller", "sip:a@b", ";x"),  // RFC 4475 §3.1.1.6
        Row("\"a \\\" <sip:no@b>\" <sip:a@b>", "\"a \\\" <sip:no@b>\"", "sip:a@b", ""),
        Row("\"\"<sip:a@b>", "\"\"", "sip:a@b", ""),
        Row("<sip:a@b;lr>;tag=1", "", "sip:a@b;lr", ";tag=1"),
        Row("sip:a@b;tag=1", "", "sip:a@b", ";tag=1", brackets: false),
        Row("sip:a@b ;tag=1", "", "sip:a@b", ";tag=1", brackets: false),
        Row("tel:+4930123", "", "tel:+4930123", "", brackets: false),
        Row("\"A\"\r\n <sip:a@b>\r\n ;tag=1", "\"A\"", "sip:a@b", "\r\n ;tag=1"),
        Row("\"never closed <sip:a@b>", "", "\"never closed <sip:a@b>", "", brackets: false),
        // A bracket in a quoted string is text, wherever that stands (RFC 3261 §25.1).
        Row(
            "sip:a@b;x=\"<sip:c@d>\";tag=1", "", "sip:a@b", ";x=\"<sip:c@d>\";tag=1", brackets: false),
        Row("x \"<sip:c@d>\" <sip:a@b>", "x \"<sip:c@d>\"", "sip:a@b", ""),
        Row("sip:a@b;x=<sip:c@d>;tag=1", "", "sip:a@b", ";x=<sip:c@d>;tag=1", brackets: false),
        Row("sip:a@b;x=\"<sip:c@d>;tag=1", "", "sip:a@b", ";x=\"<sip:c@d>;tag=1", brackets: false),
        // What phones write against it.
        Row("O\"Neil <sip:a@b>;tag=1", "O\"Neil", "sip:a@b", ";tag=1"),
        Row("O\"Neil <sip:a@b>;x=\"y\";tag=1", "O\"Neil", "sip:a@b", ";x=\"y\";tag=1"),
        Row("Dept: Sales; North <sip:a@b>;tag=1", "Dept: Sales; North", "sip:a@b", ";tag=1"),
        Row("Joe \"A:B\" Smith; Jr <sip:a@b>", "Joe \"A:B\" Smith; Jr", "sip:a@b", ""),
        Row("Bell; A <sip:a@b>;tag=1", "Bell; A", "sip:a@b", ";tag=1"),
        Row("\"Bell: A; B\" <sip:a@b>;tag=1", "\"Bell: A; B\"", "sip:a@b", ";tag=1"),
        Row("<sip:a@b", "", "sip:a@b", ""), Row("<", "", "", ""), Row("<>", "", "", ""),
        Row("\"", "", "\"", "", brackets: false), Row("\"\\", "", "\"\\", "", brackets: false),
        Row("", "", "", "", brackets: false), Row(";", "", "", ";", brackets: false),
    ]

    @Test(arguments: rows)
    func `the parts lie where they lie`(row: Row) {
        // Text on either side shows that nothing outside the value is looked at.
        let bytes = Array("<\"\(row.value)>;\"".utf8)
        let extent = NameAddressExtent.scan(bytes, 2..<(2 + row.value.utf8.count))
        #expect(text(bytes[extent.displayName]) == row.name)
        #expect(text(bytes[extent.uri]) == row.uri)
        #expect(text(bytes[extent.parameters]) == row.parameters)
        #expect(extent.hasBrackets == row.hasBrackets)
    }

    @Test func `a missing name is empty where one would be written`() {
        let bytes = Array("  <sip:a@b>".utf8)
        #expect(NameAddressExtent.scan(bytes, 2..<bytes.count).displayName == 2..<2)
        let bare = Array("sip:a@b;tag=1".utf8)
        #expect(NameAddressExtent.scan(bare, bare.indices).displayName == 0..<0)
    }

    @Test(arguments: [
        ("\"A\" <sip:+49301234@b>;tag=1", "+49301234"), ("<tel:+49301234;verstat=TN-Validation-Passed>", "+49301234"),
        ("sip:+49301234@b;tag=1", "+49301234"), ("Müller & Söhne <sips:+49301234@b>", "+49301234"),
        ("\"A\"\t<sip:+49301234@b>\r\n\t;tag=1", "+49301234"),
    ])
    func `a well-formed value gives its user`(value: String, user: String) throws {
        let bytes = Array(value.utf8)
        let address = try #require(NameAddress(bytes, bytes.indices))
        #expect(text(address.uri.user) == user)
    }

    @Test(arguments: [
        "", "<", "<>", "A", "\"A\"", "\"A <sip:a@b>", "<sip:a@b", "<http://a.b>", "<mailto:a@b>", "<sip:>", "<sip:a@>",
        "<sip:a\0@b>", "<:a@b>", "sip", "<sip:a@b@c>",
    ])
    func `a malformed value or another scheme is none`(value: String) {
        let bytes = Array(value.utf8)
        #expect(NameAddress(bytes, bytes.indices) == nil)
    }
}
