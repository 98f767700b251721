// SPDX-License-Identifier: Apache-2.0

import Branding
public import SIPCore
import Synchronization
import Trust

/// A stateless redirect server for INVITEs (RFC 3261 §8.3, §8.2.7).
///
/// An INVITE of a caller with a name gets a 302 with that name, whose Contact is its own Request-URI. Every other INVITE gets a
/// status by which the sender goes on as it would without Herald. No transaction, no timer, no I/O. Any thread.
public final class RedirectDoor: Sendable {
    private let settings: CurrentSettings
    private let names: DoorNames
    private let onward: FailureResponse
    /// Of signatures that were verified; calls have others.
    private let memory = Mutex(TrustMemory())

    /// The status for a caller without a name.
    public enum OnwardStatus: Hashable, Sendable {
        case notFound, serviceUnavailable
    }

    /// The treatment of a sender.
    public enum Sender: Hashable, Sendable {
        /// A client, and the place in which it takes a name.
        case client(Redirection.NamePlace)
        /// A client above its rate: an INVITE gets the response for a caller without a name, if that is no longer than the INVITE.
        case limited
        /// Another sender: 403, if that is no longer than the request.
        case unknown
    }

    /// A response and its destination.
    public struct Reply: Hashable, Sendable {
        public let bytes: [UInt8]
        public let destination: PeerAddress
    }

    /// - Parameters:
    ///   - names: by the rules of the trunk of the door.
    ///   - unnamed: the status for a caller without a name.
    public init(_ settings: CurrentSettings, _ names: DoorNames, unnamed: OnwardStatus = .notFound) {
        OSIPGrammar.start()
        (self.settings, self.names) = (settings, names)
        onward =
            switch unnamed {
            case .notFound: FailureResponse(404, "Not Found")
            case .serviceUnavailable: FailureResponse(503, "Service Unavailable")
            }
    }

    /// The response to a datagram of any content.
    ///
    /// A retransmission gets the same bytes, unless brands or settings have changed.
    ///
    /// - Parameter seconds: Unix time of the arrival.
    public func response(
        to datagram: [UInt8], from source: PeerAddress, as sender: Sender, at seconds: Int64
    ) -> (event: RedirectEvent, reply: Reply?) {
        let settings = settings.load()
        let now = Moment(milliseconds: 0, wallMicroseconds: seconds * 1_000_000)
        do {
            let message = try SIPMessage.index(datagram.span, limits: settings.limits)
            let arrival = Arrival(message: message, flow: Flow(source: source, socket: 0), now: now)
            // RFC 3261 §8.2.7: a stateless server ignores ACK. Two servers would send each other responses for ever.
            guard let method = message.method else { return (.ignored, nil) }
            guard method != .ack else { return (.acknowledged, nil) }
            switch sender {
            case .client(let place): return reply(to: arrival, method, naming: place, settings)
            case .limited: return (.limited, method == .invite ? short(arrival, onward, settings) : nil)
            case .unknown: return (.notAllowed, short(arrival, FailureResponse(403, "Forbidden"), settings))
            }
        } catch {
            guard case .client = sender, let refusal = error.refusal(of: nil),
                let request = MalformedRequest.rejectable(datagram.span)
            else { return (.ignored, nil) }
            let arrival = Arrival(message: request, flow: Flow(source: source, socket: 0), now: now)
            return (.malformed, refuse(arrival, refusal, settings))
        }
    }

    private func reply(
        to arrival: Arrival, _ method: SIPMethod, naming place: Redirection.NamePlace, _ settings: GatewaySettings
    ) -> (RedirectEvent, Reply?) {
        let request = arrival.message
        if let refusal = RequestValidity.formRefusal(of: request) {
            return (.malformed, RequestValidity.allowsResponse(request) ? refuse(arrival, refusal, settings) : nil)
        }
        switch method {
        // RFC 3261 §8.3: a redirect server responds with a 2xx to a well-formed CANCEL.
        case .cancel: return (.cancelled, reply(to: arrival, 200, "OK", nil, settings))
        // RFC 3261 §12.2.2: there is no dialog here.
        case .invite where request.isInDialog, .options where request.isInDialog:
            return (.refused, refuse(arrival, FailureResponse(481, "Call/Transaction Does Not Exist"), settings))
        case .invite: return redirect(arrival, naming: place, settings)
        case .options: return (.options, reply(to: arrival, 200, "OK", Self.allowed, settings))
        default:
            return (.refused, refuse(arrival, FailureResponse(405, "Method Not Allowed", Self.allowed), settings))
        }
    }

    /// RFC 3261 §8.3: options in Require and other header fields that the server does not know are ignored.
    private func redirect(
        _ arrival: Arrival, naming place: Redirection.NamePlace, _ settings: GatewaySettings
    ) -> (RedirectEvent, Reply?) {
        let invite = arrival.message
        guard let target = Redirection.target(of: invite) else {
            return (.unusable, refuse(arrival, onward, settings))
        }
        guard !RedirectMark.isPresent(in: target) else { return (.returned, refuse(arrival, onward, settings)) }
        let seconds = arrival.now.wallMicroseconds / 1_000_000
        switch memory.withLock({ names.naming(invite, settings, at: seconds, with: &$0) }) {
        case .named(let name):
            let redirection = Redirection(naming: name.text, name.caller, in: place)
            return (
                .matched,
                reply(to: arrival, 302, "Moved Temporarily", redirection.fields(for: invite), settings)
            )
        case .unnamed(let reason): return (.unmatched(reason), refuse(arrival, onward, settings))
        }
    }

    private static let allowed = ResponseField.lines(Array("\r\nAllow: INVITE, ACK, CANCEL, OPTIONS".utf8))

    /// A rejection that is no longer than its request: a forged source gains nothing by it.
    private func short(_ arrival: Arrival, _ refusal: FailureResponse, _ settings: GatewaySettings) -> Reply? {
        guard RequestValidity.allowsResponse(arrival.message) else { return nil }
        let reply = refuse(arrival, refusal, settings)
        return reply.bytes.count <= arrival.message.bytes.count ? reply : nil
    }

    private func refuse(_ arrival: Arrival, _ refusal: FailureResponse, _ settings: GatewaySettings) -> Reply {
        reply(to: arrival, refusal.status, refusal.phrase, refusal.field, settings)
    }

    private func reply(
        to arrival: Arrival, _ status: Int, _ phrase: StaticString, _ field: ResponseField?,
        _ settings: GatewaySettings
    ) -> Reply {
        let message = OwnResponse.message(
            to: arrival, status: status, phrase: phrase, field: field, secret: settings.secret)
        return Reply(bytes: message.bytes, destination: message.destination)
    }
}
