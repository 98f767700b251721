// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import TestFixtures
import Testing

@testable import ConfigurationFiles

@Suite("Sample files in Config")
struct SampleFileTests {
    private static let folder =
        URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path + "/Config"

    @Test func `the sample is valid and shows the defaults`() throws {
        let sample = try HeraldConfiguration.load(path: Self.folder + "/herald.yaml", secrets: .ignored)
        let plain = try TemporaryFolder().load(smallest)
        #expect(sample.state == plain.state)
        #expect(sample.runtime == plain.runtime)
        #expect("\(sample.branding)" == "\(plain.branding)")
        #expect("\(sample.timers)" == "\(plain.timers)")
        #expect("\(sample.limits)" == "\(plain.limits)")
        #expect("\(sample.health)" == "\(plain.health)")
        #expect(sample.streams == plain.streams)
        #expect(sample.workers == plain.workers && sample.drain == plain.drain)
        #expect(sample.trunks[0].limits == plain.trunks[0].limits)
        #expect(sample.trunks[0].carrierName == plain.trunks[0].carrierName)
        #expect(sample.strangers == plain.strangers)
        #expect(sample.admin == plain.admin)
        #expect(sample.log == plain.log)
        var outcomes = sample.outcomes
        for (word, own) in outcomes.vocabulary { #expect(word == own) }
        outcomes.vocabulary = [:]
        #expect("\(outcomes)" == "\(plain.outcomes)")
        let directory = try #require(sample.directory)
        let usual = HeraldConfiguration.DirectoryAccess(url: directory.url, key: directory.key)
        #expect("\(directory)" == "\(usual)")
    }

    @Test func `the directory's sample is valid and shows the defaults`() throws {
        let sample = try DirectoryConfiguration.load(path: Self.folder + "/herald-directory.yaml")
        #expect("\(sample)" == "\(DirectoryConfiguration())")
    }

    @Test func `the sample explains every key`() throws {
        let text = try String(contentsOfFile: Self.folder + "/herald.yaml", encoding: .utf8)
        let words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }.map(String.init))
        let keys = try knownKeys()
        #expect(keys.count > 50)
        for key in keys where !["api_key", "secret", "token", "auth_key", "password"].contains(key) {
            #expect(words.contains(key + ":"), "Config/herald.yaml does not explain \(key)")
        }
    }

    /// Returns all keys that are requested while a file with every section is read.
    private func knownKeys() throws -> Set<String> {
        let folder = TemporaryFolder()
        let yaml =
            smallest.replacing("- address: 192.0.2.10:5060", with: "- {address: 192.0.2.10:5060, transport: tls}")
            .replacing("[203.0.113.5]", with: "[203.0.113.5]\n    limits: {}\n    targets: [{}]") + """
                gateway: {}
                branding: {}
                directory: {tls: {}, signing: {}, lookup: {}}
                brands: {}
                logos: {}
                outcomes: {vocabulary: {}, subscribers: [{}], voicemail: {}, system: {}, webhook: {}, kafka: {tls: {}, sasl: {}}}
                timers: {}
                limits: {}
                health: {}
                streams: {}
                dns: {}
                admin: {tls: {}}
                log: {}
                trace: {hep: {}}
                cluster: {}
                doors: {names: {}, enum: {zone: a.b}, redirect: {}, verification: {}}
                trust: {regimes: [us], signer: {}}
                customers: [{directory: {}, logos: {}, subscribers: [{}]}]
                routes: {table: [{}]}
                """
        let file = try ConfigurationFile(path: try folder.write(yaml, to: "herald.yaml"), environment: [:])
        var keys: Set<String> = []
        _ = try? file.read { root -> HeraldConfiguration? in
            root.observeKeys { keys.insert($0) }
            return HeraldSchema(file: file, root: root, secrets: .ignored).read()
        }
        return keys
    }
}
