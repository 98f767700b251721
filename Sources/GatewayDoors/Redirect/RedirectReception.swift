// SPDX-License-Identifier: Apache-2.0

package import CallPath
import Glibc
import Logging
import NIOCore
import SIPCore
import Synchronization

/// The redirect server, its clients, and how often they may ask.
package struct RedirectRules: Sendable {
    package var door: RedirectDoor
    /// Clients; other sources get 403 at the most.
    package var allowed: AllowedClients
    package var places: NamePlaces
    /// Requests a second of one source.
    package var rate: Int

    package init(door: RedirectDoor, allowed: AllowedClients, places: NamePlaces, rate: Int) {
        (self.door, self.allowed) = (door, allowed)
        (self.places, self.rate) = (places, rate)
    }
}

/// Takes datagrams and decides which ones get a response. Any thread.
final class RedirectReception: Sendable {
    private struct State {
        var rates: SourceRates
        /// Of all senders outside of the list together.
        var unknown = SourceRates(perSecond: RedirectReception.mostRejections)
    }

    /// Responses a second to all senders outside of the list: a source may be forged.
    static let mostRejections = 20

    private let counters: RedirectCounters
    private let rules: RedirectRules
    private let state: Mutex<State>
    private let warnings: RejectionLog<Warning>

    init(_ rules: RedirectRules, counters: RedirectCounters, logger: Logger) {
        state = Mutex(State(rates: SourceRates(perSecond: rules.rate)))
        (self.rules, self.counters, warnings) = (rules, counters, RejectionLog(logger))
    }

    /// The response to a datagram and its destination; nil for none.
    func response(to datagram: [UInt8], from client: SocketAddress) -> (bytes: [UInt8], destination: SocketAddress)? {
        let bytes = AllowedClients.bytes(of: client)
        // Port 0 cannot get a response.
        guard let port = client.port, port != 0, let source = PeerAddress(bytes, port: UInt16(port)) else { return nil }
        // A call has an ACK for each response. It costs its sender nothing of the rate.
        if let event = RedirectEvent(withoutResponse: datagram) {
            counters.add(event)
            return nil
        }
        guard let sender = admit(bytes) else { return nil }
        let (event, reply) = rules.door.response(to: datagram, from: source, as: sender, at: Self.seconds())
        counters.add(event)
        guard let reply else { return nil }
        var destination = client
        destination.port = Int(reply.destination.port)
        return (reply.bytes, destination)
    }

    /// The treatment of a source; nil where its datagram is dropped.
    private func admit(_ source: [UInt8]) -> RedirectDoor.Sender? {
        let now = Self.microseconds()
        guard rules.allowed.contain(source) else {
            warnings.add(.unknownSource, of: source)
            let verdict = state.withLock { $0.unknown.take([], at: now) }
            if verdict != .granted { counters.add(.notAllowed) }
            return verdict == .granted ? .unknown : nil
        }
        switch state.withLock({ $0.rates.take(source, at: now) }) {
        case .granted: return .client(rules.places.place(for: source))
        case .reduced:
            warnings.add(.limit, of: source)
            return .limited
        case .dropped:
            warnings.add(.limit, of: source)
            counters.add(.dropped)
            return nil
        }
    }

    // MARK: Log

    private enum Warning: RejectionCause {
        case unknownSource, limit

        var text: String {
            switch self {
            case .unknownSource:
                "a sender got no name: no range of doors.redirect.allow has its source; add it if it is your client's"
            case .limit:
                "a source sends more requests than doors.redirect.rate allows; raise it if they are your client's"
            }
        }
    }

    // MARK: Clocks

    private static func microseconds() -> UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000 }

    /// Unix time.
    private static func seconds() -> Int64 { Int64(time(nil)) }
}

extension RedirectReception: DatagramReception {
    func countUnsent() { counters.add(.unsent) }
}

extension PeerAddress {
    /// An address from its 4 or 16 bytes in network order; nil for another number of bytes.
    fileprivate init?(_ bytes: [UInt8], port: UInt16) {
        func number(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(number(bytes[...])), port: port)
        case 16: self.init(ipv6High: number(bytes[..<8]), low: number(bytes[8...]), port: port)
        default: return nil
        }
    }
}
