// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import BrandingAPI
package import CallAccounting
import Foundation
import NIOCore
import NIOHTTP1

/// The sync request.
extension DirectoryClient {
    /// Requests the whole set, or the changes since a cursor, and stages the records in an intake as they arrive.
    ///
    /// - Parameters:
    ///   - cursor: the unchanged `synced_at` of an earlier response; nil for the whole authoritative set.
    ///   - includingInactive: requests numbers that are no longer branded too. The published schema has no such
    ///     entries, so only directories that announce them are asked.
    ///   - validator: of an earlier response to the same request; makes the request conditional.
    ///   - intake: holds the records of a complete response afterwards. Its content is undefined after an error.
    /// - Throws: `badResponse` unless the response is complete and within the contract, `notKept` if the intake fails.
    package func sync(
        since cursor: String?, deviceID: String, includingInactive: Bool = false, validator: SyncValidator? = nil,
        into intake: any BrandIntake
    ) async throws(DirectoryError) -> SyncDelivery {
        var query = [(name: "device_id", value: deviceID)]
        if let cursor {
            query.insert((name: "since", value: cursor), at: 0)
            if includingInactive { query.append((name: "include_inactive", value: "true")) }
        }
        var request = DirectoryRequest(
            path: APIPath.sync, query: query, timeout: settings.syncTimeout, maxBody: settings.syncLimit,
            attempts: settings.attempts, findsMount: true)
        request.headers.append((name: "Accept-Encoding", value: "gzip"))
        if let tag = validator?.tag { request.headers.append((name: "If-None-Match", value: tag)) }
        if let modified = validator?.modified {
            request.headers.append((name: "If-Modified-Since", value: modified))
        }
        request.isConditional = validator != nil
        let (maxBody, state) = (request.maxBody, state)
        return try await perform(request) { response in
            guard response.status != .notModified else { return .unchanged }
            try await intake.restart()
            var records = SyncIntake(into: intake, maxBody: maxBody)
            for try await part in response.body { try await records.take(part) }
            let sync = try await records.finish()
            state.record(sync.config)
            return .delivered(
                sync, tally: records.tally,
                validator: SyncValidator(
                    tag: response.headers.validator("ETag"), modified: response.headers.validator("Last-Modified")))
        }
    }
}

extension HTTPHeaders {
    /// Returns an `ETag` or `Last-Modified` that can be sent back unchanged. Nil if a proxy would not carry it.
    func validator(_ name: String) -> String? {
        guard let text = first(name: name), (1...256).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return text
    }
}
