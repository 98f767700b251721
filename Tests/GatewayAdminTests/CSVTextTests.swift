// SPDX-License-Identifier: Apache-2.0

import GatewayAdmin
import Testing

@Suite("Comma-separated values, RFC 4180")
struct CSVTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""),
        ("+61255501001", "+61255501001"),
        ("=1+1", "\"'=1+1\""), ("@sum", "\"'@sum\""), ("-cmd", "\"'-cmd\""), ("a\r\nb", "a\\u{d}\\u{a}b"),
        ("Müller", "Müller"), ("x,\u{301}y", "\"x,\u{301}y\""), ("a\"\u{301}b", "\"a\"\"\u{301}b\""),
        ("=\u{301}1", "\"'=\u{301}1\""), ("+٦١", "\"'+٦١\""),
    ])
    func `a cell cannot leave its place nor become a formula`(text: String, cell: String) {
        #expect(CSVText.row([text, nil]) == cell + ",\r\n")
    }
}
