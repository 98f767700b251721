// SPDX-License-Identifier: Apache-2.0

/// The received From of a request whose forwarded From differs, as the `hf` parameter of the gateway's Via.
///
/// A response must repeat the From of the request (RFC 3261 §8.2.6.2). The target repeats the Via unchanged (§8.2.6.2), so
/// any node of a cluster can restore From without memory of the call. The text is a token (§25.1): bytes outside the
/// alphabet of a token are a percent sign and two digits.
public enum OriginalFrom {
    /// Longest parameter value in bytes; a longer From travels in no Via and is restored only from memory.
    public static let longest = 320

    /// Writes the parameter, or nothing for a From that is too long.
    static func append(_ value: ArraySlice<UInt8>, to out: inout [UInt8]) {
        guard value.count <= longest else { return }
        let start = out.count
        out.append(addingCapacity: 4 + value.count * 3) { out in
            out.append(";hf=")
            for byte in value {
                if Token.contains(byte), byte != UInt8(ascii: "%") {
                    out.append(byte)
                } else {
                    out.append(UInt8(ascii: "%"), escaping: byte)
                }
            }
        }
        if out.count - start > longest + 4 { out.removeSubrange(start...) }
    }

    /// The parameter's value in a Via of the gateway, as it was written.
    static func text(in message: SIPMessage, _ via: ViaValue) -> Range<Int>? {
        let start = message.bytes.firstIndex(of: UInt8(ascii: ";"), in: via.extent) ?? via.extent.upperBound
        return HeaderParameters.find("hf", in: message.bytes, start..<via.extent.upperBound)
    }

    /// Reads the From out of the gateway's Via in a response; nil without one, and for text that no From can have.
    public static func read(in response: SIPMessage, _ via: ViaValue) -> [UInt8]? {
        guard let text = text(in: response, via), !text.isEmpty else { return nil }
        let value = Array(PercentEscape.resolved(response[text]))
        // No target can begin another header line with it.
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        return value
    }
}
