// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import BrandingAPI
import Foundation
import Host
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import Primitives

/// A request to the directory, without its mount. Prints as its path: bodies may contain tokens.
struct DirectoryRequest: Sendable, Redacted {
    var description: String { path }
    var debugDescription: String { path }

    var path: String
    var query: [(name: String, value: String)] = []
    /// A JSON body makes it a POST.
    var body: Data?
    /// Longest time for the whole exchange, the last byte of the body included.
    var timeout: Duration
    /// Largest body of a 2xx response, in bytes; the reader of the response applies it.
    var maxBody: Int
    var attempts: Int
    /// Headers beside those of every request.
    var headers: [(name: String, value: String)] = []
    /// True if 304 is a valid response.
    var isConditional = false
    /// True if 404 means that the API has another mount, even if this mount worked before.
    var findsMount = false
    /// True for sign-in requests. They carry the API key or no credentials.
    var signsIn = false
    /// A secret of the body that no message may show.
    var secret: Concealed<String>?
}

/// One request on one mount and its complete response.
struct DirectoryExchange: Redacted {
    /// The error, with the facts that decide the next step.
    struct Failure: Error {
        var error: DirectoryError
        /// True for responses and network failures that are worth another attempt.
        var mayRetry = false
        /// True for 404 or 405: the other mount may work.
        var isNothingThere = false
        /// True if the connection failed: the other mount may work. A slow server is slow on both.
        var isNetwork = false

        var isMiss: Bool { isNothingThere || isNetwork }
    }

    let client: HTTPClient
    let settings: DirectorySettings
    let rateLimiter: RequestRateLimiter
    let time: ServiceClock
    /// An access token that replaces the API key.
    var token: String?

    /// Sends the request and reads the response with `reading`, if it is a 2xx, or a 304 to a conditional request.
    func send<Value: Sendable>(
        _ request: DirectoryRequest, mount: DirectoryAddress.Mount, reading: @escaping Reading<Value>
    ) async throws(Failure) -> Value {
        if let wait = rateLimiter.admit(now: time.steady()) {
            let reason = "its limit of requests is used up for the next \(wait.wholeSeconds) s"
            throw Failure(error: .unavailable(reason: reason, retryAfter: wait), mayRetry: true)
        }
        let message = message(for: request, mount: mount)
        // The library's deadline ends with the head of the response. This one covers the body too.
        let result = await within(request.timeout) { () async -> Result<Value, Failure> in
            do throws(Failure) {
                return .success(try await self.exchange(message, request, reading))
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw network("no complete response within \(request.timeout)") }
        return try result.get()
    }

    /// Reads the body of a response. An error ends the exchange.
    typealias Reading<Value> = @Sendable (HTTPClientResponse) async throws -> Value

    private func message(for request: DirectoryRequest, mount: DirectoryAddress.Mount) -> HTTPClientRequest {
        let url = settings.address.url(request.path, mount: mount, query: request.query)
        var message = HTTPClientRequest(url: settings.isPinned ? settings.address.withoutTLS(url) : url)
        message.headers = [
            "Host": settings.address.authority,
            "X-Client-Type": settings.clientType,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "herald/\(settings.version)",
        ]
        if let token {
            message.headers.add(name: "Authorization", value: "Bearer \(token)")
        } else {
            message.headers.add(name: "X-API-Key", value: settings.key.value)
        }
        for (name, value) in request.headers { message.headers.replaceOrAdd(name: name, value: value) }
        if let body = request.body {
            message.method = .POST
            message.body = .bytes(ByteBuffer(bytes: body))
        }
        if let signing = settings.signing {
            let path = settings.address.path(request.path, mount: mount)
            let signed = signing.headers(
                method: message.method.rawValue, path: path, body: request.body ?? Data(), now: time.now())
            for (name, value) in signed { message.headers.add(name: name, value: value) }
        }
        return message
    }

    private func exchange<Value: Sendable>(
        _ message: HTTPClientRequest, _ request: DirectoryRequest, _ reading: Reading<Value>
    ) async throws(Failure) -> Value {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(message, timeout: TimeAmount(request.timeout))
        } catch {
            var failure = network("\(settings.address.authority): \(await explain(error))")
            failure.isNetwork = !Self.isTimeout(error)
            throw failure
        }
        let isGood = (200..<300).contains(response.status.code)
        let asked = response.headers.first(name: "Retry-After").flatMap { RetryAfter.duration($0, now: time.now()) }
        rateLimiter.record(response.headers, asked: isGood ? nil : asked, now: time.steady(), wall: time.now())
        guard isGood || (request.isConditional && response.status == .notModified) else {
            let body = try? await response.body.collect(upTo: settings.responseLimit)
            guard !Task.isCancelled else { throw network("stopped before the response was complete") }
            throw refusal(
                Int(response.status.code), asked, body.map { Data($0.readableBytesView) } ?? Data(),
                secret: request.secret)
        }
        let value: Value
        do {
            value = try await reading(response)
        } catch let error as DirectoryError {
            // A cancelled body ends like a complete one.
            guard !Task.isCancelled else { throw network("stopped before the response was complete") }
            throw Failure(error: error)
        } catch is NIOTooManyBytesError {
            throw Failure(error: .badResponse(reason: "it is larger than the limit of \(request.maxBody) bytes"))
        } catch {
            throw failure(whileReading: error)
        }
        guard !Task.isCancelled else { throw network("stopped before the response was complete") }
        return value
    }

    /// Maps an error while reading a body: of the connection, the compression, or the reader.
    private func failure(whileReading error: any Error) -> Failure {
        switch error {
        case let error as HTTPParserError where !ConnectionFailure.isEnd(error):
            // The head was HTTP.
            network("the response broke off: its body is no valid HTTP")
        case is HTTPClientError, is HTTPParserError, is ChannelError, is IOError, is CancellationError:
            network("the response broke off: \(describe(error))")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            Failure(error: .badResponse(reason: "its compression is broken or unpacks to too much"))
        default:
            Failure(error: .notKept(reason: describe(error)))
        }
    }

    /// Classifies a response outside 2xx by the next step.
    private func refusal(_ status: Int, _ wait: Duration?, _ body: Data, secret: Concealed<String>?) -> Failure {
        let message = ServerMessage(body) { text in
            clean(secret.map { text.replacing($0.reveal(), with: "<redacted>") } ?? text)
        }
        switch status {
        // A firewall sends 403 too; 401 alone always concerns the credentials (RFC 9110 §15.5.2).
        case 401,
            403 where message.isOfContract:
            return Failure(error: .unauthorised(status: status, message: message))
        case 408, 429, 500, 502, 503, 504:
            return Failure(
                error: .unavailable(reason: "it returned \(message.following(status))", retryAfter: wait),
                mayRetry: true)
        case 500...:
            return Failure(error: .unavailable(reason: "it returned \(message.following(status))", retryAfter: nil))
        case 400...:
            return Failure(
                error: .rejected(status: status, message: message), isNothingThere: status == 404 || status == 405)
        default:
            let hint = "status \(status) is not part of the contract; redirects are not followed, check directory.url"
            return Failure(error: .badResponse(reason: hint))
        }
    }

    private func network(_ reason: String) -> Failure {
        Failure(error: .unavailable(reason: reason, retryAfter: nil), mayRetry: true)
    }

    private static func isTimeout(_ error: any Error) -> Bool {
        switch error as? HTTPClientError {
        case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded, .cancelled: true
        default: error is CancellationError
        }
    }

    /// Describes a failed connection; a certificate that is not accepted, from a handshake that reads it.
    private func explain(_ error: any Error) async -> String {
        guard ConnectionFailure.isOfCertificate(error) else { return describe(error) }
        let problem = await PresentedCertificate.problem(
            at: settings.address, trust: settings.trust, patience: settings.connectTimeout, now: Date())
        return problem ?? describe(error)
    }

    private func describe(_ error: any Error) -> String {
        ConnectionFailure.text(error) ?? clean("\(error)")
    }

    /// Returns the server's text without secrets, in case it has echoed them.
    private func clean(_ text: String) -> String {
        let text = settings.key.redacting(text)
        return ServerText.clean(token.map { text.replacing($0, with: "<redacted>") } ?? text)
    }
}

/// The `Retry-After` header: seconds or a date (RFC 9110 §10.2.3).
enum RetryAfter {
    /// Longest wait that a server can ask for. A wrong clock or a hostile value must not silence the gateway for days.
    static let limit = Duration.seconds(3600)

    static func duration(_ value: String, now: Int64) -> Duration? {
        let text = value.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds($0), limit) } ?? limit
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = formatter.date(from: text) else { return nil }
        return min(.seconds(max(0, Int64(date.timeIntervalSince1970) - now)), limit)
    }
}
