// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
package import Hummingbird

/// A request for a page, after the checks of access and of the form token.
package struct PageRequest: Sendable {
    package let request: Request
    package let parameters: Parameters
    /// The fields of a submitted form; empty for GET.
    package let form: PageForm
    /// Whether this session has asked to see whole telephone numbers.
    package let showsNumbers: Bool

    /// A part of the path, percent-decoded; empty if missing.
    package func pathPart(_ name: String) -> String { parameters.get(name)?.removingPercentEncoding ?? "" }

    /// A query parameter without blanks at both ends, or nil if missing or empty.
    ///
    /// Decoded as a submitted form (WHATWG URL §5.1), where a plus sign is a blank.
    package func query(_ name: Substring) -> String? {
        let value = PageForm.urlEncoded(Array((request.uri.query ?? "").utf8))[String(name)]
        return value.isEmpty ? nil : value
    }
}

/// The fields and files of a submitted form.
package struct PageForm: Sendable {
    private let fields: [String: String]
    private let files: [String: PageFile]

    static let none = PageForm(fields: [:])

    init(fields: [String: String], files: [String: PageFile] = [:]) {
        self.fields = fields
        self.files = files
    }

    /// A chosen file; nil if none was chosen.
    package func file(_ name: String) -> PageFile? {
        files[name].flatMap { $0.name.isEmpty && $0.bytes.isEmpty ? nil : $0 }
    }

    /// A field without blanks at both ends; empty if missing.
    package subscript(_ name: String) -> String {
        fields[name]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }

    /// The lines of a field, with those that are blank; none if it is missing.
    package func lines(_ name: String) -> [Substring] {
        (fields[name] ?? "").split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// Whether a checkbox of that name is ticked.
    package func isTicked(_ name: String) -> Bool { fields[name] != nil }

    /// Decodes `application/x-www-form-urlencoded` (WHATWG URL §5.1); the first of several equal names counts.
    static func urlEncoded(_ body: [UInt8]) -> PageForm {
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = decoded(parts[0])
            if fields[name] == nil { fields[name] = parts.count > 1 ? decoded(parts[1]) : "" }
        }
        return PageForm(fields: fields)
    }

    private static func decoded(_ bytes: some Collection<UInt8>) -> String {
        var out: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): out.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if digits.utf8.count == 2, !digits.hasPrefix("+"), !digits.hasPrefix("-"),
                    let value = UInt8(digits, radix: 16)
                {
                    out.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    out.append(byte)
                }
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
