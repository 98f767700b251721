// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import SIPCore

/// A caller as operators paste it: a number, a URI, or the value of From, P-Asserted-Identity or Remote-Party-ID.
///
/// `sip:+61255501001@host`, `"Acme" <tel:+61255501001>;tag=1` and `From: <sip:0255501001@host>` are read as the gateway
/// reads them in an INVITE.
struct PastedCaller: Hashable, Sendable {
    /// The number, with its escapes resolved.
    let number: String
    /// The `phone-context` of the URI; nil without one.
    let context: String?

    init(_ text: String) {
        let value = Self.value(of: text)
        let bytes = Array(value.utf8)
        // Without brackets, what follows a semicolon is the URI's in a pasted URI, and the header field's in From.
        if !value.contains("<"), let uri = SIPURI(bytes) {
            number = String(decoding: uri.unescapedUser, as: UTF8.self)
            context = (uri.userParameter("phone-context") ?? uri.parameter("phone-context")).map {
                String(decoding: $0, as: UTF8.self)
            }
            return
        }
        guard value.contains(":") || value.contains("<"), let address = NameAddress(bytes, 0..<bytes.count) else {
            // Without a scheme, the user part of what looks like an address.
            let user = value.prefix { $0 != "@" && $0 != ";" }
            number = value.contains("@") ? String(user) : value
            context = nil
            return
        }
        let uri = address.uri
        number = String(decoding: uri.unescapedUser, as: UTF8.self)
        let outside =
            address.extent.hasBrackets
            ? nil : HeaderParameters.find("phone-context", in: bytes, address.extent.parameters).map { bytes[$0] }
        context = (outside ?? uri.userParameter("phone-context") ?? uri.parameter("phone-context")).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Reads the number by the rules of a trunk.
    func number(by normaliser: NumberNormaliser) -> E164Number? {
        guard let context else { return normaliser.normalise(number.utf8) }
        return normaliser.normalise(number.utf8, context: context.utf8)
    }

    /// The text without blanks around it, and without the name of a header field before it.
    private static func value(of text: String) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let name = text.prefix { $0.isLetter || $0 == "-" }.lowercased()
        let names = [
            "from", "f", "p-asserted-identity", "p-preferred-identity", "remote-party-id", "to", "t", "contact",
        ]
        let rest = text.dropFirst(name.count).drop { $0 == " " }
        guard names.contains(name), rest.first == ":" else { return text }
        return rest.dropFirst().trimmingCharacters(in: .whitespaces)
    }
}
