// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import Logging
import ServiceLifecycle
import Synchronization

/// Problems of the gateway's folders and files, each a sentence with its remedy; none of them stops calls.
///
/// Any thread. Each problem is logged when it appears, and all of them every ten minutes.
final class StateTroubles: Sendable {
    private let all = Mutex<[String]>([])
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// All problems, oldest first.
    var texts: [String] { all.withLock { $0 } }

    /// Adds a problem that lasts until the next start or `end`; logs it if it is new.
    func add(_ text: String) {
        let isNew = all.withLock { all in
            guard !all.contains(text) else { return false }
            all.append(text)
            return true
        }
        if isNew { logger.error("\(text)") }
    }

    /// Removes problems by the beginning of their text, and logs their end if there were any.
    func end(_ beginning: String, _ notice: String) {
        let hadAny = all.withLock { all in
            let before = all.count
            all.removeAll { $0.hasPrefix(beginning + ":") }
            return all.count < before
        }
        if hadAny { logger.notice("\(notice)") }
    }

    /// Logs all problems again.
    func remind() { for text in texts { logger.error("\(text)") } }

    /// Adds what a database did at its opening.
    func add(_ notice: HeraldDatabase.Notice) {
        switch notice {
        case .brandsSetAside(let file):
            // No problem for the operator: the next sync brings all records.
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
        case .brandsReadOnly(let problem):
            add("no sync can change the stored brand records until the next start: \(problem); then restart herald")
        case .ledgerSetAside(let file):
            add(
                """
                the ledger was damaged and is kept as \(file.kept); a new one was begun, and accounts go on in it; its earlier \
                calls can be read with sqlite3 .recover
                """)
        }
    }
}

/// Checks every five seconds that the gateway's folders are in place; repeats the problems every ten minutes.
struct StateWatchService: Service {
    let claims: [FolderClaim]
    let secret: GatewaySecret
    let troubles: StateTroubles

    /// Checks between two reminders: ten minutes.
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

    /// Checks each folder once.
    func look() {
        for claim in claims {
            switch claim.standing {
            case .inPlace:
                troubles.end("the folder \(claim.folder) is closed to herald", "\(claim.folder) is open again")
            case .closed(let code): troubles.add(claim.closed(code))
            case .gone:
                troubles.add(
                    """
                    the folder \(claim.folder) was removed or replaced while herald runs; calls go on, but another herald on \
                    it would go unnoticed; put it back and restart herald
                    """)
                secret.restore()
            }
        }
    }
}
