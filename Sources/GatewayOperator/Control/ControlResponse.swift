// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird

/// Responses of the control socket: one JSON value, the reason of a refusal, or a stream of lines.
enum ControlResponse {
    /// Longest JSON body of a command: 64 KiB.
    private static let limit = 64 << 10

    /// One JSON value.
    static func value(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }

    /// A refusal with its reason.
    static func refusal(_ error: String, status: HTTPResponse.Status = .badRequest) throws -> Response {
        try value(ControlProblem(error: error), status: status)
    }

    /// The JSON body of a command; nil if it has another shape.
    static func body<Value: Decodable>(of request: Request, as type: Value.Type = Value.self) async throws -> Value? {
        let bytes = try await request.body.collect(upTo: limit)
        return try? JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
    }

    /// Lines until the sequence ends, or the client closes its connection, which cancels the sequence.
    ///
    /// The source of the lines ends them when the gateway stops, so that the last ones still arrive.
    static func lines<Lines: AsyncSequence & Sendable>(
        _ lines: Lines, to request: Request
    ) -> Response where Lines.Element == String, Lines.AsyncIterator: SendableMetatype {
        let body = ResponseBody { writer in
            var writer = writer
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                for try await line in lines {
                    try await writer.write(ByteBuffer(string: line + "\n"))
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: body)
    }
}
