// SPDX-License-Identifier: Apache-2.0

import COsip2
import Glibc

/// Parses single header values and URIs with libosip2; nothing is written with it (RFC 3261 §25).
///
/// Sizes and separators are capped before it sees a byte, because its time grows with the square of long parameter
/// lists (60 kB of `;a` take 660 ms). Any thread, after `start()`.
public enum OSIPGrammar {
    /// Longest text handed to libosip2, in bytes.
    public static let longestText = 2048
    /// Most semicolons, commas and ampersands in it.
    public static let mostSeparators = 64

    /// Silences libosip2 and prepares its parser; done once, before anything is parsed.
    public static func start() { _ = started }

    private static let started: Void = herald_osip_start()

    /// Calls `body` with a NUL-ended copy in which folds and tabs are spaces; nil when the text is too long or has a NUL.
    static func withText<Result>(
        _ bytes: ArraySlice<UInt8>, _ body: (UnsafeMutablePointer<CChar>) -> Result?
    ) -> Result? {
        start()
        guard bytes.count <= longestText else { return nil }
        var separators = 0
        for byte in bytes {
            switch byte {
            case 0: return nil
            case UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "&"): separators += 1
            default: break
            }
        }
        guard separators <= mostSeparators else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            for (offset, byte) in bytes.enumerated() {
                base[offset] = CChar(bitPattern: LWS.contains(byte) ? 32 : byte)
            }
            base[bytes.count] = 0
            return body(base)
        }
    }

    /// A C string of libosip2 as bytes; nil when it is not there.
    static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8]? {
        guard let text else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
