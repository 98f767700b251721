// SPDX-License-Identifier: Apache-2.0

import CZlib
import HTTPTypes
import Hummingbird
import NIOCore

/// Compresses a streamed response as it is written, with one zlib window and one piece in memory.
///
/// Written here, because the compressor of swift-nio-extras trapped in the contract tests.
struct GzipWriter: ResponseBodyWriter {
    private var next: any ResponseBodyWriter
    private let stream: GzipStream

    /// - Throws: `GzipFailure` if memory for the window is missing.
    init(_ next: any ResponseBodyWriter) throws {
        self.next = next
        stream = try GzipStream()
    }

    @concurrent
    mutating func write(_ buffer: ByteBuffer) async throws {
        let packed = try stream.pack(buffer)
        if packed.readableBytes > 0 { try await next.write(packed) }
    }

    @concurrent
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await next.write(try stream.pack(ByteBuffer(), isLast: true))
        try await next.finish(trailingHeaders)
    }
}

/// An error of zlib.
struct GzipFailure: Error, CustomStringConvertible {
    let code: Int32

    var description: String { "zlib failed with \(code)" }
}

/// One gzip stream (RFC 1952); used by one task at a time.
private final class GzipStream {
    private var state = z_stream()

    /// Most bytes that zlib writes at once.
    private static let piece = 65_536

    init() throws {
        // 15 bits of window, plus 16 for the gzip format. Level 1 already shrinks brand texts by nine tenths.
        let code = deflateInit2_(
            &state, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { throw GzipFailure(code: code) }
    }

    deinit { deflateEnd(&state) }

    func pack(_ buffer: ByteBuffer, isLast: Bool = false) throws -> ByteBuffer {
        var input = buffer
        var output = ByteBuffer()
        try input.withUnsafeMutableReadableBytes { bytes in
            state.next_in = bytes.bindMemory(to: UInt8.self).baseAddress
            state.avail_in = UInt32(bytes.count)
            repeat {
                try output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.piece) { space in
                    state.next_out = space.bindMemory(to: UInt8.self).baseAddress
                    state.avail_out = UInt32(space.count)
                    let code = deflate(&state, isLast ? Z_FINISH : Z_NO_FLUSH)
                    guard code != Z_STREAM_ERROR else { throw GzipFailure(code: code) }
                    return space.count - Int(state.avail_out)
                }
                // Free output space means that zlib has no more output.
            } while state.avail_out == 0
        }
        return output
    }
}

/// Reads `Accept-Encoding` (RFC 9110 §12.5.3).
enum AcceptEncoding {
    static func takesGzip(_ request: Request) -> Bool {
        guard let list = request.headers[.acceptEncoding] else { return false }
        var weight: (gzip: Double?, any: Double?)
        for coding in list.split(separator: ",") {
            let parts = coding.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch parts.first {
            case "gzip", "x-gzip": weight.gzip = quality
            case "*": weight.any = quality
            default: break
            }
        }
        return weight.gzip ?? weight.any ?? 0 > 0
    }
}
