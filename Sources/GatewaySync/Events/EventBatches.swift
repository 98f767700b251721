// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import Logging

/// Sends several events in one request, if the remote configuration offers batches.
///
/// Each event of a batch has its own result. If a batch is too large (413), the next ones are smaller. A server without
/// the route (404, 405) or with an unreadable response gets single events for an hour. Source: mobile-api, "Batch
/// Operations".
extension EventSender {
    /// Sends events in batches of the size that the directory accepts.
    ///
    /// Does nothing for a size of 1.
    ///
    /// - Returns: false if the events must be sent singly.
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
            let response = try await client.send(BatchRequest(requests))
            guard response.results.count == sent.count else {
                throw .badResponse(reason: "it has \(response.results.count) results for \(sent.count) operations")
            }
            // In the order of the events: a cap that the last event reached stays reached. Settling has no order.
            for result in response.results where result.isSuccess {
                if let config = result.data?.config { await obey(config, askedAfter: closings) }
            }
            await together(Array(zip(sent, response.results))) { await self.settle($0.0, $0.1) }
        } catch {
            await settle(sent, error)
        }
    }

    /// Handles a batch that was refused as a whole.
    private func settle(_ sent: [PendingEvent], _ error: DirectoryError) async {
        switch error {
        // Only path and size are specific to a batch. A proxy would refuse each single event for any other reason too.
        case .rejected(let status, _) where error.isOfTheWay && ![404, 405, 413].contains(status):
            await together(sent) { await self.postpone($0, error) }
        case .rejected(let status, _):
            limitBatches(status == 404 || status == 405 ? 1 : status == 413 ? sent.count / 2 : nil)
            logger.notice("a batch of events was not taken, they go singly", metadata: ["error": "\(error)"])
            for pending in sent where !isStopping && !hasFailed { await send(pending) }
        case .unauthorised: await together(sent) { await self.postpone($0, refused: error) }
        case .badResponse:
            // The response has no result for any event. Single events have results of their own.
            limitBatches(1)
            await together(sent) { await self.postpone($0, error) }
        case .unavailable, .notKept:
            await together(sent) { await self.postpone($0, error) }
        }
    }

    /// Applies the same step to all events at once. The outbox commits them together.
    private func together<Element: Sendable>(
        _ elements: [Element], _ work: @escaping @Sendable (Element) async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for element in elements { group.addTask { await work(element) } }
        }
    }

    /// Handles the result of one event like a response of its own.
    private func settle(_ pending: PendingEvent, _ result: BatchResponse.Result) async {
        if result.isSuccess {
            var response = result.data ?? EventResponse(success: true)
            response.eventID = response.eventID ?? result.resourceID
            return await settle(pending, taken: response)
        }
        let message =
            result.error.map { ServerMessage($0) { ServerText.clean(client.settings.key.redacting($0)) } } ?? ""
        switch result.statusCode {
        // No meaning defined: a request of its own gets a status.
        case ..<400: await send(pending)
        case 401,
            403 where result.error?.isOfContract == true:
            await postpone(pending, refused: .unauthorised(status: result.statusCode, message: message))
        case 403, 408, 429: await postpone(pending, .unavailable(reason: "\(message)", retryAfter: nil))
        case 400..<500: await refuse(pending, status: result.statusCode, reason: message.description)
        default: await postpone(pending, .unavailable(reason: "\(message)", retryAfter: nil))
        }
    }
}

extension DirectoryClient {
    /// Sends several events once. The outbox repeats those that did not arrive.
    func send(_ batch: BatchRequest) async throws(DirectoryError) -> BatchResponse {
        try decode(BatchResponse.self, await post(APIPath.batch, batch, attempts: 1))
    }
}
