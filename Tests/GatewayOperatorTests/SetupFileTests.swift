// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import GatewayTesting
import Testing

@testable import GatewayOperator

@Suite("The file of a setup")
struct SetupFileTests {
    /// A machine with two interfaces: 203.0.113.0/24 and the default route outside, 192.168.7.0/24 and ULA inside.
    private static let reach = PeerReach(
        resolve: { name async throws(SetupProblem) in
            switch name.host {
            case "sip.carrier.example": return ["203.0.113.5", "203.0.113.6"]
            case "pbx.lan": return ["192.168.7.20"]
            default: throw SetupProblem("no address of \(name.host)")
            }
        },
        own: { host in
            if host.hasPrefix("192.168.7.") { return "192.168.7.10" }
            if host.hasPrefix("fd") { return "fd00::10" }
            return host.contains(":") ? "2001:db8::10" : "198.51.100.10"
        },
        isLocal: { ["198.51.100.10", "192.168.7.10", "127.0.0.1"].contains($0) })

    /// The configuration that options lead to.
    private func load(
        _ change: (inout SetupOptions) -> Void
    ) async throws -> (text: String, configuration: HeraldConfiguration) {
        let folder = try GatewayFolder()
        try folder.put(Array("k3y\n".utf8), in: "api-key")
        var options = SetupOptions(config: folder.configurationPath)
        options.carrier = ["203.0.113.5"]
        (options.pbx, options.country, options.vouches) = ("192.168.7.20", "AU", true)
        options.directory = "none"
        change(&options)
        let values = try await SetupQuestions(options, local: nil, reach: Self.reach, terminal: nil).values()
        let text = SetupFile(values, path: options.config).text
        return (text, try HeraldConfiguration.load(text: text, path: options.config))
    }

    @Test func `two interfaces are two entries of listen, one side each`() async throws {
        let (text, configuration) = try await load { _ in }
        #expect(configuration.listen.map { "\($0.address)" } == ["198.51.100.10:5060", "192.168.7.10:5060"])
        #expect(configuration.trunks[0].listener == 0 && configuration.pbx[0].targets[0].listener == 1)
        #expect(configuration.trunks[0].targets.map { "\($0.address)" } == ["203.0.113.5:5060"])
        #expect(configuration.trunks[0].region == Region("AU") && configuration.trunks[0].isTrusted)
        #expect(configuration.directory == nil && text.contains("\n# directory: {url: "))
        #expect(
            text.split(separator: "\n").allSatisfy { $0.utf8.count <= 120 || $0.contains("/herald-app-") }, "\(text)")
    }

    @Test func `a PBX on this machine is reached from the address towards the carrier`() async throws {
        for pbx in ["127.0.0.1:5080", "192.168.7.10:5060", "198.51.100.10:5080"] {
            let (_, configuration) = try await load { $0.pbx = pbx }
            #expect(configuration.listen.map { "\($0.address)" } == ["198.51.100.10:5060"], "\(pbx)")
        }
        await #expect(
            throws: SetupProblem("--listen: 198.51.100.10:5060 is the PBX's address; write another port, such as 5070")
        ) {
            _ = try await load {
                ($0.pbx, $0.listen) = ("198.51.100.10", "198.51.100.10")
            }
        }
    }

    @Test func `a carrier by name has its addresses as sources and its name as next hop`() async throws {
        let (text, configuration) = try await load { $0.carrier = ["sip.carrier.example"] }
        #expect(configuration.trunks[0].sources.map(\.description) == ["203.0.113.5", "203.0.113.6"])
        #expect(configuration.trunks[0].targets.map { "\($0.address)" } == ["sip.carrier.example"])
        #expect(text.contains("(of sip.carrier.example at the time of setup)"))
        await #expect(throws: SetupProblem("--carrier: no address of other.example")) {
            _ = try await load { $0.carrier = ["other.example"] }
        }
    }

    @Test func `peers of IPv6 and a country that YAML reads as false`() async throws {
        let (text, configuration) = try await load {
            ($0.carrier, $0.pbx, $0.country) = (["2001:db8::/32", "[2001:db8:1::5]:5062"], "[fd00::20]:5080", "Norway")
            $0.vouches = false
        }
        #expect(configuration.listen.map { "\($0.address)" } == ["[2001:db8::10]:5060", "[fd00::10]:5060"])
        #expect(configuration.trunks[0].sources.map(\.description) == ["[2001:db8::]/32"])
        #expect(configuration.trunks[0].targets.map { "\($0.address)" } == ["[2001:db8:1::5]:5062"])
        #expect(configuration.trunks[0].region == Region("NO") && !configuration.trunks[0].isTrusted)
        #expect(text.contains("region: 'NO'"))
    }

    @Test func `a carrier of IPv4 and a PBX of IPv6 get one entry each`() async throws {
        let (_, configuration) = try await load { $0.pbx = "fd00::20" }
        #expect(configuration.listen.map(\.address.isIPv6) == [false, true])
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8088", true, true), ("http://192.168.7.30:8088/", true, true),
            ("http://localhost:8088", true, true), ("http://8.8.8.8", true, false),
            ("https://directory.example", false, false),
        ] as [(String, Bool, Bool)])
    func `a directory without TLS needs copies of its logos`(url: String, copies: Bool, isPrivate: Bool) async throws {
        let (_, configuration) = try await load { $0.directory = url }
        #expect(configuration.directory?.url == (url.hasSuffix("/") ? String(url.dropLast()) : url))
        #expect(configuration.directory?.key.reveal() == "k3y")
        #expect((configuration.logos != nil) == copies)
        #expect(configuration.logos?.listen.host == (copies ? "192.168.7.10" : nil))
        #expect(configuration.logos.map { $0.allowsHTTP && $0.allowsPrivate == isPrivate } ?? true)
        #expect(!configuration.remarks.contains { $0.contains("logos") }, "\(configuration.remarks)")
    }

    @Test func `a key elsewhere is named by its whole path`() async throws {
        let folder = try GatewayFolder()
        try folder.put(Array("other\n".utf8), in: "it's a key")
        let (text, configuration) = try await load {
            ($0.directory, $0.keyFile) = ("https://directory.example", folder.path + "/it's a key")
        }
        #expect(configuration.directory?.key.reveal() == "other")
        #expect(text.contains("api_key_file: '\(folder.path)/it''s a key'"))
    }

    @Test func `README has the file that its own command writes`() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let command = try #require(readme.firstMatch(of: /\n    sudo herald setup (--carrier .*)\n/)).1
        let printed = try #require(readme.firstMatch(of: /```yaml\n(listen:\n(?:.*\n)*?)```/)).1
        let words = command.split(separator: " ").map(String.init)
        func option(_ name: String) -> String? { words.firstIndex(of: name).map { words[$0 + 1] } }
        let (text, written) = try await load {
            $0.carrier = [option("--carrier") ?? ""]
            ($0.nextHop, $0.pbx, $0.listen) = (option("--next-hop"), option("--pbx"), option("--listen"))
            ($0.country, $0.vouches) = (option("--country"), words.contains("--vouches"))
            // The directory of the packages, which the README has installed.
            $0.directory = "http://127.0.0.1:8088"
            // On the README's machine the PBX is behind the same address.
            $0.pbxListen = option("--listen")
        }
        let folder = try GatewayFolder()
        try folder.put(Array("k3y\n".utf8), in: "api-key")
        let shown = try HeraldConfiguration.load(text: String(printed), path: folder.configurationPath)
        #expect(written.listen == shown.listen && written.trunks == shown.trunks && written.pbx == shown.pbx, "\(text)")
        #expect(written.logos == shown.logos && written.directory?.url == shown.directory?.url, "\(text)")
    }
}
