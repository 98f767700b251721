// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import GatewayOperator
@testable import GatewayStore

@Suite("herald trust list --calls")
struct SignedCallsListingTests {
    private static let calls = [
        ProviderCalls(
            provider: "123A", outcomes: ["ANSWERED": 40, "MISSED": 2], total: 43, attestations: [30, 9, 4], short: 12,
            unwanted: 3),
        ProviderCalls(provider: "567B", outcomes: ["BLOCKED": 1], total: 1),
    ]

    @Test func `a signer has a row with its outcomes, and only outcomes that occurred have a column`() {
        let text = SignedCallsListing(calls: Self.calls, new: []).text(.wide)
        #expect(
            text == """
                SIGNS FOR  CALLS  A   B  C  ANSWERED  MISSED  BLOCKED  UNDER 6 S  UNWANTED
                123A       43     30  9  4  40        2       0        12         3
                567B       1      0   0  0  0         0       1        0          0

                """)
    }

    @Test func `a narrow list has the numbers of the first outcomes alone`() {
        let lines = SignedCallsListing(calls: Self.calls, new: []).text(.narrow).split(separator: "\n")
        #expect(lines[0] == "SIGNS FOR  CALLS  A   B  C  ANSWERED  MISSED  UNDER 6 S  UNWANTED")
    }

    @Test func `a signer that is new to a brand's number has a line`() {
        let new = NewProvider(
            provider: "567B", brand: "Acme", caller: "+12025551000", firstAt: 1_471_375_428_000_000)
        #expect(
            SignedCallsListing(calls: Self.calls, new: [new]).text(.narrow).hasSuffix(
                "new provider: 567B has signed +12025551000 of Acme since 2016-08-16T19:23:48Z, "
                    + "and another provider before\n"))
    }

    @Test func `without signed calls there is one line`() {
        #expect(SignedCallsListing(calls: [], new: []).text(.wide) == "no signed calls in the last 30 days\n")
    }

    @Test func `hostile text of a certificate or a brand cannot control the terminal`() {
        let hostile = "\u{1B}[2J\r\n\u{202E}"
        let listing = SignedCallsListing(
            calls: [ProviderCalls(provider: hostile, outcomes: [:], total: 1)],
            new: [NewProvider(provider: hostile, brand: hostile, caller: "+1", firstAt: 0)])
        #expect(listing.text(.wide).unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E || $0 == "\n" })
        #expect(listing.text(.wide).split(separator: "\n").count == 3)
    }
}
