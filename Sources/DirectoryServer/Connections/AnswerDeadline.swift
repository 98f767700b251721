// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOCore

/// Closes the connection of a client that takes too long for one streamed answer, and lets go what the answer holds.
///
/// `StalledReader` keeps a client that takes a little now and then. For days it would hold a state of the database, and
/// for as long the database's log of writes can only grow.
struct AnswerDeadline: RouterMiddleware {
    typealias Context = KeyedContext

    let longest: TimeAmount
    let logger: Logger

    func handle(
        _ request: Request, context: KeyedContext,
        next: @concurrent (Request, KeyedContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        // What is there when its answer begins holds nothing of the database.
        guard response.body.contentLength == nil else { return response }
        let (body, channel, path) = (response.body, context.channel, request.uri.path)
        response.body = ResponseBody { [self] writer in
            let end = begin(on: channel, path: path)
            defer { end.cancel() }
            try await body.write(writer)
        }
        return response
    }

    /// Ends a connection after the longest time, unless that is cancelled before.
    func begin(on channel: any Channel, path: String) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: longest) { [longest, logger] in
            logger.notice(
                "an answer was cut off, because its client took too long for it",
                metadata: ["path": "\(path)", "seconds": "\(longest.nanoseconds / 1_000_000_000)"])
            channel.close(promise: nil)
        }
    }
}
