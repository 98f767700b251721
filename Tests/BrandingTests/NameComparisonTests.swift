// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Names compare by NFKC, case and white space, UAX #15 and #31")
struct NameComparisonTests {
    /// Forms of UAX #15, figure 6, and names as registers and carriers write them.
    @Test(arguments: [
        ("Q Branch Spy Gadgets", "q branch  SPY gadgets"), ("Acme", " acme\t"),
        ("ACME", "\u{FF21}\u{FF23}\u{FF2D}\u{FF25}"),
        ("Office", "O\u{FB03}ce"), ("Müller & Söhne", "MU\u{308}LLER & SO\u{308}HNE"), ("Straße", "STRASSE"),
        ("株式会社", "\u{337F}"), ("ｶﾞｿﾘﾝ", "ガソリン"), ("Acme\u{3000}Bank", "Acme Bank"), ("Acme\u{A0}Bank", "acme bank"),
        ("5\u{2075}", "55"), ("Acme\u{AD}", "acme"), ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ]) func `these agree`(one: String, other: String) {
        #expect(NameComparison.agree(one, other))
        #expect(NameComparison.agree(other, one))
    }

    /// Letters of other scripts look the same, and are none of a brand (UTS #39).
    @Test(arguments: [
        ("Acme", "Acme Bank"), ("Acme Bank", "AcmeBank"), ("PayPal", "P\u{430}yPal"), ("", ""), (" ", "\u{200B}"),
        ("Acme", "\u{202E}emcA"), ("Zoe", "Zoë"), ("A-1", "A 1"),
    ]) func `these do not`(one: String, other: String) {
        #expect(!NameComparison.agree(one, other))
    }

    @Test func `an endless name agrees with none`() {
        let name = String(repeating: "ﷺ", count: 513)
        #expect(!NameComparison.agree(name, name))
        let long = String(repeating: "ﷺ", count: 512)
        #expect(NameComparison.agree(long, long))
    }
}
