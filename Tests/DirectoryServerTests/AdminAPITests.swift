// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

/// A directory with an admin key, asked as the operator asks it.
struct Operator: Sendable {
    let directory: RunningDirectory
    let key: String

    /// Runs a server and makes an admin key for as long as `body` takes.
    static func run(
        logos: Bool = false, edit: (inout DirectoryServer.Options) -> Void = { _ in },
        _ body: @escaping @Sendable (Operator) async throws -> Void
    ) async throws {
        try await RunningDirectory.run(logos: logos, edit: edit) { directory in
            let key = try AdminKeys(directory.database).create(name: "portal", now: 1)
            try await body(Operator(directory: directory, key: key))
        }
    }

    func ask(_ path: String, method: String = "GET", _ body: String = "") async throws -> ReceivedResponse {
        try await ask(path, method: method, bytes: Array(body.utf8))
    }

    /// - Parameter type: the media type that the request declares; nil for none.
    func ask(_ path: String, method: String, bytes: [UInt8], type: String? = nil) async throws -> ReceivedResponse {
        try await LoopbackClient.ask(
            RawRequest(
                method: method, path: "/admin/v1/" + path,
                headers: [("X-Admin-Key", key)] + (type.map { [("Content-Type", $0)] } ?? []), body: bytes),
            port: directory.adminPort > 0 ? directory.adminPort : directory.port)
    }
}

extension ReceivedResponse {
    /// The rows of a listing.
    var items: [[String: JSONValue]] {
        guard case .array(let items) = object["items"] else { return [] }
        return items.compactMap { if case .object(let fields) = $0 { fields } else { nil } }
    }

    func texts(_ field: String) -> [String] {
        items.compactMap { if case .string(let text) = $0[field] { text } else { nil } }
    }

    func text(_ field: String) -> String? {
        if case .string(let text) = object[field] { text } else { nil }
    }
}

@Suite("The operator's HTTP API", .timeLimit(.minutes(8)), .bothEngines)
struct AdminAPITests {
    @Test func `without an admin key every request is refused`() async throws {
        try await RunningDirectory.run { directory in
            for path in ["/admin/v1/accounts", "/admin/v1/reports/2026-01"] {
                let response = try await directory.ask(path, headers: ["X-Admin-Key": directory.key])
                #expect(response.status == 403 && response.isEnvelope("admin_disabled"))
            }
        }
    }

    @Test func `an API key opens nothing, and an admin key opens no account`() async throws {
        let waited = Mutex<[Duration]>([])
        try await Operator.run(edit: { $0.pause = { delay in waited.withLock { $0.append(delay) } } }) { admin in
            let wrong = try await admin.directory.ask(
                "/admin/v1/accounts", headers: ["X-Admin-Key": admin.directory.key])
            #expect(wrong.status == 401 && wrong.isEnvelope("unauthorized"))
            let missing = try await admin.directory.ask("/admin/v1/accounts")
            #expect(missing.status == 401)
            let sync = try await admin.directory.ask("/mobile/branding/sync", headers: ["X-API-Key": admin.key])
            #expect(sync.status == 401)
        }
        #expect(waited.withLock { $0 } == [.milliseconds(250)])
    }

    @Test func `wrong keys wait longer each time, a good one never`() async throws {
        let waited = Mutex<[Duration]>([])
        try await Operator.run(edit: { $0.pause = { delay in waited.withLock { $0.append(delay) } } }) { admin in
            for _ in 0..<8 {
                _ = try await admin.directory.ask("/admin/v1/accounts", headers: ["X-Admin-Key": "hda_guess"])
            }
            let good = try await admin.ask("accounts")
            #expect(good.status == 200)
            admin.directory.time.now += 900
            _ = try await admin.directory.ask("/admin/v1/accounts", headers: ["X-Admin-Key": "hda_guess"])
        }
        let milliseconds = [250, 500, 1000, 2000, 4000, 8000, 8000, 8000, 250]
        #expect(waited.withLock { $0 } == milliseconds.map { .milliseconds($0) })
    }

    @Test func `addresses that guess are counted in bounded memory, and few wait at once`() {
        let keys = WrongKeys()
        for number in 0..<2000 { _ = keys.add("192.0.2.\(number)", now: 1) }
        #expect(keys.add("198.51.100.1", now: 1).count > 900)
        #expect(keys.add("198.51.100.1", now: 2000).count == 1)
        #expect((0..<65).map { _ in keys.enter() }.count { $0 } == 64)
        keys.leave()
        #expect(keys.enter())
    }

    @Test func `it can be switched off, or have an address of its own`() async throws {
        try await RunningDirectory.run(edit: { $0.admin = .off }) { directory in
            _ = try AdminKeys(directory.database).create(name: "portal", now: 1)
            let response = try await directory.ask("/admin/v1/accounts")
            #expect(response.status == 404)
        }
        try await Operator.run(edit: { $0.admin = .at(host: "127.0.0.1", port: 0) }) { admin in
            let here = try await admin.ask("accounts")
            #expect(here.status == 200)
            let beside = try await admin.directory.ask("/admin/v1/accounts", headers: ["X-Admin-Key": admin.key])
            #expect(beside.status == 404)
        }
    }

    @Test func `an account and its key are made, changed and closed`() async throws {
        try await Operator.run { admin in
            let made = try await admin.ask("accounts", method: "POST", #"{"name":"acme","cap_this_month":5}"#)
            #expect(made.status == 201 && made.object["cap_this_month"] == .int(5))
            let again = try await admin.ask("accounts", method: "POST", #"{"name":"acme"}"#)
            #expect(again.status == 409 && again.isEnvelope("conflict"))
            let changed = try await admin.ask(
                "accounts/acme", method: "PATCH", #"{"mode":"testing","cap_this_month":-1,"branding_enabled":false}"#)
            #expect(changed.text("mode") == "testing" && changed.object["cap_this_month"] == nil)
            #expect(changed.object["branding_enabled"] == .bool(false))
            let bad = try await admin.ask("accounts/acme", method: "PATCH", #"{"mode":"demo"}"#)
            #expect(bad.status == 400)
            let key = try await admin.ask("accounts/acme/keys", method: "POST", #"{"name":"gateway"}"#)
            #expect(key.status == 201 && key.headers["cache-control"] == "no-store")
            let secret = try #require(key.text("key"))
            let rotated = try await admin.ask(
                "accounts/acme/keys/gateway/rotate", method: "POST", #"{"grace_seconds":60}"#)
            #expect(rotated.text("old_key_ends_at") == "2026-01-01T00:01:00Z")
            let sync = try await admin.directory.ask("/mobile/branding/sync", headers: ["X-API-Key": secret])
            #expect(sync.status == 200)
            let keys = try await admin.ask("accounts/acme/keys")
            #expect(keys.texts("name") == ["gateway", "gateway"] && !keys.text.contains(secret))
            let id = try #require(keys.texts("id").first)
            let revoked = try await admin.ask("accounts/acme/keys/\(id)", method: "DELETE")
            #expect(revoked.status == 200)
            let unknown = try await admin.ask("accounts/acme/keys/\(id)", method: "DELETE")
            #expect(unknown.status == 404)
            let closed = try await admin.ask("accounts/acme/close", method: "POST")
            #expect(closed.text("status") == "closed")
            let all = try await admin.ask("accounts")
            #expect(all.texts("name") == ["main", "acme"])
            let nobody = try await admin.ask("accounts/nobody/keys")
            #expect(nobody.status == 404 && nobody.isEnvelope("not_found"))
        }
    }

    @Test func `brands and numbers are made, changed, paged and taken out of use`() async throws {
        try await Operator.run { admin in
            let made = try await admin.ask("accounts/main/brands", method: "POST", #"{"brand_name":"Acme Bank"}"#)
            #expect(made.status == 201 && made.text("brand_id") == "acme-bank")
            for number in 1...3 {
                let set = try await admin.ask(
                    "accounts/main/numbers/%2B6149157000\(number)", method: "PUT", #"{"brand_id":"acme-bank"}"#)
                #expect(set.status == 200, "\(set.text)")
            }
            let first = try await admin.ask("accounts/main/numbers?limit=2&brand_id=acme-bank&state=active")
            #expect(first.texts("phone_number_e164") == ["+61491570001", "+61491570002"])
            let next = try #require(first.text("next"))
            let second = try await admin.ask("accounts/main/numbers?limit=2&after=" + next)
            #expect(second.texts("phone_number_e164") == ["+61491570003"] && second.text("next") == nil)
            let changed = try await admin.ask(
                "accounts/main/brands/acme-bank", method: "PATCH", #"{"brand_name":"Acme","call_reason":"Hello"}"#)
            #expect(changed.object["numbers"] == .int(3))
            let sync = try await admin.directory.sync()
            #expect(sync.branding.allSatisfy { $0.brandName == "Acme" && $0.callReason == "Hello" })
            let gone = try await admin.ask("accounts/main/numbers/+61491570001", method: "DELETE")
            #expect(gone.object["changed"] == .int(1))
            let many = try await admin.ask(
                "accounts/main/deactivate", method: "POST", #"{"numbers":["+61491570001","+61491570002"]}"#)
            #expect(many.object["changed"] == .int(1))
            let rest = try await admin.ask("accounts/main/deactivate", method: "POST", #"{"brand_ids":["acme-bank"]}"#)
            #expect(rest.object["changed"] == .int(1))
            let both = try await admin.ask("accounts/main/deactivate", method: "POST", "{}")
            #expect(both.status == 400)
            let list = try await admin.ask("accounts/main/brands")
            #expect(list.texts("brand_id") == ["acme-bank"])
        }
    }

    @Test func `a file is taken in with a report by lines, and given back`() async throws {
        try await Operator.run { admin in
            let file = "number,brand_name\n+61491570156,Acme\n0491570157,Acme\n"
            let refused = try await admin.ask("accounts/main/import", method: "POST", file)
            #expect(refused.status == 422 && refused.object["written"] == .bool(false))
            #expect(
                refused.object["problems"]
                    == .array([
                        .object([
                            "line": .int(3), "column": .string("number"),
                            "reason": .string(NumberCell("0491570157").problem(region: nil)),
                        ])
                    ]))
            let trial = try await admin.ask("accounts/main/import?dry_run=true&region=au", method: "POST", file)
            #expect(trial.status == 200 && trial.object["imported"] == .int(2))
            let before = try await admin.directory.sync()
            #expect(before.branding.isEmpty)
            let taken = try await admin.ask("accounts/main/import?region=AU", method: "POST", file)
            #expect(taken.object["imported"] == .int(2) && taken.object["written"] == .bool(true))
            let csv = try await admin.ask("accounts/main/export")
            #expect(csv.headers["content-type"]?.hasPrefix("text/csv") == true)
            let same = try await admin.ask("accounts/main/import?replace=true", method: "POST", csv.text)
            #expect(same.object["unchanged"] == .int(2) && same.object["deactivated"] == .int(0))
            let jsonl = try await admin.ask("accounts/main/export?format=jsonl")
            #expect(jsonl.text.split(separator: "\n").count == 2)
            let both = try await admin.ask("accounts/main/import?replace=true&skip_bad=true", method: "POST", file)
            #expect(both.status == 400)
            let files = try FileManager.default.contentsOfDirectory(atPath: admin.directory.folder.path + "/state")
            #expect(!files.contains { $0.hasSuffix(".part") })
        }
    }

    @Test func `events are found by what they carry, page by page`() async throws {
        try await Operator.run { admin in
            try admin.directory.put("+61491570156")
            for number in 1...5 {
                admin.directory.time.now = ManualTime.start + Int64(number)
                _ = try await admin.directory.report("displayed", key: "displayed:\(number)")
                _ = try await admin.directory.report("call_seen", number: "+61491570199", key: "seen:\(number)")
            }
            let path = "accounts/main/events?"
            var keys: [String] = []
            var after = ""
            repeat {
                let page = try await admin.ask(path + "limit=3" + after)
                keys += page.texts("event_key")
                after = page.text("next").map { "&after=" + $0 } ?? ""
            } while !after.isEmpty
            #expect(keys == (1...5).reversed().flatMap { ["seen:\($0)", "displayed:\($0)"] })
            for (query, count) in [
                ("counted=true", 5), ("counted=false", 5), ("outcome=call_seen", 5), ("number=%2B61491570156", 5),
                ("number=%2B61491570156&outcome=call_seen", 0), ("device_id=nobody", 0),
                ("since=2026-01-01T00:00:04Z", 4), ("until=2026-01-01T00:00:02Z", 2),
            ] {
                let page = try await admin.ask(path + query)
                #expect(page.items.count == count, "\(query)")
            }
            for query in ["counted=maybe", "number=5", "since=yesterday", "limit=0", "after=x"] {
                let page = try await admin.ask(path + query)
                #expect(page.status == 400 && page.isEnvelope("bad_request"), "\(query)")
            }
        }
    }

    @Test func `an upload that a killed server left behind is removed at the next start`() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
        try folder.write([1], to: "state/import-1.part")
        try await RunningDirectory.run(in: folder) { directory in
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/state/import-1.part"))
        }
    }

    @Test func `devices are listed with when they were last seen`() async throws {
        try await Operator.run { admin in
            _ = try await admin.directory.post("/" + APIPath.register, #"{"device_id":"gw-1","platform":"sip"}"#)
            let devices = try await admin.ask("accounts/main/devices")
            #expect(devices.texts("device_id") == ["gw-1"])
            #expect(devices.texts("last_seen_at") == ["2026-01-01T00:00:00Z"])
        }
    }

    @Test func `a method that a path has not is named, and what is not there is 404`() async throws {
        try await Operator.run { admin in
            let method = try await admin.ask("accounts", method: "DELETE")
            #expect(method.status == 405 && method.headers["allow"] == "GET, POST")
            let nothing = try await admin.ask("nothing")
            #expect(nothing.status == 404)
        }
    }
}
