// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewaySync
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves phones: logos at `/logos/HASH-HxW.ext`, and if enabled, pictures by number and phonebooks.
///
/// The paths of a customer's account begin with `/customers/NAME`. Each account has files of its own.
/// Only `GET` and `HEAD`, and `POST` for the phonebook of snom.
/// It has a port of its own, so that phones cannot reach the admin page. Connections are bounded in number and
/// lifetime. Request bodies are not read. It shares nothing with the call path.
struct LogoServer: Service {
    private let listener: HTTPListener
    private let files: PhoneFiles.OfCustomer
    private let limits: Limits
    private let logger: Logger

    /// Limits of the connections of phones.
    struct Limits: Sendable {
        /// Concurrent connections of all clients, which share them.
        var connections = 256
        /// Time after which every connection is closed.
        var lifetime: Duration = .seconds(30)
    }

    /// Prepares a server.
    ///
    /// The socket is opened by `run`.
    ///
    /// - Parameter files: the files of a customer's account, or those of calls without a customer for nil.
    init(
        _ listener: HTTPListener, files: @escaping PhoneFiles.OfCustomer, limits: Limits = Limits(), logger: Logger
    ) {
        self.listener = listener
        self.files = files
        self.limits = limits
        self.logger = logger
    }

    /// Serves until the service group shuts down.
    ///
    /// - Throws: `ListenRefusal` if the address cannot be bound.
    func run() async throws {
        let connections = FairConnections(limits.connections, key: "logos.listen", logger: logger)
        let lifetime = TimeAmount(limits.lifetime)
        try await listener.serve(logger: logger) { configuration, onRunning, quiet in
            var configuration = configuration
            // Some more are accepted, because one of another client may take a place.
            configuration.availableConnectionsDelegate = MaximumAvailableConnections(
                limits.connections + 16, logger: quiet)
            return Application(
                responder: LogoResponder(files: files),
                server: .http1(
                    configuration: .init(
                        additionalChannelHandlers: [connections.handler(lifetime: lifetime)],
                        idleTimeout: lifetime,
                        httpDecoderConfiguration: .init(
                            maxHeaderFieldSize: 4096, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100))),
                configuration: configuration, onServerRunning: onRunning, logger: quiet)
        }
    }
}

/// The files that one account serves phones.
struct PhoneFiles: Sendable {
    /// Finds the files of a customer's account, or those of calls without a customer for nil.
    typealias OfCustomer = @Sendable (_ customer: String?) -> PhoneFiles?

    let cache: any LogoCache
    let traffic: LogoTraffic
    /// Finds pictures by number at `/pictures/`; nil for none.
    var pictures: NumberPictures?
    /// Makes the files at `/phonebook/`; nil for none.
    var phonebooks: Phonebooks?
}

/// The paths of a customer's files.
enum PhonePaths {
    /// The beginning of the paths, before `/logos/`.
    static func prefix(of customer: String) -> String { "/customers/\(customer)" }

    /// The customer of a path, and the path behind its prefix; nil for a path of calls without a customer.
    static func customer(in path: String) -> (name: String, rest: String)? {
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        guard path.hasPrefix("/customers/"), parts.count == 3 else { return nil }
        return (String(parts[1]), "/" + parts[2])
    }
}

/// Finds the account of a path.
struct LogoResponder: HTTPResponder {
    let files: PhoneFiles.OfCustomer

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        let customer = PhonePaths.customer(in: request.uri.path)
        guard let own = files(customer?.name) else {
            files(nil)?.traffic.countResponse(404)
            return Response(status: .notFound)
        }
        return await AccountRoute(files: own).response(to: request, at: customer?.rest ?? request.uri.path)
    }
}

/// Maps paths of one account to responses.
private struct AccountRoute {
    let files: PhoneFiles

    func response(to request: Request, at path: String) async -> Response {
        let format = files.phonebooks == nil ? nil : Self.rest(of: path, behind: "/phonebook/").flatMap(Self.format)
        guard
            request.method == .get || request.method == .head || request.method == .post && format?.acceptsPost == true
        else {
            return response(.methodNotAllowed, [.allow: "GET, HEAD" + (format?.acceptsPost == true ? ", POST" : "")])
        }
        if let format, let book = await files.phonebooks?.book(format) {
            return content(
                book.bytes, format.contentType, tag: book.etag, lifetime: "no-cache", of: nil, to: request)
        }
        if let name = Self.rest(of: path, behind: "/logos/") {
            return file(String(name), lifetime: "public, max-age=31536000, immutable", to: request)
        }
        if let rest = Self.rest(of: path, behind: "/pictures/"), let name = files.pictures?.file(for: rest) {
            // Another brand may take over the number.
            return file(name, lifetime: "max-age=3600", to: request)
        }
        return response(.notFound)
    }

    private static func rest(of path: String, behind prefix: String) -> Substring? {
        path.hasPrefix(prefix) ? path.dropFirst(prefix.count) : nil
    }

    private static func format(_ name: Substring) -> PhonebookFormat? { PhonebookFormat(rawValue: String(name)) }

    private func file(_ name: String, lifetime: String, to request: Request) -> Response {
        // A small file in the system's cache. Reading it here blocks no call: the call path has threads of its own.
        guard let bytes = files.cache.read(name), let type = Self.contentType(name) else { return response(.notFound) }
        return content(bytes, type, tag: "\"\(name)\"", lifetime: lifetime, of: name, to: request)
    }

    private func content(
        _ bytes: [UInt8], _ type: String, tag: String, lifetime: String, of file: String?, to request: Request
    ) -> Response {
        var headers: HTTPFields = [.eTag: tag, .cacheControl: lifetime]
        if let known = request.headers[.ifNoneMatch], EntityTags.list(known, holds: tag) {
            return response(.notModified, headers, file: file)
        }
        headers[.contentType] = type
        let response = self.response(.ok, headers, file: file, bytes: bytes)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func response(
        _ status: HTTPResponse.Status, _ headers: HTTPFields = [:], file: String? = nil, bytes: [UInt8] = []
    ) -> Response {
        files.traffic.countResponse(status.code, file: file, bytes: bytes.count)
        var headers = headers
        headers[.xContentTypeOptions] = "nosniff"
        guard !bytes.isEmpty else { return Response(status: status, headers: headers) }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func contentType(_ name: String) -> String? {
        switch name.split(separator: ".").last {
        case "png": "image/png"
        case "jpg": "image/jpeg"
        case "bmp": "image/bmp"
        default: nil
        }
    }
}

/// Lists of entity tags (RFC 9110 §13.1.2).
enum EntityTags {
    /// True if the list has the tag, weak or strong, or is `*`.
    static func list(_ list: String, holds tag: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let entry = entry.trimmingPrefix { $0 == " " }
            let end = entry.lastIndex { $0 != " " }.map { entry.index(after: $0) } ?? entry.startIndex
            let word = entry[..<end]
            return word == tag || word == "W/\(tag)" || word == "*"
        }
    }
}
