// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// JSON in and out.
enum Answers {
    /// Longest request body, in bytes.
    static let bodyLimit = 1 << 20

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: jsonType],
            body: .init(byteBuffer: ByteBuffer(bytes: try encoder().encode(value))))
    }

    static let jsonType = "application/json; charset=utf-8"

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return encoder
    }

    /// Reads a JSON body of at most 1 MiB whose fields are all known.
    static func body<Value: Decodable>(
        _ type: Value.Type, of request: Request, fields: Set<String>
    ) async throws -> Value {
        let data = try await bytes(of: request)
        guard case .object(let object) = try? JSONDecoder().decode(JSONValue.self, from: data) else {
            throw Refusal.badRequest("The body must be a JSON object")
        }
        if let unknown = object.keys.filter({ !fields.contains($0) }).min() {
            throw Refusal.badRequest("Unknown field \(String(unknown.prefix(64)))")
        }
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch DecodingError.keyNotFound(let key, _) {
            throw Refusal.badRequest("Missing field \(key.stringValue)")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            let field = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw Refusal.badRequest("Wrong type of field \(String(field.prefix(64)))")
        }
    }

    private static func bytes(of request: Request) async throws -> Data {
        let tooLarge = Refusal(.contentTooLarge, "The body is larger than 1 MiB", code: "too_large")
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > bodyLimit {
            throw tooLarge
        }
        do {
            return Data(try await request.body.collect(upTo: bodyLimit).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }
}
