// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Reads JSON request bodies and writes JSON responses.
enum JSONBody {
    /// Longest request body, in bytes.
    static let limit = 1 << 20

    static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: mediaType],
            body: .init(byteBuffer: ByteBuffer(bytes: try encoder().encode(value))))
    }

    /// A response of text that is written without an encoder.
    static func response(_ text: JSONText, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: mediaType],
            body: .init(byteBuffer: ByteBuffer(bytes: text.bytes)))
    }

    static let mediaType = "application/json; charset=utf-8"

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return encoder
    }

    /// Reads a JSON body of at most 1 MiB; unknown fields are refused.
    static func read<Value: Decodable>(
        _ type: Value.Type, of request: Request, fields: Set<String>
    ) async throws -> Value {
        try decode(type, of: try await data(of: request), fields: fields)
    }

    /// Reads a JSON object; unknown fields are refused.
    static func decode<Value: Decodable>(_ type: Value.Type, of data: Data, fields: Set<String>) throws -> Value {
        if let unknown = try object(data).keys.filter({ !fields.contains($0) }).min() {
            throw Refusal.unknownField(unknown)
        }
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch DecodingError.keyNotFound(let key, _) {
            throw Refusal.badRequest("Missing field \(key.stringValue)")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            let field = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw Refusal.wrongType(field)
        }
    }

    /// Reads a JSON body of at most 1 MiB as an object.
    ///
    /// - Parameter levels: most nested lists and objects; deeper bodies are refused.
    static func object(of request: Request, levels: Int = JSONValue.deepest) async throws -> [String: JSONValue] {
        try object(try await data(of: request), levels: levels)
    }

    /// The body, decompressed if needed.
    static func data(of request: Request, upTo limit: Int = limit) async throws -> Data {
        var request = request
        var plain = try await RequestCoding.plain(&request, upTo: limit)
        return Data(try await collect(&plain, upTo: limit).readableBytesView)
    }

    private static func object(_ data: Data, levels: Int = JSONValue.deepest) throws -> [String: JSONValue] {
        do {
            return try JSONValue.object(parsing: data, levels: levels)
        } catch {
            switch error {
            case .malformed: throw Refusal.badRequest("The body must be a JSON object")
            case .tooDeep: throw Refusal.badRequest("The body has more than \(JSONValue.deepest) levels")
            }
        }
    }

    /// Reads the body and keeps it in the request.
    ///
    /// - Parameter limit: the longest accepted body, in bytes.
    static func collect(_ request: inout Request, upTo limit: Int = limit) async throws -> ByteBuffer {
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > limit {
            throw Refusal.bodyTooLarge(limit)
        }
        do {
            return try await request.collectBody(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw Refusal.bodyTooLarge(limit)
        }
    }
}

extension Refusal {
    /// The body is longer than `limit` bytes.
    static func bodyTooLarge(_ limit: Int) -> Refusal {
        var refusal = Refusal(.contentTooLarge, "The body is larger than \(limit) bytes", code: "too_large")
        refusal.details = ["max_size": .int(limit)]
        refusal.guidance = "Send less at once, or use chunked upload"
        return refusal
    }
}
