// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI

extension EventRequest {
    /// The identifier of the call, which all events of a call have; of a return call the one of the original.
    ///
    /// Nil without `call_event_id` in `meta`, and for a text that no link and no push service takes.
    package var callID: String? {
        guard case .string(let call) = meta?["call_event_id"], Self.isCallID(call) else { return nil }
        return call
    }

    /// True for letters, digits and dashes: the identifier becomes a part of links and of a push service's topic.
    static func isCallID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
