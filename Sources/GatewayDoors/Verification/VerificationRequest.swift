// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import CallPath

/// A request for the verification of a signed call, in one of two shapes.
///
/// Its members show the shape: `identity` of ATIS-1000082, or `identityHeader` and `identityHeaders` of 3GPP TS 24.229 Annex V.
/// `tn` is text or a list of texts in both.
package struct VerificationRequest: Hashable, Sendable {
    package enum Shape: Hashable, Sendable {
        case atis, annexV
        /// Nothing to verify, as in the heartbeat of an SBC.
        case none
    }

    package let shape: Shape
    package let call: StatedSignedCall
    /// Members that the response reflects.
    package let requestID: String?
    package let displayName: String?

    /// The deepest nesting of a request.
    private static let levels = 8

    /// Reads the body of a request.
    package init(_ body: some Collection<UInt8>) throws(VerificationProblem) {
        guard !body.isEmpty else { throw .noBody }
        guard let root = try? JSONValue.object(parsing: body, levels: Self.levels) else {
            throw .unreadable("invalid JSON body")
        }
        guard let request = try Members(root).object("verificationRequest") else {
            throw .missing("verificationRequest")
        }
        guard let caller = try request.party("from") else { throw .missing("from") }
        guard let to = try request.party("to") else { throw .missing("to") }
        guard let time = try request.time() else { throw .missing("time") }
        let own = try request.texts("identity")
        let others = try request.texts("identityHeader") + request.texts("identityHeaders")
        shape = !others.isEmpty ? .annexV : own.isEmpty ? .none : .atis
        call = StatedSignedCall(
            caller: caller, called: try request.called(), to: to, date: time,
            identities: others.isEmpty ? own : others)
        requestID = request.text("requestId")
        displayName = request.text("displayName")
    }
}

/// The members of a JSON object. `null` counts as absent.
private struct Members {
    private let values: [String: JSONValue]

    init(_ values: [String: JSONValue]) { self.values = values.filter { $0.value != .null } }

    func object(_ name: String) throws(VerificationProblem) -> Members? {
        switch values[name] {
        case nil: return nil
        case .object(let values): return Members(values)
        default: throw .invalid(name, "must be an object")
        }
    }

    /// A member that is reflected; anything but text is left out.
    func text(_ name: String) -> String? {
        guard case .string(let text) = values[name] else { return nil }
        return text
    }

    /// A text, or the texts of a list; empty ones do not count.
    func texts(_ name: String) throws(VerificationProblem) -> [[UInt8]] {
        switch values[name] {
        case nil: return []
        case .string(let text): return text.isEmpty ? [] : [Array(text.utf8)]
        case .array(let list):
            var texts: [[UInt8]] = []
            for value in list {
                guard case .string(let text) = value else { throw .invalid(name, "must be text or a list of texts") }
                if !text.isEmpty { texts.append(Array(text.utf8)) }
            }
            return texts
        default: throw .invalid(name, "must be text or a list of texts")
        }
    }

    /// Of several numbers the first one counts.
    ///
    /// A caller may have no user part. So an empty text is a party without a certain number, and no error.
    func party(_ name: String) throws(VerificationProblem) -> StatedSignedCall.Party? {
        guard let party = try object(name) else { return nil }
        if let stated = try party.stated(name) { return stated }
        guard party.hasText else { throw .invalid(name, "must have tn or uri") }
        return .number([])
    }

    /// The called party by the Request-URI; nil where it is absent or empty.
    func called() throws(VerificationProblem) -> StatedSignedCall.Party? {
        try object("dest")?.stated("dest")
    }

    private func stated(_ name: String) throws(VerificationProblem) -> StatedSignedCall.Party? {
        if let number = try first("tn", of: name) { return .number(number) }
        return try first("uri", of: name).map { .uri($0) }
    }

    /// Whether one of the members is text, or a list with one.
    private var hasText: Bool {
        ["tn", "uri"].contains { member in
            switch values[member] {
            case .string: true
            case .array(let list): !list.isEmpty
            default: false
            }
        }
    }

    private func first(_ member: String, of name: String) throws(VerificationProblem) -> [UInt8]? {
        do {
            return try texts(member).first
        } catch {
            throw .invalid(name, "\(member) must be text or a list of texts")
        }
    }

    /// Unix seconds of the Date header field.
    func time() throws(VerificationProblem) -> Int64? {
        switch values["time"] {
        case nil: return nil
        case .int(let seconds) where seconds > 0: return Int64(seconds)
        default: throw .invalid("time", "must be a positive integer")
        }
    }
}
