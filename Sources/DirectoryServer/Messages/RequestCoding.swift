// SPDX-License-Identifier: Apache-2.0

import CZlib
import HTTPTypes
import Hummingbird
import NIOCore

/// Content codings of request bodies (RFC 9110 §8.4): `gzip` and `deflate`, one at a time.
enum RequestCoding {
    /// The accepted codings, in the form of `Accept-Encoding`.
    static let taken = "gzip, deflate"

    /// Returns the request without its content coding.
    ///
    /// - Parameters:
    ///   - request: its body is read and kept, for the check of a signature over the received bytes.
    ///   - limit: the longest accepted body in bytes, both received and decoded.
    /// - Throws: `Refusal`: 415 for another coding, 413 for a body above the limit, 400 for a body that cannot be
    ///   decoded.
    static func plain(_ request: inout Request, upTo limit: Int = JSONBody.limit) async throws -> Request {
        let body = try await JSONBody.collect(&request, upTo: limit)
        guard let coding = try coding(of: request) else { return request }
        var head = request.head
        head.headerFields[.contentEncoding] = nil
        var plain = Request(head: head, body: request.body)
        plain.body = .init(buffer: try decode(body, coding, upTo: limit))
        return plain
    }

    private enum Coding {
        case gzip
        case deflate
    }

    /// Nil for a body without coding.
    private static func coding(of request: Request) throws -> Coding? {
        let names = request.headers[values: .contentEncoding].flatMap { $0.split(separator: ",") }
            .map { $0.filter { !$0.isWhitespace }.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
        guard let name = names.first else { return nil }
        switch (name, names.count) {
        case ("gzip", 1), ("x-gzip", 1): return .gzip
        case ("deflate", 1): return .deflate
        default: throw Refusal.unsupportedCoding
        }
    }

    private static func decode(_ body: ByteBuffer, _ coding: Coding, upTo limit: Int) throws -> ByteBuffer {
        switch coding {
        case .gzip: return try inflated(body, bits: 15 + 16, upTo: limit)
        case .deflate:
            // The zlib form (RFC 9110 §8.4.1.2). Some clients omit its two header bytes.
            let head = body.getInteger(at: body.readerIndex, as: UInt16.self) ?? 0
            let isZlib = head >> 8 & 0x0F == 8 && head % 31 == 0
            return try inflated(body, bits: isZlib ? 15 : -15, upTo: limit)
        }
    }

    /// Decompresses a whole body; a gzip body may have several members (RFC 1952 §2.2).
    private static func inflated(_ body: ByteBuffer, bits: Int32, upTo limit: Int) throws -> ByteBuffer {
        var stream = z_stream()
        guard inflateInit2_(&stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw GzipFailure(code: Z_MEM_ERROR)
        }
        defer { inflateEnd(&stream) }
        var (input, output) = (body, ByteBuffer())
        try input.withUnsafeMutableReadableBytes { bytes in
            stream.next_in = bytes.bindMemory(to: UInt8.self).baseAddress
            stream.avail_in = UInt32(bytes.count)
            while true {
                // One byte above the limit, to detect a longer body.
                let (space, left) = (min(limit + 1, 16_384), limit + 1 - output.readableBytes)
                var code = Z_OK
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: space) { space in
                    let most = min(space.count, left)
                    stream.next_out = space.bindMemory(to: UInt8.self).baseAddress
                    stream.avail_out = UInt32(most)
                    code = inflate(&stream, Z_NO_FLUSH)
                    return most - Int(stream.avail_out)
                }
                guard output.readableBytes <= limit else { throw Refusal.bodyTooLarge(limit) }
                switch code {
                case Z_OK: continue
                case Z_STREAM_END where stream.avail_in == 0: return
                case Z_STREAM_END where bits > 15: inflateReset(&stream)
                default: throw Refusal.badRequest("The body is not encoded as its Content-Encoding declares")
                }
            }
        }
        return output
    }
}

extension Refusal {
    /// The body has an unsupported coding; `Accept-Encoding` lists the accepted ones (RFC 9110 §15.5.16).
    static var unsupportedCoding: Refusal {
        var headers: HTTPFields = [:]
        headers[.acceptEncoding] = RequestCoding.taken
        return Refusal(
            .unsupportedMediaType, "Content-Encoding must be one of \(RequestCoding.taken), or missing",
            code: "unsupported_encoding", headers: headers)
    }
}
