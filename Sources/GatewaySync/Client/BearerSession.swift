// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import HostFiles
import Logging

/// Holds the tokens of a client that signs in instead of sending its API key with each request.
///
/// One sign-in or refresh serves all waiting requests. A 401 of the directory to a refresh ends the session
/// (`signedOut`): the tokens are removed, every request fails at once as unauthorised, and the next start signs in
/// anew. Any other failure of a refresh keeps the tokens, because they may be valid later. Tokens of another key or
/// another directory are not used. Source: api-client-networking, "401 Handling".
actor BearerSession {
    /// Requests tokens from the directory.
    typealias Source = @Sendable () async throws(DirectoryError) -> TokenResponse

    private enum State {
        case empty
        case signedIn(Tokens)
        case signedOut(ServerMessage)
    }

    private struct Tokens: Codable {
        var device: String
        /// Directory and key that the tokens belong to.
        var account: String
        var access: String
        var refresh: String?
    }

    private let device: String
    private let account: String
    private let file: String
    private let logger: Logger
    private let onSignedOut: @Sendable () async -> Void
    private var state: State
    private var inFlight: Task<Result<String, DirectoryError>, Never>?

    /// - Parameter account: names directory and key.
    init(_ settings: BearerSettings, account: String, logger: Logger) {
        device = settings.device.id
        self.account = account
        file = settings.tokenFile
        onSignedOut = settings.onSignedOut
        self.logger = logger
        let stored = FileManager.default.contents(atPath: file).flatMap {
            try? JSONDecoder().decode(Tokens.self, from: $0)
        }
        if let stored, stored.device == device, stored.account == account, Self.isToken(stored.access) {
            state = .signedIn(stored)
        } else {
            state = .empty
        }
    }

    /// Returns the access token of a token file; nil for the file of another directory or key.
    static func storedToken(inFile path: String, account: String) -> String? {
        let stored = FileManager.default.contents(atPath: path).flatMap {
            try? JSONDecoder().decode(Tokens.self, from: $0)
        }
        guard let stored, stored.account == account, isToken(stored.access) else { return nil }
        return stored.access
    }

    /// Returns the access token, after a sign-in if there is none.
    ///
    /// - Throws: also `unauthorised` while signed out.
    func token(_ signIn: @escaping Source) async throws(DirectoryError) -> String {
        switch state {
        case .signedIn(let tokens): return tokens.access
        case .signedOut(let message): throw .unauthorised(status: 401, message: message)
        case .empty: return try await shared(signIn)
        }
    }

    /// Returns a token that replaces an expired one.
    ///
    /// All callers with the same expired token share one request.
    func token(
        after expired: String,
        _ refresh: @escaping @Sendable (_ token: String) async throws(DirectoryError) -> TokenResponse
    ) async throws(DirectoryError) -> String {
        switch state {
        case .signedIn(let tokens) where tokens.access != expired: return tokens.access
        case .signedIn(let tokens):
            guard let token = tokens.refresh else {
                let message = ServerMessage(text: "the access token has expired and there is none to refresh it")
                await signOut(message)
                throw .unauthorised(status: 401, message: message)
            }
            return try await shared { () async throws(DirectoryError) in try await refresh(token) }
        case .signedOut(let message): throw .unauthorised(status: 401, message: message)
        case .empty: throw .unavailable(reason: "it is being signed in to", retryAfter: nil)
        }
    }

    /// Removes the tokens.
    ///
    /// Every later request fails until the next start.
    func signOut(_ message: ServerMessage) async {
        if case .signedOut = state { return }
        var message = message
        message.guidance =
            "signed out; see that the API key is good and the device registered, then restart herald to sign in again"
        state = .signedOut(message)
        unlink(file)
        logger.error("signed out of the directory, branding stops", metadata: ["reason": "\(message)"])
        await onSignedOut()
    }

    private func shared(_ source: @escaping Source) async throws(DirectoryError) -> String {
        // A task of its own: the cancellation of one caller must not affect the others.
        let task = inFlight ?? Task { await self.take(source) }
        inFlight = task
        return try await task.value.get()
    }

    private func take(_ source: Source) async -> Result<String, DirectoryError> {
        defer { inFlight = nil }
        let wasSignedIn = if case .signedIn = state { true } else { false }
        do throws(DirectoryError) {
            let response = try await source()
            guard response.success else { throw .badResponse(reason: "its success is false") }
            guard Self.isToken(response.accessToken), response.refreshToken.map(Self.isToken) ?? true else {
                throw .badResponse(reason: "it holds no token that can be sent")
            }
            // Signed out meanwhile: a late token does not start the session again.
            if case .signedOut(let message) = state { throw .unauthorised(status: 401, message: message) }
            keep(response)
            return .success(response.accessToken)
        } catch {
            if wasSignedIn, case .unauthorised(401, let message) = error, message.isOfContract {
                await signOut(message)
            }
            guard case .signedOut(let message) = state else {
                return .failure(wasSignedIn ? Self.passing(error) : error)
            }
            return .failure(.unauthorised(status: 401, message: message))
        }
    }

    /// Maps a refusal without a 401 of the directory, such as a proxy's: the token may be valid later.
    private static func passing(_ error: DirectoryError) -> DirectoryError {
        guard error.message != nil else { return error }
        return .unavailable(reason: "the token could not be refreshed: \(error)", retryAfter: nil)
    }

    private func keep(_ response: TokenResponse) {
        var tokens = Tokens(
            device: device, account: account, access: response.accessToken, refresh: response.refreshToken)
        if case .signedIn(let old) = state { tokens.refresh = tokens.refresh ?? old.refresh }
        state = .signedIn(tokens)
        do {
            try PrivateFile.write([UInt8](try JSONEncoder().encode(tokens)), to: file)
        } catch {
            logger.warning(
                "the tokens cannot be kept and hold until the next start", metadata: ["path": "\(file)"])
        }
    }

    /// True if the token can be a header value.
    private static func isToken(_ text: String) -> Bool {
        (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Requests on behalf of the session.
extension DirectoryClient {
    /// Makes one attempt with the session's token, or with the API key without a session.
    func authorised<Value: Sendable>(
        _ request: DirectoryRequest, _ reading: @escaping DirectoryExchange.Reading<Value>
    ) async throws(DirectoryExchange.Failure) -> Value {
        guard let session, !request.signsIn else { return try await attempt(request, token: nil, reading) }
        let token = try await Self.failing { () async throws(DirectoryError) in
            try await session.token { () async throws(DirectoryError) in try await self.signIn() }
        }
        do throws(DirectoryExchange.Failure) {
            return try await attempt(request, token: token, reading)
        } catch {
            guard case .unauthorised(401, let message) = error.error else { throw error }
            switch message.code {
            case AuthenticationCode.accessTokenExpired: break
            case AuthenticationCode.refreshTokenExpired, AuthenticationCode.deviceNotRegistered:
                await session.signOut(message)
                throw error
            default: throw error
            }
        }
        let next = try await Self.failing { () async throws(DirectoryError) in
            try await session.token(after: token) { (token) async throws(DirectoryError) in
                try await self.refresh(token)
            }
        }
        do throws(DirectoryExchange.Failure) {
            return try await attempt(request, token: next, reading)
        } catch {
            if case .unauthorised(401, let message) = error.error, message.isOfContract {
                await session.signOut(message)
            }
            throw error
        }
    }

    private static func failing<Value>(
        _ body: () async throws(DirectoryError) -> Value
    ) async throws(DirectoryExchange.Failure) -> Value {
        do {
            return try await body()
        } catch {
            throw DirectoryExchange.Failure(error: error)
        }
    }

    /// Requests the first tokens.
    ///
    /// A device unknown to the directory is registered and tries once more.
    private func signIn() async throws(DirectoryError) -> TokenResponse {
        guard let bearer = settings.bearer else { throw .badResponse(reason: "no session is configured") }
        let request = TokenRequest(deviceID: bearer.device.id)
        do throws(DirectoryError) {
            return try await tokens(APIPath.token, request)
        } catch {
            guard error.message?.code == AuthenticationCode.deviceNotRegistered else { throw error }
            try await register(bearer.device.registration)
            return try await tokens(APIPath.token, request)
        }
    }

    private func refresh(_ token: String) async throws(DirectoryError) -> TokenResponse {
        try await tokens(APIPath.refresh, RefreshRequest(refreshToken: token), secret: token)
    }
}
