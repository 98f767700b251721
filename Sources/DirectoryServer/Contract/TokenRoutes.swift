// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// `POST mobile/auth/token` behind the key, and `POST mobile/auth/refresh` without one.
struct TokenRoutes: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    func token(_ request: Request, _ context: AccountContext) async throws -> Response {
        guard context.caller.device == nil else {
            throw Refusal(.forbidden, "Tokens are made with the API key, not with a token", code: "key_required")
        }
        let body = try await JSONBody.read(TokenRequest.self, of: request, fields: ["device_id"])
        try FieldCheck.length(body.deviceID, 1...128, "device_id")
        return try JSONBody.response(
            try await DeviceTokens(database).issue(body.deviceID, to: context.caller, now: now()))
    }

    /// The refresh token identifies the caller; if its key signs requests, this request must be signed too.
    func refresh(_ request: Request) async throws -> Response {
        var request = request
        // The caller is not known yet, so the body is limited to the size of a token.
        _ = try await JSONBody.collect(&request, upTo: 4096)
        let body = try await JSONBody.data(of: request, upTo: 4096)
        let asked = try JSONBody.decode(RefreshRequest.self, of: body, fields: ["refresh_token"])
        guard asked.refreshToken.utf8.count <= 200 else { throw TokenError.refreshExpired }
        let tokens = DeviceTokens(database)
        let holder = try await tokens.holder(ofRefresh: asked.refreshToken, now: now())
        try await holder?.signing?.check(&request, now: now())
        return try JSONBody.response(try await tokens.refresh(asked.refreshToken, now: now()))
    }
}
