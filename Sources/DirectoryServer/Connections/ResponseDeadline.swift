// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOCore

/// Closes the connection of a client that takes too long for one streamed response, and releases its resources.
///
/// `StalledReader` keeps a client that reads a little now and then. It could hold a snapshot of the database for days,
/// and the write-ahead log grows as long.
struct ResponseDeadline: RouterMiddleware {
    typealias Context = KeyedContext

    let longest: TimeAmount
    let logger: Logger

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        // A body of known length holds no snapshot of the database.
        guard response.body.contentLength == nil else { return response }
        let (body, channel, path) = (response.body, context.channel, request.uri.path)
        response.body = ResponseBody { [self] writer in
            let end = begin(on: channel, path: path)
            defer { end.cancel() }
            try await body.write(writer)
        }
        return response
    }

    /// Closes a connection after the timeout, unless cancelled before.
    func begin(on channel: any Channel, path: String) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: longest) { [longest, logger] in
            logger.notice(
                "response cut off: its client took longer than answer_timeout",
                metadata: ["path": "\(path)", "seconds": "\(longest.nanoseconds / 1_000_000_000)"])
            channel.close(promise: nil)
        }
    }
}
