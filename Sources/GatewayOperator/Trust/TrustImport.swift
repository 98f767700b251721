// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
package import Host
import Primitives
import Trust

/// `herald trust import` and `herald trust remove`: changes of the stored signers, each in one transaction.
///
/// Both work beside a running gateway and beside each other: a change that another one has overtaken begins anew.
package struct TrustImport {
    private let settings: HeraldConfiguration.TrustSettings
    private let folder: String
    /// The time of the decision.
    private let now: Int64
    private let clock: @Sendable () -> Int64

    /// The result of an import.
    struct Outcome {
        var changes: [TrustMerge.Change]
        var unchanged: Int
        var remarks: [String]
        var trust: StoredTrust

        var refused: Int { changes.count { $0.kind == "refused" } }
    }

    /// - Parameters:
    ///   - configuration: has the regimes and the state folder.
    ///   - now: Unix seconds: first of the decision, and later of each announcement.
    /// - Throws: for a configuration without regimes.
    package init(
        _ configuration: HeraldConfiguration,
        now: @escaping @autoclosure @Sendable () -> Int64 = Int64(Date().timeIntervalSince1970)
    ) throws(CommandFailure) {
        self.init(try configuration.trustSettings(), folder: configuration.state, now: now())
    }

    /// - Parameters:
    ///   - folder: the state folder.
    ///   - now: as above.
    init(
        _ settings: HeraldConfiguration.TrustSettings, folder: String, now: @escaping @autoclosure @Sendable () -> Int64
    ) {
        self.settings = settings
        self.folder = folder
        clock = now
        self.now = now()
    }

    /// Takes in files, prints the changes, and fails if a part was refused.
    ///
    /// Without a file the signers are decided anew by the files of the regimes.
    package func run(_ paths: [String], asJSON: Bool) async throws {
        let outcome = try await take(paths)
        try write(outcome, asJSON)
        if outcome.refused > 0 {
            let parts = outcome.refused == 1 ? "1 part was" : "\(outcome.refused) parts were"
            throw CommandFailure("\(parts) refused; everything else is stored")
        }
    }

    /// Removes the signers of an address, a provider code, a number or a row.
    package func remove(_ text: String, asJSON: Bool) async throws {
        try checkNotEmpty()
        let outcome = try await change { merge in
            guard merge.remove(TrustChoice(text)) > 0 else {
                throw CommandFailure(
                    "no stored signer is \(TerminalText.visible(text)): give an address, a provider code or the # of "
                        + "herald trust list")
            }
        }
        try write(outcome, asJSON)
    }

    /// Removes the list of authorities of a regime, so that a list with a lower sequence can be imported.
    package func removeList(of regime: String, asJSON: Bool) async throws {
        try checkNotEmpty()
        let outcome = try await change { merge in
            guard merge.removeList(of: regime) else {
                throw CommandFailure("regime \(TerminalText.visible(regime)) has no stored list of authorities")
            }
            try await merge.decide()
        }
        try write(outcome, asJSON)
    }

    /// A wrong folder must be an error, not a new database.
    private func checkNotEmpty() throws(CommandFailure) {
        guard try StoredTrust.read(folder).generation == 0 else { return }
        throw CommandFailure("\(folder) has no signers yet; herald trust import FILE takes in certificates")
    }

    /// Reads all files first, so that a wrong path changes nothing.
    func take(_ paths: [String]) async throws -> Outcome {
        var material = TrustMaterial()
        for path in paths { try await Self.add(path, to: &material) }
        let taken = material
        return try await change { merge in try await merge.take(taken) }
    }

    /// Takes in a list that a host has sent, by the rules for a file of its regimes.
    ///
    /// - Parameter signer: the fetched certificate of its signer; nil if a stored one has to verify the list.
    /// - Throws: `ListRefusal` for a list that is refused, and then nothing changes.
    func take(
        _ list: FetchedList, of address: ListAddress, signer: TrustMaterial.Chain? = nil
    ) async throws -> Outcome {
        var sources = RegimeSources(settings.regimes)
        sources.add(list, from: address)
        return try await change(by: sources) { merge in
            try await merge.takeLists(of: address.address, signer: signer)
        }
    }

    /// Adds a file, or each member of an archive. A refused archive is an error, so that it changes nothing.
    private static func add(_ path: String, to material: inout TrustMaterial) async throws(CommandFailure) {
        let bytes = try TrustFile.read(path)
        guard let archive = TrustArchive(bytes) else { return material.add(bytes, of: path) }
        do throws(TrustArchive.Refusal) {
            for member in try await archive.members() { material.add(member.bytes, of: "\(path):\(member.name)") }
        } catch {
            throw CommandFailure("\(path) \(error)")
        }
    }

    private func change(_ work: (inout TrustMerge) async throws -> Void) async throws -> Outcome {
        try await change(by: RegimeSources(settings.regimes), work)
    }

    private func change(
        by sources: RegimeSources, _ work: (inout TrustMerge) async throws -> Void
    ) async throws -> Outcome {
        // The next start would replace the file by the one before the restore.
        try CommandFailure.reported { try InterruptedRestore.refuse(in: folder) }
        let path = HeraldDatabase.signersPath(in: folder)
        let former = FileIdentity(path)
        let store = try CommandFailure.reported { try SignerStore(folder: folder) }
        defer { try? store.close() }
        let file = former ?? FileIdentity(path)
        do {
            let outcome = try await change(store, sources, work)
            guard FileIdentity.standing(of: file, at: path) != .gone else {
                throw CommandFailure(
                    "\(path) was replaced meanwhile, such as by herald restore; run the command again")
            }
            return outcome
        } catch {
            try? await store.endImport()
            throw error
        }
    }

    private func change(
        _ store: SignerStore, _ sources: RegimeSources, _ work: (inout TrustMerge) async throws -> Void
    ) async throws -> Outcome {
        while true {
            // Fetched certificates wait, so that no change of the gateway overtakes this one.
            do { try await store.announceImport(at: clock()) } catch { throw CommandFailure("\(error)") }
            let former = try CommandFailure.reported { try store.contents() }
            var merge = TrustMerge(former, sources, settings, at: now)
            try await work(&merge)
            do {
                try await store.replace(former, by: merge.trust)
            } catch is SignerStore.Overtaken {
                continue
            } catch {
                throw CommandFailure("\(error)")
            }
            return Outcome(
                changes: merge.changes, unchanged: merge.unchanged, remarks: sources.remarks, trust: merge.trust)
        }
    }

    // MARK: Output

    private func write(_ outcome: Outcome, _ asJSON: Bool) throws {
        if asJSON {
            for change in outcome.changes {
                try Output.write(json: [
                    "change": .string(change.kind), "subject": .string(change.subject),
                    "detail": .string(change.detail),
                ])
            }
            return
        }
        let changes = self.changes(outcome)
        // The details of the table begin where their title does.
        let title = changes.prefix { $0 != "\n" }
        Output.write(sentences: changes, behind: title.hasSuffix(Self.detail) ? title.count - Self.detail.count : 0)
        Output.write(sentences: sums(outcome), behind: 0)
    }

    /// A line for each change, the remarks, and the sums.
    func text(_ outcome: Outcome) -> String { changes(outcome) + sums(outcome) }

    private static let detail = "DETAIL"

    private func changes(_ outcome: Outcome) -> String {
        var table = TextTable(["CHANGE", "SUBJECT", Self.detail], .wide)
        for change in outcome.changes { table.add([change.kind, change.subject, change.detail]) }
        return outcome.changes.isEmpty ? "nothing changed\n" : table.text
    }

    private func sums(_ outcome: Outcome) -> String {
        var text = outcome.remarks.map { "remark: \(TerminalText.visible($0))\n" }.joined()
        let counts = settings.regimes.enumerated().map { index, regime in
            let good = outcome.trust.signers.count { $0.counts(under: index) }
            return "\(good) count under \(regime.regime.name)"
        }
        text += "\(outcome.trust.signers.count) signers: \(counts.joined(separator: ", "))"
        if outcome.unchanged > 0 { text += "; \(outcome.unchanged) of the files were stored already" }
        return text + "\n"
    }
}
