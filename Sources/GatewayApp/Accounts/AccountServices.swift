// SPDX-License-Identifier: Apache-2.0

import GatewayConfiguration
import GatewayStore
import GatewaySync
import ServiceLifecycle

/// Runs the services of each account until graceful shutdown.
struct AccountServices: Service {
    let added: AsyncStream<ReplaceableServices>

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await services in added.cancelOnGracefulShutdown() {
                group.addTask { try? await services.run() }
            }
        }
    }
}

/// Wakes the senders of customers with due events, once a second.
///
/// One query replaces a query of each sender.
struct CustomerOutboxWatch: Service {
    let database: HeraldDatabase
    let sender: @Sendable (String) -> EventSender?

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let now = ServiceClock.system.now()
                let due = (try? await EventOutboxStore.customersWithDueEvents(in: database, now: now)) ?? []
                for customer in due { sender(customer)?.wake() }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}

/// Reports that customers have neither open calls nor waiting events.
struct LastEvents: Service {
    let customers: [String]
    let reader: LedgerReader
    let onEnd: @Sendable () -> Void
    /// Looks without work before the end: a call is in the ledger a second after its INVITE.
    private static let looks = 5

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var quiet = 0
            while !Task.isCancelled, quiet < Self.looks {
                let isBusy = customers.contains { (try? reader.hasWork(of: $0)) ?? true }
                quiet = isBusy ? 0 : quiet + 1
                try? await Task.sleep(for: .seconds(1))
            }
        }
        onEnd()
        try? await gracefulShutdown()
    }
}
