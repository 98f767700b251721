// SPDX-License-Identifier: Apache-2.0

/// Writes JSON (RFC 8259) without an encoder: every response to an event passes here.
package struct JSONText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The text so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Writes an object with the members that `body` adds.
    package mutating func object(_ body: (inout Members) throws -> Void) rethrows {
        var members = Members(text: self)
        // One owner of the bytes, so that no write copies them.
        bytes = []
        members.text.bytes.append(UInt8(ascii: "{"))
        try body(&members)
        members.text.bytes.append(UInt8(ascii: "}"))
        self = members.text
    }

    /// Writes a list of values, each by `body`.
    package mutating func list<Value>(_ values: [Value], _ body: (Value, inout JSONText) throws -> Void) rethrows {
        bytes.append(UInt8(ascii: "["))
        for (place, value) in values.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            try body(value, &self)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes text that is JSON already.
    package mutating func raw(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

    package mutating func string(_ value: String) {
        var value = value
        bytes.append(UInt8(ascii: "\""))
        value.withUTF8 { text in
            var start = 0
            for (place, byte) in text.enumerated()
            where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(contentsOf: text[start..<place])
                raw("\\u00".utf8)
                raw([Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]])
                start = place + 1
            }
            bytes.append(contentsOf: text[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null".utf8)
        case .bool(let value): raw((value ? "true" : "false").utf8)
        case .int(let value): raw("\(value)".utf8)
        case .double(let value): raw("\(value)".utf8)
        case .string(let value): string(value)
        case .array(let values): list(values) { $1.value($0) }
        case .object(let members): object { object in for (name, value) in members { object.add(name, value) } }
        }
    }

    /// The members of an object that is being written; nil leaves a member out.
    package struct Members {
        fileprivate var text: JSONText
        private var isFirst = true

        fileprivate init(text: JSONText) { self.text = text }

        private mutating func name(_ name: String) {
            if !isFirst { text.bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            text.string(name)
            text.bytes.append(UInt8(ascii: ":"))
        }

        package mutating func add(_ name: String, _ value: String?) {
            guard let value else { return }
            self.name(name)
            text.string(value)
        }

        package mutating func add(_ name: String, _ value: Bool?) {
            guard let value else { return }
            self.name(name)
            text.raw((value ? "true" : "false").utf8)
        }

        package mutating func add(_ name: String, _ value: Int?) {
            guard let value else { return }
            self.name(name)
            text.raw("\(value)".utf8)
        }

        package mutating func add(_ name: String, _ value: JSONValue) {
            self.name(name)
            text.value(value)
        }

        /// Adds a member whose value `body` writes.
        package mutating func add(_ name: String, _ body: (inout JSONText) throws -> Void) rethrows {
            self.name(name)
            try body(&text)
        }
    }
}

extension JSONValue {
    /// An object as JSON text.
    package static func text(_ members: [String: JSONValue]) -> String {
        var text = JSONText()
        text.value(.object(members))
        return String(decoding: text.bytes, as: UTF8.self)
    }
}

extension EventResponse {
    /// Writes the members that `Codable` encodes.
    package func write(to text: inout JSONText) {
        text.object { object in
            object.add(CodingKeys.success.rawValue, success)
            object.add(CodingKeys.eventID.rawValue, eventID)
            object.add(CodingKeys.outcome.rawValue, outcome)
            object.add(CodingKeys.counted.rawValue, counted)
            object.add(CodingKeys.reason.rawValue, reason)
            object.add(CodingKeys.displayedAt.rawValue, displayedAt)
            object.add(CodingKeys.imprintID.rawValue, imprintID)
            object.add(CodingKeys.accepted.rawValue, accepted)
            object.add(CodingKeys.partial.rawValue, partial)
            object.add(CodingKeys.warningCode.rawValue, warningCode)
            object.add(CodingKeys.deepLink.rawValue, deepLink)
            if let config { object.add(CodingKeys.config.rawValue) { config.write(to: &$0) } }
        }
    }
}

extension DirectoryConfig {
    /// Writes the members that `Codable` encodes.
    package func write(to text: inout JSONText) {
        text.object { object in
            object.add(CodingKeys.mode.rawValue, mode)
            object.add(CodingKeys.brandingEnabled.rawValue, brandingEnabled)
            object.add(CodingKeys.voipDialerEnabled.rawValue, voipDialerEnabled)
            object.add(CodingKeys.accountStatus.rawValue, accountStatus)
            object.add(CodingKeys.clientID.rawValue, clientID)
            if let debugUI { object.add(CodingKeys.debugUI.rawValue) { debugUI.write(to: &$0) } }
            object.add(CodingKeys.usedThisMonth.rawValue, usedThisMonth)
            switch capThisMonth {
            case .events(let cap): object.add(CodingKeys.capThisMonth.rawValue, cap)
            case .unlimited: object.add(CodingKeys.capThisMonth.rawValue, JSONValue.null)
            case nil: break
            }
            object.add(CodingKeys.includedImprintsMonthly.rawValue, includedImprintsMonthly)
            object.add(CodingKeys.cardURL.rawValue, cardURL)
        }
    }
}

extension DirectoryConfig.DebugUI {
    fileprivate func write(to text: inout JSONText) {
        text.object { object in
            object.add(CodingKeys.enabled.rawValue, enabled ?? false)
            object.add(CodingKeys.requestUpload.rawValue, requestUpload ?? false)
            object.add(CodingKeys.expiresAt.rawValue, expiresAt.map { JSONValue.string($0) } ?? .null)
            object.add(CodingKeys.allowExport.rawValue, allowExport ?? false)
        }
    }
}
