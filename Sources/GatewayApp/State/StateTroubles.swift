// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Logging
import ServiceLifecycle
import Synchronization

/// What is wrong with the gateway's folders and files, each in a sentence with its remedy; calls go on with all of it.
///
/// Any thread. Each trouble is logged when it comes, and all of them every ten minutes.
final class StateTroubles: Sendable {
    private let all = Mutex<[String]>([])
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// The troubles there are, in the order they came.
    var texts: [String] { all.withLock { $0 } }

    /// Notes a trouble that lasts until the next start, and logs it where it is new.
    func add(_ text: String) {
        let isNew = all.withLock { all in
            guard !all.contains(text) else { return false }
            all.append(text)
            return true
        }
        if isNew { logger.error("\(text)") }
    }

    /// Logs all of them again.
    func remind() { for text in texts { logger.error("\(text)") } }

    /// Notes what a database did at its opening.
    func add(_ notice: HeraldDatabase.Notice) {
        switch notice {
        case .brandsSetAside(let file):
            // Mended by itself: the next sync brings all of them.
            logger.warning(
                """
                the brand records were set aside and begun anew; calls go on, branded again with the next sync, which is a \
                full one
                """, metadata: ["reason": "\(file.damage)", "kept": "\(file.kept)"])
        case .brandsElsewhere(let problem, let place):
            add(
                """
                the brand records are kept \(place.map { "in \($0)" } ?? "in memory") until the next start: \(problem); \
                then restart herald
                """)
        case .ledgerSetAside(let file):
            add(
                """
                the ledger was damaged and is kept as \(file.kept); a new one was begun, and accounts go on in it; what it held \
                of earlier calls can be read with sqlite3 .recover
                """)
        }
    }
}

/// Looks every few seconds whether the gateway's folders are where they were, and reminds of troubles.
struct StateWatchService: Service {
    let claims: [FolderClaim]
    let secret: GatewaySecret
    let troubles: StateTroubles

    /// Looks between two reminders: ten minutes.
    private static let reminder = 120

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var looks = 0
            while !Task.isCancelled {
                look()
                looks += 1
                if looks.isMultiple(of: Self.reminder) { troubles.remind() }
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }

    /// One look at each folder.
    func look() {
        for claim in claims where !claim.isInPlace {
            troubles.add(
                """
                the folder \(claim.folder) was removed or replaced while herald runs; calls go on, and what another herald would do \
                there is not noticed; put it back and restart herald
                """)
            secret.restore()
        }
    }
}
