// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Escapes the bytes of request lines that the HTTP parser rejects: bytes beyond ASCII, and control characters.
///
/// FreePBX writes a caller's name into its URL in UTF-8 without escapes. A rejected request would empty that name. Behind a
/// request with a body nothing is escaped any more, because the sizes of bodies count. Used by one event loop.
package final class RequestLineEscapes: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private enum Place { case requestLine, fields, body }

    private static let digits = Array("0123456789ABCDEF".utf8)
    private static let bodyFields = [Array("content-length:".utf8), Array("transfer-encoding:".utf8)]
    /// Bytes of a header line that show whether it is one of `bodyFields`.
    private static let longest = 18

    private var place = Place.requestLine
    private var isEmptyLine = true
    private var hasBody = false
    /// The beginning of the present header line in lower case.
    private var beginning: [UInt8] = []

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard place != .body, let escaped = buffer.withUnsafeReadableBytes(escaped) else {
            return context.fireChannelRead(data)
        }
        context.fireChannelRead(wrapInboundOut(context.channel.allocator.buffer(bytes: escaped)))
    }

    /// Follows the bytes, and returns them with escapes; nil if nothing is to be escaped.
    private func escaped(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var out: [UInt8]?
        for (position, byte) in bytes.enumerated() {
            let isEscaped = place == .requestLine && Self.isRejected(byte)
            if isEscaped, out == nil { out = Array(bytes[..<position]) }
            if isEscaped {
                out?.append(contentsOf: [
                    UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)],
                ])
            } else {
                out?.append(byte)
            }
            follow(byte)
        }
        return out
    }

    private static func isRejected(_ byte: UInt8) -> Bool {
        byte >= 0x7F || byte < 0x20 && byte != UInt8(ascii: "\r") && byte != UInt8(ascii: "\n")
    }

    /// Finds out what the next byte belongs to.
    private func follow(_ byte: UInt8) {
        guard byte == UInt8(ascii: "\n") else {
            guard byte != UInt8(ascii: "\r") else { return }
            isEmptyLine = false
            if place == .fields, beginning.count < Self.longest {
                beginning.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
            }
            return
        }
        switch place {
        // Empty lines before a request line do not count (RFC 9112 §2.2).
        case .requestLine: place = isEmptyLine ? .requestLine : .fields
        case .fields where isEmptyLine: place = hasBody ? .body : .requestLine
        case .fields: hasBody = hasBody || Self.bodyFields.contains { beginning.starts(with: $0) }
        case .body: break
        }
        isEmptyLine = true
        beginning.removeAll(keepingCapacity: true)
    }
}
