// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import SIPCore
import Trust

/// Removal of compact `rcd` tokens from an INVITE whose From gets another name.
///
/// The compact form has no claims of its own: the next verifier takes the name from From, and the signature would be wrong
/// there (RFC 8224 §4.1, RFC 9795). Every other token passes untouched.
enum CompactNames {
    /// Removes the values, if the verdict counts and one of them is in the compact form.
    static func drop(_ context: borrowing InboundContext, into splices: inout Splices) {
        guard let signed = context.signed, signed.evidence.counts, signed.verdict.causes.contains(.compactForm) else {
            return
        }
        let invite = context.invite
        for field in invite.fields(.identity) {
            HeaderList.strip(invite, field, into: &splices) { isCompactName(invite, $0) }
        }
    }

    /// Whether a value has two dots before its signature, and `ppt=rcd`.
    private static func isCompactName(_ message: SIPMessage, _ value: Range<Int>) -> Bool {
        guard message[value].starts(with: [UInt8(ascii: "."), UInt8(ascii: ".")]),
            let end = message[value].firstIndex(of: UInt8(ascii: ";"))
        else { return false }
        return HeaderParameters(message.bytes, end..<value.upperBound).contains { name, text in
            guard message[name].equalsIgnoringCase("ppt") else { return false }
            return message[text].elementsEqual("rcd".utf8) || message[text].elementsEqual("\"rcd\"".utf8)
        }
    }
}

/// A header field with values separated by commas.
enum HeaderList {
    /// Removes the unwanted values of one field, and the line when none is left.
    static func strip(
        _ message: SIPMessage, _ field: SIPMessage.HeaderField, into splices: inout Splices,
        where isUnwanted: (Range<Int>) -> Bool
    ) {
        let values = Array(HeaderValues(message.bytes, field.value))
        let kept = values.filter { !isUnwanted($0) }
        if kept.count == values.count { return }
        guard !kept.isEmpty else {
            splices.remove(field.start..<field.end)
            return
        }
        splices.replace(field.value) { out in
            for (position, value) in kept.enumerated() {
                // No longer than before: a message within its limits stays there.
                if position > 0 { out.append(",") }
                out.append(value, of: message)
            }
        }
    }
}
