// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Dispatch
import Foundation
import GatewayConfiguration
import Host
package import Logging
import Primitives
package import SIPCore

/// The targets that the operator keeps out of service, in a file of the state folder.
///
/// The file names targets and holds nothing else of them. Addresses, weights and health come from the configuration and the
/// network, so that an old file cannot bring back an old address. Any thread; a queue writes the file, never the call path.
package final class DisabledTargets: Sendable {
    /// Bytes of the file above which it is not read.
    private static let mostBytes = 1 << 20

    private let path: String
    private let logger: Logger
    private let queue = DispatchQueue(label: "herald.disabled-targets")

    /// - Parameter folder: the state folder.
    package init(in folder: String, logger: Logger) {
        path = folder + "/disabled-targets"
        self.logger = logger
    }

    /// A registry that keeps the targets of the file out of service, as far as they are configured.
    package func registry(
        of configuration: HeraldConfiguration,
        onChange: @escaping TargetRegistry.Observer = { _, _, _, _ in }
    ) -> TargetRegistry {
        let registry = TargetRegistry(disabled: read(), onChange: onChange)
        forget(registry, unless: configuration)
        let names = registry.disabled.sorted().joined(separator: ", ")
        if !names.isEmpty {
            logger.warning(
                "targets are still out of service by order of the operator; herald targets enable ends that",
                metadata: ["targets": "\(names)"])
        }
        return registry
    }

    /// Stores the names of the registry's disabled targets, after those of earlier calls.
    ///
    /// - Throws: when the file cannot be written; the earlier one remains.
    func store(_ registry: TargetRegistry) async throws(FileReplacementError) {
        let result = await withCheckedContinuation { done in
            queue.async { [path] in
                done.resume(returning: Result { () throws(FileReplacementError) in try Self.write(registry, to: path) })
            }
        }
        try result.get()
    }

    /// Forgets targets that have left the configuration, in the file too, with a line in the log.
    private func forget(_ registry: TargetRegistry, unless configuration: HeraldConfiguration) {
        guard let gone = report(registry.forgetDisabled { configuration.mayHaveTarget(named: $0) }) else { return }
        let result = queue.sync { [path] in
            Result { () throws(FileReplacementError) in try Self.write(registry, to: path) }
        }
        do throws(FileReplacementError) {
            try result.get()
        } catch {
            logger.warning("\(error)", metadata: ["targets": "\(gone)"])
        }
    }

    private func report(_ gone: [String]) -> String? {
        guard !gone.isEmpty else { return nil }
        let names = gone.joined(separator: ", ")
        logger.notice(
            "disabled targets are not configured any more: their order is forgotten, and they take calls once they return",
            metadata: ["targets": "\(names)"])
        return names
    }

    private func read() -> Set<String> {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= Self.mostBytes,
            let text = String(bytes: bytes, encoding: .utf8)
        else {
            let reason = SystemError.ofReading(path)
            logger.warning(
                """
                \(path) cannot be read: \(reason == SystemError.changed ? "it has another form than Herald writes" : reason); \
                targets that were out of service take calls. Take them out again with herald targets disable
                """)
            return []
        }
        return Set(text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") })
    }

    private static func write(_ registry: TargetRegistry, to path: String) throws(FileReplacementError) {
        let names = registry.disabled.sorted().map { $0 + "\n" }.joined()
        let text = "# Targets out of service by herald targets disable. Herald writes this file.\n" + names
        try FileReplacement.write(Array(text.utf8), to: path, mode: 0o640)
    }
}

extension DisabledTargets {
    /// The part of a reload that forgets targets which have left the configuration.
    package struct Reload: ReloadablePart {
        let targets: DisabledTargets
        let registry: TargetRegistry

        /// - Parameter registry: the targets in use.
        package init(targets: DisabledTargets, registry: TargetRegistry) {
            (self.targets, self.registry) = (targets, registry)
        }

        package func prepare(_ next: HeraldConfiguration) -> (@Sendable () async -> Void)? {
            guard !registry.disabled.isEmpty else { return nil }
            return { targets.forget(registry, unless: next) }
        }
    }
}

extension HeraldConfiguration {
    /// Whether a target of this name can exist: an address of a group, or any address of a group with host names.
    fileprivate func mayHaveTarget(named name: String) -> Bool {
        let groups = trunks.map { ("trunk \($0.name) ", $0.targets) } + pbx.map { ("pbx \($0.name) ", $0.targets) }
        return groups.contains { group, targets in
            guard name.hasPrefix(group) else { return false }
            return targets.contains { target in
                guard !target.address.isName else { return true }
                return (try? target.address.peer()).map { name == group + $0.description } ?? false
            }
        }
    }
}
