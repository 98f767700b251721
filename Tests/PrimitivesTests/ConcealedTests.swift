// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Secrets in texts")
struct ConcealedTests {
    /// Stores a secret as the services do: in a property, an optional, a list, a dictionary and an enum.
    private struct Holder {
        let one = Concealed("s3cret")
        let perhaps: Concealed<String>? = Concealed("s3cret")
        let all = [Concealed("s3cret")]
        let byName = ["password": Concealed("s3cret")]
        let state = State.open(Concealed("s3cret"))

        enum State { case open(Concealed<String>) }
    }

    private static func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test func `no way of printing shows it`() {
        let holder = Holder()
        let texts = [
            "\(holder)", String(describing: holder), String(reflecting: holder), Self.dumped(holder),
            "\(holder.one)", "\(holder.one as Any)", String(reflecting: holder.one), Self.dumped(holder.one),
            "\(Mirror(reflecting: holder.one).children.map(\.value))",
        ]
        for text in texts { #expect(!text.contains("s3cret"), "\(text)") }
        #expect("\(holder.one)" == "<redacted>")
    }

    @Test func `bytes are hidden like text`() {
        let key = Concealed<[UInt8]>([201, 202, 203])
        #expect(!Self.dumped(key).contains("201"))
        #expect(!String(reflecting: [key]).contains("201"))
    }

    @Test func `its owner reads it, and equal secrets are equal`() {
        #expect(Concealed("a").reveal() == "a")
        #expect(Concealed("a") == Concealed("a") && Concealed("a") != Concealed("b"))
    }
}
