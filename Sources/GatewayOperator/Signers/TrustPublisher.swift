// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import GatewayStore
package import GatewaySync
package import Logging
import ServiceLifecycle
import Trust

/// The only writer of the signers in memory: reads `signers.sqlite` at the start and after each change of it.
///
/// Each new set of signers is built aside and replaces the former one as a whole: that of an import or of a certificate that
/// counts at once, that of other requests of calls at a limited pace. A file that cannot be read leaves the former set in use.
package actor TrustPublisher: Service {
    private let folder: String
    private let regimes: [String]
    private let current: CurrentTrust
    private let time: ServiceClock
    private let warnings: SteadyWarnings
    private let logger: Logger
    private let due = AsyncEvent()
    private var opened: (reader: SignerReader, file: FileIdentity?)?
    /// The `SignerReader.version` of the figures.
    private var version: Int64?
    /// The figures of the signers in memory, as long as their file is open.
    private var published: SignerFigures?
    /// Counts and times of the file at the last look at it; nil before the first file.
    private(set) var figures: SignerFigures?
    /// Ends of the stored revocation lists, one of each issuer.
    private(set) var revocations: [RevocationEnd] = []
    /// The `SignerReader.revocationImports` of `revocations`.
    private var revocationImports: [Int64]?
    /// The generation of the file at the start, until the decision that may be due then has been made.
    ///
    /// A start with other regimes decides all signers anew, so its rules are no problem of the operator's yet.
    private var undecided: Int64?
    /// The reason why signed calls find no signers, or those of an earlier time; nil normally.
    private(set) var problem: String?
    private var pace = SnapshotPace()
    /// True while calls have brought signers that are not in memory yet.
    private var isBehind = false
    /// The time before which a file that cannot be read is left alone, by the steady clock.
    private var retryAt = Int64.min

    /// Time between two looks at the file.
    private static let pause = Duration.seconds(1)
    /// The shortest time between two sets of signers.
    private static let spacing = Duration.milliseconds(100)
    /// Seconds until the next look at a file that cannot be read.
    private static let retry: Int64 = 10

    /// Reads the signers, so that the first call finds them; a missing file is no error.
    ///
    /// Blocks for the disk.
    /// - Parameters:
    ///   - folder: the state folder.
    ///   - regimes: the names of the configured regimes in their order.
    ///   - current: gets the signers.
    package init(
        folder: String, regimes: [String], current: CurrentTrust, time: ServiceClock = .system, logger: Logger
    ) {
        self.folder = folder
        self.regimes = regimes
        self.current = current
        self.time = time
        self.logger = logger
        warnings = SteadyWarnings(time: time, logger: logger)
        do {
            let file = FileIdentity(HeraldDatabase.signersPath(in: folder))
            let reader = try SignerReader(folder: folder)
            let present = try reader.present()
            current.store(present.signers)
            (published, figures) = (present.figures, present.figures)
            undecided = present.figures.generation
            opened = (reader, file)
        } catch {
            guard error.problem != .missing else {
                logger.debug("no signers of calls are stored yet", metadata: ["file": "\(error.path)"])
                return
            }
            let text = SignerTrouble.unreadable(error, hasSigners: false)
            problem = text
            warnings.log(text)
        }
    }

    /// Whether calls find signers. Any thread.
    nonisolated var hasSigners: Bool { current.load().snapshot.count > 0 }

    /// Follows the file until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.look()
                // Rings of the next 100 ms count as one.
                try? await self.time.sleep(Self.spacing)
                await self.due.wait(Self.pause, time: self.time)
            }
        }
    }

    /// Reports that this process has changed the file. Any thread.
    nonisolated func changed() { due.ring() }

    /// Looks at the file after the decision that was due at the start, whether it was made or not.
    func startIsDecided() async {
        guard undecided != nil else { return }
        undecided = nil
        version = nil
        await look()
    }

    /// Publishes the signers of the file, if they have changed since the last look.
    package func look() async {
        guard time.steady() >= retryAt else { return }
        do {
            guard let reader = try presentReader() else { return }
            let version = try await reader.version()
            guard version != self.version || isBehind else { return }
            let mayBuild = pace.take(at: time.steady())
            let present = try await reader.changes(since: published, mayWait: !mayBuild)
            if let signers = present.signers {
                current.store(signers)
                published = present.figures
            } else if mayBuild {
                pace.giveBack()
            }
            figures = present.figures
            isBehind = published.map { !$0.hasSignersOf(present.figures) } ?? true
            self.version = version
            let imports = try await reader.revocationImports()
            if imports != revocationImports {
                revocations = RevocationEnd.earliest(of: try await reader.authorities().revocationLists)
                revocationImports = imports
            }
            report(present.figures)
        } catch {
            retryAt = time.steady() + Self.retry
            close()
            let text = SignerTrouble.unreadable(error, hasSigners: hasSigners)
            problem = text
            warnings.log(text)
        }
    }

    /// The reader of the present file; nil without one.
    private func presentReader() throws -> SignerReader? {
        let path = HeraldDatabase.signersPath(in: folder)
        if let opened {
            guard FileIdentity.standing(of: opened.file, at: path) == .gone else { return opened.reader }
            close()
        }
        // Before the opening: a file that replaces it meanwhile is found by the next look.
        let file = FileIdentity(path)
        do throws(HeraldDatabaseError) {
            let reader = try SignerReader(folder: folder)
            opened = (reader, file)
            return reader
        } catch {
            guard error.problem == .missing else { throw error }
            return nil
        }
    }

    /// Leaves the file: another one may have the same figures and other signers.
    private func close() {
        opened = nil
        version = nil
        published = nil
        revocationImports = nil
    }

    /// Logs signers that no policy of this gateway may use, or the end of such a problem.
    private func report(_ figures: SignerFigures) {
        let names = DecidedRules(stored: figures.regimes)?.names ?? []
        if names != regimes, figures.generation == undecided { return }
        guard names != regimes, figures.generation > 0 else {
            if problem != nil { logger.notice("signed calls find their signers again") }
            problem = nil
            return
        }
        let stored = names.isEmpty ? "no regime" : names.joined(separator: ", ")
        let own = regimes.joined(separator: ", ")
        let text = """
            the stored signers are decided for \(stored), and this gateway has the regimes \(own): no signed call finds its \
            signer; restart herald, or run herald trust import with its configuration
            """
        problem = text
        warnings.log(text)
    }
}
