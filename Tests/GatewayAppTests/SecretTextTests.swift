// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import SIPCore
import SIPTransport
import ServiceLifecycle
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

/// Prints the objects of a gateway that has every secret there is.
///
/// The logger of a service group prints whole services at the level debug.
@Suite("Secrets of a gateway in texts", .serialized, .timeLimit(.minutes(8)))
struct SecretTextTests {
    private let fixture: StartFixture

    /// Files of the configuration and their secrets.
    private static let files = [
        "api-key": "key-8d1f60b2c4", "signing": "sign-77aa12e9f0", "webhook": "hook-51c3d9b8aa",
        "kafka": "kafka-e4b7720c1d", "ledger": "ledger-39f05d6e21", "hep": "hep-a0934bd7c6",
        "pages": "pages-c27e18f4509ab3d6", "acme": "acme-6b1d0e93f7",
        "cluster": "c1a9f4e07d3b5826c1a9f4e07d3b5827\n0b1c2d3e4f5061728394a5b6c7d8e9fa",
    ]
    /// The gateway's own secret, in its file of the state folder.
    private static let own: [UInt8] = [
        0xD3, 0x91, 0xF7, 0x6A, 0xC5, 0xE2, 0x8B, 0x74, 0xA9, 0xBD, 0x9E, 0xCF, 0x7D, 0xE6, 0xB1, 0xFA,
    ]

    init() async throws {
        fixture = try await StartFixture()
        for (name, secret) in Self.files { try fixture.folder.put(Array(secret.utf8), in: name) }
        try fixture.folder.put(Self.own, in: "state/secret")
    }

    private var text: ConfigurationText {
        let address = fixture.folder.address
        return fixture.folder.sections
            .with(
                "directory",
                "{url: 'http://127.0.0.1:9', api_key_file: api-key, bearer: true, signing: {id: edge, secret_file: signing}}"
            )
            .with("customers", "[{name: acme, directory: {api_key_file: acme}}]")
            .with(
                "outcomes",
                """
                {webhook: {url: 'http://127.0.0.1:9/calls', secret_file: webhook}, kafka: {brokers: ['127.0.0.1:9'], \
                topic: calls, sasl: {mechanism: SCRAM-SHA-512, user: herald, password_file: kafka}}}
                """
            )
            .with(
                "cluster",
                """
                {secret_file: cluster, listen: '\(address):5070', siblings: ['127.85.0.9:5070'], route: '\(address)', \
                ledger: 'postgres://herald@127.0.0.1:9/herald', ledger_password_file: ledger}
                """
            )
            .with("trace", "{hep: {collector: '127.0.0.1:9060', auth_key_file: hep}}")
            .with("admin", "{listen: '\(address):9470', token_file: pages}")
    }

    /// The secrets in every form that a text could have.
    private static var forms: [String] {
        var forms = files.values.flatMap { $0.split(separator: "\n").map(String.init) }
        for line in ["c1a9f4e07d3b5826c1a9f4e07d3b5827", "0b1c2d3e4f5061728394a5b6c7d8e9fa"] {
            for half in [line.prefix(16), line.suffix(16)] { forms.append("\(UInt64(half, radix: 16) ?? 0)") }
        }
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        for half in [own[..<8], own[8...]] {
            forms += ["\(word(half))", String(word(half), radix: 16), String(word(half).byteSwapped)]
        }
        return forms + [Data(own).base64EncodedString()]
    }

    /// Expects none of the secrets in the texts of a value.
    private func expectHidden(_ value: Any, _ name: String) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in ["\(value)", String(describing: value), String(reflecting: value), dumped] {
            for form in Self.forms { #expect(!text.contains(form), "\(name) shows \(form)") }
            // Lists of bytes, in one line or one a line.
            let numbers = text.split { !$0.isNumber }.compactMap { UInt8($0) }
            #expect(!numbers.joinedText.contains(Self.own.joinedText), "\(name) shows the bytes of the secret")
            for secret in Self.files.values {
                #expect(!numbers.joinedText.contains(Array(secret.utf8).joinedText), "\(name) shows bytes of a secret")
            }
        }
    }

    @Test func `no service shows a secret`() async throws {
        let gateway = try await RunningGateway(try fixture.start(text))
        for service in gateway.services { expectHidden(service, "\(type(of: service))") }
        expectHidden(gateway, "RunningGateway")
        gateway.close()
    }

    @Test func `no settings and no part show a secret`() async throws {
        let start = try fixture.start(text)
        expectHidden(start.configuration, "HeraldConfiguration")
        let resources = try await GatewayResources(start)
        let state = try await StoredState(start, resources)
        let callPath = try CallPathParts(start, resources, state)
        let services = try GatewayServices(start, resources, state, callPath)
        let configuration = start.configuration
        let parts: [(Any, String)] = [
            (start, "GatewayStart"), (resources, "GatewayResources"), (resources.secret, "GatewaySecret"),
            (resources.secret.secret, "Secret"), (state, "StoredState"), (callPath, "CallPathParts"),
            (callPath.settings.current.load(), "GatewaySettings"), (services, "GatewayServices"),
            (services.pageReport, "GatewayPageReport"), (services.operatorControl, "OperatorControl"),
            (configuration.cluster?.secret as Any, "cluster secret"),
            (configuration.cluster?.keys as Any, "SiblingKeys"),
            (configuration.cluster?.ledger as Any, "PostgreSQLAddress"),
            (configuration.trace.hep?.exported as Any, "HEPCollector"),
            (try configuration.cluster?.siblingSettings() as Any, "SiblingSettings"),
            (GatewayPages.Access(configuration.pageAccess), "GatewayPages.Access"),
        ]
        for (value, name) in parts { expectHidden(value, name) }
        await resources.transport.streams?.stop()
        try state.database.close()
    }

    @Test func `the group of services logs no secret from start to stop`() async throws {
        let gateway = try await RunningGateway(try fixture.start(text))
        let group = ServiceGroup(
            configuration: .init(services: gateway.services.map { .init(service: $0) }, logger: fixture.log.logger))
        let log = fixture.log
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            while !log.text.contains("ready for calls") { try await Task.sleep(for: .milliseconds(5)) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        gateway.close()
        #expect(log.text.contains("StateWatchService"), "the group names its services at this level")
        expectHidden(log.text, "the log")
    }
}

extension [UInt8] {
    /// The numbers with a comma before and behind each.
    fileprivate var joinedText: String { "," + map { "\($0)" }.joined(separator: ",") + "," }
}
