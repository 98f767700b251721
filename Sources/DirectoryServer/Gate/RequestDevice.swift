// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOCore

/// Finds the device identifier in a request.
enum RequestDevice {
    private static let name = Array(#""device_id""#.utf8)

    /// Longest identifier, in bytes; a longer one is cut.
    private static let longest = 512

    /// The `device_id` of the query, or the first one in a JSON body; nil without one.
    ///
    /// The body is searched and not parsed, because every request passes here and its route parses it once.
    static func id(of request: Request, body: ByteBuffer?) -> String? {
        QueryText.read("device_id", of: request).map { String($0.prefix(longest)) } ?? body.flatMap(id)
    }

    static func id(in body: ByteBuffer) -> String? {
        body.withUnsafeReadableBytes { bytes in
            guard var rest = value(in: bytes)?.drop(while: isBlank), rest.popFirst() == UInt8(ascii: ":") else {
                return nil
            }
            rest = rest.drop(while: isBlank)
            guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
            let text = rest.prefix(longest).prefix { $0 != UInt8(ascii: "\"") }
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
    }

    /// The bytes after the first name of the field; nil without one.
    private static func value(in bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        guard let base = bytes.baseAddress else { return nil }
        var place = 0
        while place + name.count <= bytes.count,
            let quote = memchr(base + place, Int32(name[0]), bytes.count - place - name.count + 1)
        {
            place = UnsafeRawPointer(quote) - base
            if memcmp(quote, name, name.count) == 0 { return bytes[(place + name.count)...] }
            place += 1
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
