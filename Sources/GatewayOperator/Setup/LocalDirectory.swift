// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewaySync
import Host
import Primitives

/// The branding directory on this machine, as the packages lay it out.
struct LocalDirectory: Sendable {
    /// The name that its key gets.
    static let keyName = "gateway"
    /// The command that revokes it.
    static let revocation = "sudo -u herald herald-directory keys remove \(keyName)"

    /// The URL for a gateway on this machine.
    let url: String
    private let config: String
    private let program: DirectoryProgram
    /// The user that owns the database; nil if it is the user of this process.
    private let owner: String?

    /// The directory whose configuration is in a folder; nil if there is none, or no program.
    init?(besideConfigurationIn folder: String) {
        config = folder + "/herald-directory.yaml"
        guard access(config, F_OK) == 0, let configuration = try? DirectoryConfiguration.load(path: config),
            let program = DirectoryProgram()
        else { return nil }
        self.program = program
        url = configuration.publicURL ?? "http://\(Self.reachable(configuration.listen))"
        let state = try? FileManager.default.attributesOfItem(atPath: configuration.state)
        let isOwn = (state?[.ownerAccountID] as? Int).map { $0 == Int(geteuid()) } ?? true
        owner = isOwn ? nil : state?[.ownerAccountName] as? String
    }

    /// The loopback address in place of one that means every interface.
    private static func reachable(_ listen: EndpointAddress) -> EndpointAddress {
        guard listen.isWildcard else { return listen }
        return EndpointAddress(host: listen.isIPv6 ? "::1" : "127.0.0.1", port: listen.port, isIPv6: listen.isIPv6)
    }

    /// Makes a key for the gateway.
    func makeKey() async throws(CommandFailure) -> String {
        do throws(CommandFailure) {
            return try await program.makeKey(named: Self.keyName, config: config, as: owner)
        } catch {
            let hint =
                error.description.contains("already")
                ? " (\(Self.revocation)); or give a file with its key: --key-file FILE" : ""
            let text = "the directory on this machine makes no key: \(error)\(hint). Nothing was written"
            throw CommandFailure(TerminalText.visible(text))
        }
    }
}
