// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import Hummingbird

extension VersionCondition {
    /// Reads `If-Match` and `If-None-Match` of a change (RFC 9110 §13.1.1, §13.1.2).
    ///
    /// A weak tag never matches in `If-Match` and matches like a strong one in `If-None-Match`.
    ///
    /// - Throws: `Refusal` (400) for a malformed list: a change without its condition would be made unseen.
    init(_ request: Request) throws {
        self.init(
            needed: try Self.versions(.ifMatch, request) { $0.isWeak ? "W/\"\($0.opaque)\"" : $0.opaque },
            excluded: try Self.versions(.ifNoneMatch, request) { $0.opaque })
    }

    private static func versions(
        _ name: HTTPField.Name, _ request: Request, _ text: (EntityTag) -> String
    ) throws -> Versions? {
        guard let value = request.headers[name] else { return nil }
        if value == "*" { return .any }
        guard let tags = EntityTag.list(value) else {
            throw Refusal.badRequest("\(name.canonicalName) must be * or a list of entity tags in quotes")
        }
        return .listed(tags.map(text))
    }
}

extension ValueVersion {
    /// The strong entity tag of the object.
    var tag: String { "\"\(text)\"" }
}

extension JSONBody {
    /// A response with an object and its entity tag.
    static func response(
        _ value: some Encodable, _ version: ValueVersion, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        var response = try response(value, status: status)
        (response.headers[.eTag], response.headers[.cacheControl]) = (version.tag, "no-store")
        return response
    }

    /// The response to a `GET` of an object; 304 to a client that has this version.
    ///
    /// The version has no counts and no times, which the object can show. So no cache may store the response.
    static func response(_ value: some Encodable, _ version: ValueVersion, to request: Request) throws -> Response {
        if ConditionalRequest.holds(version.tag, request) {
            return Response(status: .notModified, headers: [.eTag: version.tag, .cacheControl: "no-store"])
        }
        return try response(value, version)
    }
}

extension Refusal {
    /// A change that was not made, with the code of the Mobile API.
    static func conflict(_ error: VersionConflict) -> Refusal {
        func text(_ version: String?) -> JSONValue { version.map { .string(String($0.prefix(128))) } ?? .null }
        let message =
            if error.serverVersion == nil {
                "The data you're trying to update does not exist"
            } else if error.clientVersion == nil {
                "The data you're trying to create exists already"
            } else {
                "The data you're trying to update has been modified by another client"
            }
        return Refusal(
            .conflict, message, code: "SYNC_CONFLICT",
            details: [
                "resource_type": .string(error.resource.rawValue), "resource_id": .string(error.id),
                "client_version": text(error.clientVersion), "server_version": text(error.serverVersion),
                "conflicting_fields": .array(error.fields.map { .string($0) }),
            ], guidance: "Fetch the latest version and reapply your changes")
    }
}
