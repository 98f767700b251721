// SPDX-License-Identifier: Apache-2.0

import COsip2

/// A From, To, P-Asserted-Identity or Remote-Party-ID value that libosip2 accepts, with the extents of its parts.
///
/// Extents come from `NameAddressExtent`; libosip2 must agree that the value is well formed, or there is no such value
/// and the call goes on unbranded. Source: RFC 3261 §20.20, RFC 3325 §9.1.
public struct NameAddress: Sendable {
    public let extent: NameAddressExtent
    public let uri: SIPURI

    /// Reads the value in `bytes[range]`; nil when the grammar refuses it or the URI is none of sip, sips, tel.
    public init?(_ bytes: [UInt8], _ range: Range<Int>) {
        self.init(bytes, range, NameAddressExtent.scan(bytes, range))
    }

    /// The same, where the extents of its parts are known already.
    public init?(_ bytes: [UInt8], _ range: Range<Int>, _ extent: NameAddressExtent) {
        // The display name is left out: carriers send UTF-8 without quotes, which libosip2 refuses with the whole value.
        let start = extent.hasBrackets ? extent.uri.lowerBound - 1 : range.lowerBound
        self.extent = extent
        if let parts = PlainURI.address(bytes, start..<range.upperBound) {
            uri = SIPURI(parts, of: bytes)
        } else {
            guard Self.isWhole(bytes, extent), Self.grammarAccepts(bytes[start..<range.upperBound]),
                let uri = SIPURI(bytes, LWS.trimmed(bytes, extent.uri))
            else { return nil }
            self.uri = uri
        }
    }

    /// Whether nothing but parameters follows the bracket, which libosip2 passes over.
    private static func isWhole(_ bytes: [UInt8], _ extent: NameAddressExtent) -> Bool {
        let rest = LWS.trimmed(bytes, extent.parameters)
        return rest.isEmpty || bytes[rest.lowerBound] == UInt8(ascii: ";")
    }

    static func grammarAccepts(_ value: ArraySlice<UInt8>) -> Bool {
        OSIPGrammar.withText(value) { text -> Bool? in
            var from: UnsafeMutablePointer<osip_from_t>?
            guard osip_from_init(&from) == 0, let from else { return nil }
            defer { osip_from_free(from) }
            return osip_from_parse(from, text) == 0 ? true : nil
        } ?? false
    }
}
