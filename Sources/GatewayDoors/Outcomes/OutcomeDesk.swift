// SPDX-License-Identifier: Apache-2.0

import CallPath
package import ConfigurationFiles
package import Logging
package import NIOCore
package import NIOHTTP1
import NIOPosix
import Synchronization

/// Responds to the reports of calls, counts them, and logs those it rejects. Any thread.
package struct OutcomeDesk: HTTPDesk {
    private let intake: OutcomeIntake
    private let allowed: AllowedClients
    private let counters: OutcomeCounters
    private let rejections: RejectionLog<Rejection>
    private let rates: Rates
    private let now: @Sendable () -> Int64

    /// The cause of a rejected report.
    enum Rejection: CaseIterable {
        case notAllowed, method, path, form, body, rate, notStored, bytes, connections
    }

    /// The reports of each client.
    private final class Rates: Sendable {
        let state: Mutex<SourceRates>
        init(perSecond: Int) { state = Mutex(SourceRates(perSecond: perSecond)) }
    }

    /// - Parameters:
    ///   - allow: the clients whose reports count.
    ///   - rate: reports a second of one client.
    ///   - now: microseconds since 1970.
    package init(
        _ intake: OutcomeIntake, allow: [SourceRange], rate: Int, counters: OutcomeCounters, logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        (self.intake, self.counters, self.now) = (intake, counters, now)
        allowed = AllowedClients(allow)
        rejections = RejectionLog(logger)
        rates = Rates(perSecond: rate)
    }

    /// The path of a plain report, and that of records of FreeSWITCH.
    package static let paths = ["/outcome", "/outcome/freeswitch"]
    package static let loops: any EventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    package static var addressKey: String { "doors.outcomes.listen" }
    /// A record of FreeSWITCH has some 60 kB.
    package static var mostBody: Int { 262_144 }
    package static var escapesRequestLines: Bool { false }

    package func serves(_ client: [UInt8]) -> Bool { allowed.contain(client) }

    package func refusal(
        of head: HTTPRequestHead, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse? {
        guard isAllowed else {
            counters.add(.notAllowed)
            rejections.add(.notAllowed, of: client())
            return .notAllowed
        }
        guard Self.paths.contains(Self.path(head)) else { return refuse(.path, client()) }
        guard head.method == .POST else { return refuse(.method, client()) }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        return length > Self.mostBody ? refuse(.tooLarge, client()) : nil
    }

    package func response(
        to head: HTTPRequestHead, body: ByteBuffer, isAllowed: Bool, client: @autoclosure () -> String
    ) -> DoorResponse {
        refuse(.notStored, client())
    }

    package func laterResponse(
        to head: HTTPRequestHead, body: ByteBuffer, from address: [UInt8], client: String, on loop: any EventLoop
    ) -> EventLoopFuture<DoorResponse>? {
        let outcome: StatedOutcome?
        do throws(OutcomeProblem) {
            // The connection keeps no more, so the rest may be missing.
            guard body.readableBytes < Self.mostBody else { throw .tooLarge }
            let time = UInt64(max(0, NIODeadline.now().uptimeNanoseconds / 1000))
            guard rates.state.withLock({ $0.take(address, at: time) }) == .granted else { throw .rate }
            outcome = try read(head, body)
        } catch {
            return loop.makeSucceededFuture(refuse(error, client))
        }
        guard let outcome else {
            counters.add(.ignored)
            return loop.makeSucceededFuture(DoorResponse(.ignored))
        }
        return loop.makeFutureWithTask { await take(outcome, client) }
    }

    private func read(_ head: HTTPRequestHead, _ body: ByteBuffer) throws(OutcomeProblem) -> StatedOutcome? {
        let type = head.headers.first(name: "content-type")?.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        let isJSON = type == "application/json"
        if Self.path(head) == Self.paths[1] {
            guard isJSON else { throw .mediaType }
            return try OutcomeRequest.freeSWITCH(body.readableBytesView, now: now())
        }
        if isJSON { return try OutcomeRequest.json(body.readableBytesView, now: now()) }
        guard type == "application/x-www-form-urlencoded" else { throw .mediaType }
        return try OutcomeRequest.form(body.readableBytesView, now: now())
    }

    private func take(_ outcome: StatedOutcome, _ client: String) async -> DoorResponse {
        do {
            let taken = try await intake.take(outcome)
            switch taken {
            case .ignored: counters.add(.ignored)
            case .known: counters.add(.known)
            case .stored(let report):
                counters.add(report.isShown ? .shown : report.reason == nil ? .matched : .unbranded)
            }
            return DoorResponse(taken)
        } catch {
            return refuse(error, client)
        }
    }

    /// FreeSWITCH appends a query.
    private static func path(_ head: HTTPRequestHead) -> String { String(head.uri.prefix { $0 != "?" }) }

    private func refuse(_ problem: OutcomeProblem, _ client: String) -> DoorResponse {
        let rejection = Rejection(problem)
        counters.add(rejection == .rate ? .limited : rejection == .notStored ? .notStored : .invalid)
        rejections.add(rejection, of: client)
        return DoorResponse(problem)
    }

    package func end() { intake.end() }

    package func refuseBytes(isAllowed: Bool, of client: String) {
        counters.add(isAllowed ? .invalid : .notAllowed)
        rejections.add(isAllowed ? .bytes : .notAllowed, of: client)
    }

    package func refuseConnection(of client: String) {
        counters.add(.crowded)
        rejections.add(.connections, of: client)
    }
}

extension OutcomeDesk.Rejection: RejectionCause {
    init(_ problem: OutcomeProblem) {
        switch problem {
        case .path: self = .path
        case .method: self = .method
        case .mediaType, .tooLarge: self = .form
        case .unreadable, .missing, .invalid: self = .body
        case .rate: self = .rate
        case .notStored: self = .notStored
        }
    }

    var text: String {
        switch self {
        case .notAllowed:
            "a report of a call was rejected (403): doors.outcomes.allow does not list this client; add its address"
        case .method: "a report of a call was rejected (405): its method is not POST; let the client send POST"
        case .path:
            """
            a report of a call was rejected (404): its path is not \(OutcomeDesk.paths.joined(separator: " or ")); correct the \
            URL at the client
            """
        case .form:
            """
            a report of a call was rejected (413 or 415): it needs a Content-Type of JSON or of a form, and less than \
            \(OutcomeDesk.mostBody) bytes; see docs/doors-outcomes.md
            """
        case .body:
            """
            a report of a call was rejected (400): a member is missing or has a value of no use; the response names it, see \
            docs/doors-outcomes.md
            """
        case .rate:
            """
            reports of calls were rejected (429): they were above doors.outcomes.rate; raise it if the PBX has so many calls
            """
        case .notStored:
            """
            a report of a call got 503: the ledger did not store it in time; run herald doctor, and let the PBX send it again
            """
        case .bytes:
            """
            a report of a call was rejected (400): it is no HTTP/1.1 request, or has more than 64 kB of header fields; let the \
            client send plain HTTP
            """
        case .connections:
            """
            a connection for reports of calls was closed: this client has too many open, or all are in use; let it close \
            connections, and see who holds them with `ss -tnp`
            """
        }
    }
}
