// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import Logging

/// Several events in one request, where the remote configuration offers it.
///
/// A batch is only a way to travel: each event has its own result, and what a batch cannot do is done singly. A server
/// that finds a batch too large gets smaller ones, one that has no such route (404, 405) or whose answer cannot be read
/// none, for an hour. Source: mobile-api, "Batch Operations".
extension EventSender {
    /// Sends events in batches of the size the directory takes; for a size of 1 nothing is done here.
    ///
    /// - Returns: false if they are to be sent singly.
    func sendTogether(_ events: [PendingEvent]) async -> Bool {
        guard events.count > 1, batchSize > 1 else { return false }
        var rest = events[...]
        while !rest.isEmpty, !isStopping, !hasFailed {
            let chunk = Array(rest.prefix(max(batchSize, 1)))
            rest = rest.dropFirst(chunk.count)
            await sendChunk(chunk)
        }
        return true
    }

    private func sendChunk(_ chunk: [PendingEvent]) async {
        var sent: [PendingEvent] = []
        var requests: [EventRequest] = []
        for pending in chunk {
            guard let request = try? body.request(for: pending.event) else {
                await refuse(pending, status: 0, reason: "the event cannot be written as JSON")
                continue
            }
            sent.append(pending)
            requests.append(request)
        }
        guard sent.count > 1 else {
            for pending in sent { await send(pending) }
            return
        }
        do throws(DirectoryError) {
            let closings = await publisher.closings
            let answer = try await client.send(BatchRequest(requests))
            guard answer.results.count == sent.count else {
                throw .badAnswer(reason: "it has \(answer.results.count) results for \(sent.count) operations")
            }
            // In the order of the events, which are then settled in none: a cap reached by the last one stays reached.
            for result in answer.results where result.isSuccess {
                if let config = result.data?.config { await obey(config, askedAfter: closings) }
            }
            await together(Array(zip(sent, answer.results))) { await self.settle($0.0, $0.1) }
        } catch {
            await settle(sent, error)
        }
    }

    /// Deals with a batch that was not taken as a whole.
    private func settle(_ sent: [PendingEvent], _ error: DirectoryError) async {
        switch error {
        // Only its path and its size may be a batch's own; anything else a proxy would send to each event too.
        case .rejected(let status, _) where error.isOfTheWay && ![404, 405, 413].contains(status):
            await together(sent) { await self.postpone($0, error) }
        case .rejected(let status, _):
            limitBatches(status == 404 || status == 405 ? 1 : status == 413 ? sent.count / 2 : nil)
            logger.notice("a batch of events was not taken, they go singly", metadata: ["error": "\(error)"])
            for pending in sent where !isStopping && !hasFailed { await send(pending) }
        case .unauthorised:
            await publisher.doubtKey()
            await together(sent) { await self.postpone($0, error) }
        case .badAnswer:
            // It says nothing of any event, and would again; sent singly, each is told of by itself.
            limitBatches(1)
            await together(sent) { await self.postpone($0, error) }
        case .unavailable, .notKept:
            await together(sent) { await self.postpone($0, error) }
        }
    }

    /// Does the same to all at once: the outbox stores together what comes together.
    private func together<Element: Sendable>(
        _ elements: [Element], _ work: @escaping @Sendable (Element) async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for element in elements { group.addTask { await work(element) } }
        }
    }

    /// Deals with one operation of a batch as with a request of its own.
    private func settle(_ pending: PendingEvent, _ result: BatchResponse.Result) async {
        if result.isSuccess {
            var answer = result.data ?? EventResponse(success: true)
            answer.eventID = answer.eventID ?? result.resourceID
            return await settle(pending, taken: answer)
        }
        let message =
            result.error.map { ServerMessage($0) { ServerText.clean(client.settings.key.redacting($0)) } } ?? ""
        switch result.statusCode {
        // No word of what it means: as a request of its own it has a status.
        case ..<400: await send(pending)
        case 401,
            403 where result.error?.isOfContract == true:
            await publisher.doubtKey()
            await postpone(pending, .unauthorised(status: result.statusCode, message: message))
        case 403, 408, 429: await postpone(pending, .unavailable(reason: "\(message)", retryAfter: nil))
        case 400..<500: await refuse(pending, status: result.statusCode, reason: message.description)
        default: await postpone(pending, .unavailable(reason: "\(message)", retryAfter: nil))
        }
    }
}

extension DirectoryClient {
    /// Sends several events once; the outbox repeats those that did not arrive.
    func send(_ batch: BatchRequest) async throws(DirectoryError) -> BatchResponse {
        try decode(BatchResponse.self, await post(APIPath.batch, batch, attempts: 1))
    }
}
