// SPDX-License-Identifier: Apache-2.0

package import SIPCore

/// The element between trunk and PBX: takes datagrams, tells calls apart, and lets each walk its way.
///
/// Owned by one worker thread; no call into it waits for anything. The walk of an INVITE: here → `SIPMessage.index` →
/// `ProxyTransactions` → `InboundCall` → `CallerIdentity` → `decide` → `Decoration` → `Forwarding`.
package final class SIPGateway: SIPElement {
    let settings: GatewaySettings
    let branding: CurrentBranding
    let counters: GatewayCounters
    let transactions: ProxyTransactions
    let reporter: CallReporter

    /// Builds the element; `signals` is where facts about calls go.
    package init(
        settings: GatewaySettings, branding: CurrentBranding, counters: GatewayCounters, signals: SignalRing,
        now: Moment
    ) {
        OSIPGrammar.start()
        self.settings = settings
        self.branding = branding
        self.counters = counters
        transactions = ProxyTransactions(
            timers: settings.timers, capacity: settings.mostTransactions, now: now)
        reporter = CallReporter(signals: signals, secret: settings.secret)
        transactions.user = self
    }

    package var outgoing: [OutgoingDatagram] {
        get { transactions.outgoing }
        set { transactions.outgoing = newValue }
    }

    package var nextDeadline: UInt64? { transactions.nextDeadline }

    package func fireTimers(at now: Moment) {
        transactions.fireTimers(at: now)
        counters.set(transactions: transactions.count)
    }

    package func note(_ trouble: DatagramTrouble) {
        switch trouble {
        case .truncated: counters.add(.datagramsTruncated)
        case .unsent: counters.add(.datagramsUnsent)
        }
    }

    package func receive(_ datagram: [UInt8], from source: PeerAddress, on socket: Int, at now: Moment) {
        counters.add(.datagramsReceived)
        let message: SIPMessage
        do {
            message = try SIPMessage.index(datagram, limits: settings.limits)
        } catch {
            counters.add(error)
            return
        }
        let arrival = Arrival(message: message, source: source, socket: socket, now: now)
        guard let peer = settings.topology.peer(at: source) else { return meetStranger(arrival) }
        if message.status == nil { receiveRequest(arrival, from: peer) } else { receiveResponse(arrival, from: peer) }
        counters.set(transactions: transactions.count)
    }

    /// A sender that is neither trunk nor PBX: refused or ignored, and counted; its responses lead nowhere.
    private func meetStranger(_ arrival: Arrival) {
        guard settings.strangers == .refuse, let method = arrival.message.method, method != .ack else {
            counters.add(.strangersDropped)
            return
        }
        counters.add(.strangersRefused)
        answer(arrival, Refusal(403, "Forbidden"))
    }
}

/// A message with where, by which socket and when it came.
struct Arrival {
    let message: SIPMessage
    let source: PeerAddress
    let socket: Int
    let now: Moment
}
