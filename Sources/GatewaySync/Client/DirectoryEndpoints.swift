// SPDX-License-Identifier: Apache-2.0

package import BrandingAPI
import Foundation
import Primitives

/// The contract's requests, one function each.
extension DirectoryClient {
    /// Acknowledges a stored sync; an optional request of older contracts.
    package func acknowledge(_ acknowledgement: SyncAcknowledgement) async throws(DirectoryError) {
        try await post(APIPath.sync, acknowledgement)
    }

    /// Sends one event once. The outbox repeats it with the same key if it did not arrive.
    package func send(_ event: EventRequest) async throws(DirectoryError) -> EventResponse {
        let response = try decode(EventResponse.self, await post(APIPath.event, event, attempts: 1))
        guard response.success else { throw .badResponse(reason: "its success is false") }
        return response
    }

    package func register(_ device: DeviceRegistration) async throws(DirectoryError) {
        // With the API key even if other requests carry a token: only a registered device gets one.
        try await post(APIPath.register, device, signsIn: true)
    }

    package func update(_ device: DeviceUpdate) async throws(DirectoryError) {
        try await post(APIPath.update, device)
    }

    /// Sends the heartbeat with one attempt; the next heartbeat follows anyway.
    package func report(_ presence: Presence) async throws(DirectoryError) {
        try await post(APIPath.presence, presence, attempts: 1)
    }

    /// Sends a GET with a small response.
    func get(
        _ path: String, query: [(name: String, value: String)], attempts: Int? = nil
    ) async throws(DirectoryError) -> Data {
        try await perform(
            DirectoryRequest(
                path: path, query: query, timeout: settings.resourceTimeout, maxBody: settings.responseLimit,
                attempts: attempts ?? settings.attempts))
    }

    /// Requests tokens with the API key.
    func tokens(
        _ path: String, _ request: some Encodable, secret: Concealed<String>? = nil, attempts: Int? = nil
    ) async throws(DirectoryError) -> TokenResponse {
        try decode(TokenResponse.self, await post(path, request, attempts: attempts, signsIn: true, secret: secret))
    }

    @discardableResult
    func post(
        _ path: String, _ value: some Encodable, attempts: Int? = nil, signsIn: Bool = false,
        secret: Concealed<String>? = nil
    ) async throws(DirectoryError) -> Data {
        let encoder = JSONEncoder()
        // Sorted: a repeated event is the same request byte by byte.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body: Data
        do {
            body = try encoder.encode(value)
        } catch {
            throw .badResponse(reason: "the request to \(path) cannot be written as JSON")
        }
        return try await perform(
            DirectoryRequest(
                path: path, body: body, timeout: settings.resourceTimeout, maxBody: settings.responseLimit,
                attempts: attempts ?? settings.attempts, signsIn: signsIn, secret: secret))
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ body: Data) throws(DirectoryError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch let error as DecodingError {
            throw .badResponse(reason: ServerText.clean(settings.key.redacting(Self.place(of: error))))
        } catch {
            throw .badResponse(reason: "it is not JSON")
        }
    }

    /// Returns the place of the error in the JSON, without quoting any of it.
    private static func place(of error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            let keys = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return keys.isEmpty ? "the top" : keys.joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, let context): "\(key.stringValue) is missing at \(path(context))"
        case .typeMismatch(_, let context): "a value of the wrong type at \(path(context))"
        case .valueNotFound(_, let context): "null where a value is required at \(path(context))"
        case .dataCorrupted(let context): "broken or incomplete JSON at \(path(context))"
        @unknown default: "it is not JSON"
        }
    }
}
