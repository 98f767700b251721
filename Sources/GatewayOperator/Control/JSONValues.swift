// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
package import Host

extension JSONValue {
    /// Nil for nil.
    init?(_ text: String?) {
        guard let text else { return nil }
        self = .string(text)
    }

    /// Nil for nil.
    init?(_ number: Int?) {
        guard let number else { return nil }
        self = .int(number)
    }

    /// Nil for nil.
    init?(_ flag: Bool?) {
        guard let flag else { return nil }
        self = .bool(flag)
    }

    /// Nil for nil.
    init?(_ texts: [String]?) {
        guard let texts else { return nil }
        self = .array(texts.map(JSONValue.string))
    }

    /// Microseconds since 1970 as ISO 8601 with milliseconds.
    init?(microseconds: Int64?) {
        guard let microseconds else { return nil }
        let milliseconds = String(microseconds / 1000 % 1000)
        let fraction = String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
        self = .string(Timestamp.string(from: microseconds / 1_000_000).dropLast() + "." + fraction + "Z")
    }

    /// Seconds since 1970 as ISO 8601.
    init?(seconds: Int64?) {
        guard let seconds else { return nil }
        self = .string(Timestamp.string(from: seconds))
    }
}

extension Output {
    /// Writes one JSON object and a line end; unknown values are left out.
    package static func write(json members: [String: JSONValue?]) throws { write(try line(json: members)) }

    /// One JSON object and a line end as text.
    package static func line(json members: [String: JSONValue?]) throws -> String {
        try text(members.compactMapValues { $0 }) + "\n"
    }
}
