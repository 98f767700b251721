// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import Host
import Logging
import Primitives

/// Holds the tokens of a client that signs in instead of sending its API key with each request.
///
/// One sign-in or refresh serves all waiting requests. Tokens are refreshed after four fifths of their life. A session
/// that the directory has ended is replaced with the API key: at once, then after 1 min, doubling up to 1 h, until a
/// token is accepted. So the gateway stays out only while the directory refuses the key itself. Failures other than a
/// refusal of the directory keep the tokens, because they may be valid later. Tokens of another key or another
/// directory are not used. Source: api-client-networking, "401 Handling"; mobile-api, "Best Practices".
actor BearerSession {
    /// Requests tokens from the directory.
    struct Source: Sendable {
        /// Requests the first tokens with the API key.
        var signIn: @Sendable () async throws(DirectoryError) -> TokenResponse
        /// Requests new tokens for a refresh token, with one attempt or those of any request.
        var refresh: @Sendable (_ token: String, _ once: Bool) async throws(DirectoryError) -> TokenResponse
    }

    private struct Tokens: Codable, Redacted {
        var device: String
        /// Directory and key that the tokens belong to.
        var account: String
        var access: String
        var refresh: String?
        /// Time of the response in seconds since 1970, and the life of the access token; nil if the directory gave none.
        var since: Int64?
        var life: Int64?

        /// True after four fifths of the life, and where the clock was set to before its beginning.
        func areDue(now: Int64) -> Bool {
            guard let since, let life, life > 0 else { return false }
            return !(0..<max(life * 4 / 5, 1)).contains(now - since)
        }
    }

    private let device: String
    private let account: String
    private let file: String
    private let time: ServiceClock
    private let logger: Logger
    private var tokens: Tokens?
    private var inFlight: Task<Result<String, DirectoryError>, Never>?
    /// Sign-ins since the last accepted token, and the earliest time of the next one by the steady clock.
    private var signIns = (count: 0, next: Int64.min)
    /// The directory's refusal of the API key.
    private var refusal: DirectoryError?
    /// Earliest time of the next refresh of a token that is still valid, by the steady clock.
    private var nextRefresh = Int64.min

    private static let backoff = Backoff(first: .seconds(60), limit: .seconds(3600))
    /// Seconds between two attempts to refresh a token that is still valid.
    private static let refreshPause: Int64 = 30

    /// - Parameter account: names directory and key.
    init(_ settings: BearerSettings, account: String, time: ServiceClock, logger: Logger) {
        device = settings.device.id
        self.account = account
        file = settings.tokenFile
        self.time = time
        self.logger = logger
        let stored = Self.tokens(inFile: file, of: account)
        tokens = stored?.device == device ? stored : nil
    }

    /// Returns the access token of a token file; nil for the file of another directory or key.
    static func storedToken(inFile path: String, account: String) -> String? {
        tokens(inFile: path, of: account)?.access
    }

    private static func tokens(inFile path: String, of account: String) -> Tokens? {
        let stored = FileManager.default.contents(atPath: path).flatMap {
            try? JSONDecoder().decode(Tokens.self, from: $0)
        }
        guard let stored, stored.account == account, isToken(stored.access) else { return nil }
        return stored
    }

    /// Returns the access token, after a sign-in if there is none, and after a refresh if its life is nearly over.
    ///
    /// - Throws: also the refusal of the API key until its next attempt.
    func token(_ source: Source) async throws(DirectoryError) -> String {
        guard let tokens else { return try await signIn(source) }
        guard inFlight != nil || tokens.areDue(now: time.now()) && time.steady() >= nextRefresh else {
            return tokens.access
        }
        guard tokens.refresh != nil else { return tokens.access }
        do throws(DirectoryError) {
            return try await renewed(source, once: true)
        } catch {
            // The old token may be valid for a while; if not, its request reports it.
            nextRefresh = time.steady() + Self.refreshPause
            guard let tokens = self.tokens else { throw error }
            return tokens.access
        }
    }

    /// Returns a token that replaces an expired one. All callers with the same expired token share one request.
    func token(afterExpiryOf expired: String, _ source: Source) async throws(DirectoryError) -> String {
        if let tokens, tokens.access != expired { return tokens.access }
        guard tokens?.refresh != nil else {
            return try await token(afterRefusalOf: expired, "the access token has expired", source)
        }
        return try await renewed(source, once: false)
    }

    /// Returns a token of a new session.
    ///
    /// - Throws: a refusal where the next sign-in has to wait. The old token stays in use for other requests.
    func token(
        afterRefusalOf refused: String, _ message: ServerMessage, _ source: Source
    ) async throws(DirectoryError) -> String {
        if let tokens, tokens.access != refused { return tokens.access }
        if inFlight == nil {
            guard time.steady() >= signIns.next else { throw .unauthorised(status: 401, message: message) }
            report(ended: message)
        }
        return try await signIn(source)
    }

    /// Records that the directory has accepted a token.
    func accepted(_ token: String) {
        guard token == tokens?.access, signIns.count > 0 else { return }
        signIns = (0, .min)
    }

    /// Allows a sign-in at once, for an operator.
    func retry() {
        signIns.next = .min
        nextRefresh = .min
        refusal = nil
    }

    private func signIn(_ source: Source) async throws(DirectoryError) -> String {
        if inFlight == nil, let refusal {
            guard time.steady() >= signIns.next else { throw refusal }
        }
        return try await shared { await self.signInAlone(source) }
    }

    private func renewed(_ source: Source, once: Bool) async throws(DirectoryError) -> String {
        try await shared { await self.refreshAlone(source, once: once) }
    }

    private func shared(
        _ work: @escaping @Sendable () async -> Result<String, DirectoryError>
    ) async throws(DirectoryError) -> String {
        // A task of its own: the cancellation of one caller must not affect the others.
        let task =
            inFlight
            ?? Task {
                let result = await work()
                self.inFlight = nil
                return result
            }
        inFlight = task
        return try await task.value.get()
    }

    /// Refreshes the tokens, or signs in where the directory refuses to refresh them.
    private func refreshAlone(_ source: Source, once: Bool) async -> Result<String, DirectoryError> {
        guard let token = tokens?.refresh else { return await signInAlone(source) }
        do throws(DirectoryError) {
            return .success(try keep(try await source.refresh(token, once)))
        } catch {
            // A refusal of the directory concerns the refresh token. A sign-in does not need it.
            guard let message = error.message, message.isOfContract else { return .failure(Self.passing(error)) }
            guard time.steady() >= signIns.next else {
                return .failure(.unauthorised(status: 401, message: message))
            }
            report(ended: message)
            return await signInAlone(source)
        }
    }

    private func signInAlone(_ source: Source) async -> Result<String, DirectoryError> {
        let hadTokens = tokens != nil
        do throws(DirectoryError) {
            let token = try keep(try await source.signIn())
            // A first sign-in replaces no session: if its tokens are refused, the next sign-in comes at once.
            if hadTokens || refusal != nil { wait() }
            refusal = nil
            return .success(token)
        } catch {
            guard case .unauthorised(_, let message) = error, message.isOfContract else {
                // A first 401 concerns the credentials, whoever sent it (RFC 9110 §15.5.2).
                if case .unauthorised = error, !hadTokens { return .failure(error) }
                return .failure(Self.passing(error))
            }
            wait()
            refusal = error
            tokens = nil
            unlink(file)
            return .failure(error)
        }
    }

    /// Postpones the next sign-in.
    private func wait() {
        signIns.count += 1
        signIns.next = time.steady() + Self.backoff.delay(afterFailures: signIns.count).wholeSeconds
    }

    private func report(ended message: ServerMessage) {
        logger.notice(
            "the directory has ended the session; new tokens are requested with the API key",
            metadata: ["reason": "\(message)"])
    }

    /// Maps a refusal of a token request: it concerns neither the request that needs the token, nor a valid token.
    private static func passing(_ error: DirectoryError) -> DirectoryError {
        guard error.message != nil else { return error }
        return .unavailable(reason: "it issued no token: \(error)", retryAfter: nil)
    }

    private func keep(_ response: TokenResponse) throws(DirectoryError) -> String {
        guard response.success else { throw .badResponse(reason: "its success is false") }
        guard Self.isToken(response.accessToken), response.refreshToken.map(Self.isToken) ?? true else {
            throw .badResponse(reason: "it holds no token that can be sent")
        }
        let next = Tokens(
            device: device, account: account, access: response.accessToken,
            refresh: response.refreshToken ?? tokens?.refresh, since: time.now(),
            life: response.expiresIn.map(Int64.init))
        tokens = next
        do {
            try PrivateFile.write([UInt8](try JSONEncoder().encode(next)), to: file)
        } catch {
            logger.warning(
                "the tokens cannot be kept and hold until the next start", metadata: ["path": "\(file)"])
        }
        return next.access
    }

    /// True if the token can be a header value.
    private static func isToken(_ text: String) -> Bool {
        (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Requests on behalf of the session.
extension DirectoryClient {
    /// The next step after a response to a request with a token.
    private enum TokenRemedy {
        case refresh
        case signIn(ServerMessage)
    }

    /// Makes one attempt with the session's token, or with the API key without a session.
    ///
    /// A refused token costs at most one refresh, one sign-in, and a repetition of the request after each.
    func authorised<Value: Sendable>(
        _ request: DirectoryRequest, _ reading: @escaping DirectoryExchange.Reading<Value>
    ) async throws(DirectoryExchange.Failure) -> Value {
        guard let session, !request.signsIn else { return try await attempt(request, token: nil, reading) }
        let source = tokenSource
        var token = try await Self.failing { () async throws(DirectoryError) in try await session.token(source) }
        var (mayRefresh, maySignIn) = (true, true)
        while true {
            do throws(DirectoryExchange.Failure) {
                let value = try await attempt(request, token: token, reading)
                await session.accepted(token)
                return value
            } catch {
                guard maySignIn, let remedy = Self.remedy(error.error, mayRefresh: mayRefresh) else { throw error }
                let refused = token
                mayRefresh = false
                switch remedy {
                case .refresh:
                    token = try await Self.failing { () async throws(DirectoryError) in
                        try await session.token(afterExpiryOf: refused, source)
                    }
                case .signIn(let message):
                    maySignIn = false
                    token = try await Self.failing { () async throws(DirectoryError) in
                        try await session.token(afterRefusalOf: refused, message, source)
                    }
                }
            }
        }
    }

    /// Allows a sign-in at once, whatever the directory refused before; without a session there is nothing to allow.
    func allowSignIn() async { await session?.retry() }

    /// Returns the step that may make the token acceptable; nil if a token is not the problem.
    private static func remedy(_ error: DirectoryError, mayRefresh: Bool) -> TokenRemedy? {
        guard case .unauthorised(401, let message) = error, message.isOfContract else { return nil }
        switch message.code {
        case AuthenticationCode.accessTokenExpired, AuthenticationCode.mobileTokenExpired:
            return mayRefresh ? .refresh : .signIn(message)
        case AuthenticationCode.invalidSignature: return nil
        default: return .signIn(message)
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

    private var tokenSource: BearerSession.Source {
        BearerSession.Source(
            signIn: { () async throws(DirectoryError) -> TokenResponse in try await self.signIn() },
            refresh: { (token, once) async throws(DirectoryError) -> TokenResponse in
                try await self.tokens(
                    APIPath.refresh, RefreshRequest(refreshToken: token), secret: Concealed(token),
                    attempts: once ? 1 : nil)
            })
    }

    /// Requests the first tokens. A device unknown to the directory is registered and tries once more.
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
}
