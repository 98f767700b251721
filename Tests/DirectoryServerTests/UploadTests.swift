// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryStore
import Foundation
import TestFixtures
import Testing

@Suite("Debug and chunked uploads", .timeLimit(.minutes(8)), .bothEngines)
struct UploadTests {
    private static func upload(
        nonce: String = UUID().uuidString, logs: String = "log", more: String = "", device: String = "gw"
    ) -> String {
        "{\"device_id\":\"\(device)\",\"nonce\":\"\(nonce)\",\"logs\":\"\(logs)\"\(more)}"
    }

    /// A directory with a device `gw` that is asked for an upload.
    private static func run(
        asked: Bool = true, allowsExport: Bool = true,
        _ body: @escaping @Sendable (RunningDirectory) async throws -> Void
    ) async throws {
        try await RunningDirectory.run { directory in
            _ = try await directory.post("/" + APIPath.register, #"{"device_id":"gw","platform":"sip"}"#)
            if asked {
                try DebugRequests(directory.database).request(
                    device: "gw", expires: directory.time.now + 600, allowsExport: allowsExport)
            }
            try await body(directory)
        }
    }

    private static func gates(_ directory: RunningDirectory, device: String = "gw") async throws -> Bool? {
        try await directory.ask("/" + APIPath.sync + "?device_id=\(device)").decoded(SyncResponse.self)
            .config?.debugUI?.requestUpload
    }

    @Test func `a device that is asked uploads once, and the request is closed`() async throws {
        try await Self.run { directory in
            #expect(try await Self.gates(directory) == true)
            #expect(try await Self.gates(directory, device: "other") == false)
            let nonce = UUID().uuidString
            let done = try await directory.post(
                "/" + APIPath.debugUpload, Self.upload(nonce: nonce, more: #","state":{"calls":3}"#))
            #expect(done.status == 200, "\(done.text)")
            #expect(try await Self.gates(directory) == false)
            let again = try await directory.post("/" + APIPath.debugUpload, Self.upload(nonce: nonce))
            #expect(again.status == 409)
            #expect(again.isEnvelope("duplicate_nonce"))
            #expect(try await directory.post("/" + APIPath.debugUpload, Self.upload()).status == 403)
            let stored = try #require(DebugUploads(directory.database).latest(limit: 2).first)
            #expect(stored.logs == "log")
            #expect(stored.state == .object(["calls": .int(3)]))
            #expect(try stored.id == done.decoded(DebugUploadResponse.self).id)
        }
    }

    // The published description: freeform JSON.
    @Test(
        arguments: [
            (#"{"a":[1]}"#, .object(["a": .array([.int(1)])])), ("[1,null]", .array([.int(1), .null])),
            (#""text""#, .string("text")), ("7", .int(7)), ("false", .bool(false)), ("null", nil),
        ] as [(String, JSONValue?)])
    func `the state may be any JSON`(text: String, state: JSONValue?) async throws {
        try await Self.run { directory in
            let done = try await directory.post("/" + APIPath.debugUpload, Self.upload(more: ",\"state\":\(text)"))
            #expect(done.status == 200, "\(done.text)")
            #expect(try DebugUploads(directory.database).newest(of: "gw")?.state == state)
        }
    }

    @Test func `a second request asks for a second upload`() async throws {
        try await Self.run { directory in
            for _ in 0..<2 {
                #expect(try await Self.gates(directory) == true)
                #expect(try await directory.post("/" + APIPath.debugUpload, Self.upload()).status == 200)
                #expect(try await Self.gates(directory) == false)
                try DebugRequests(directory.database).request(device: "gw", expires: directory.time.now + 600)
            }
        }
    }

    @Test func `a device whose name has a blank is asked too`() async throws {
        try await Self.run(asked: false) { directory in
            _ = try await directory.post("/" + APIPath.register, #"{"device_id":"desk 7","platform":"sip"}"#)
            try DebugRequests(directory.database).request(device: "desk 7", expires: directory.time.now + 600)
            #expect(try await Self.gates(directory, device: "desk%207") == true)
        }
    }

    @Test(arguments: ["not asked", "no export", "expired", "unknown device", "withdrawn"])
    func `an upload past a closed gate is refused`(gate: String) async throws {
        try await Self.run(asked: gate != "not asked", allowsExport: gate != "no export") { directory in
            let requests = DebugRequests(directory.database)
            switch gate {
            case "expired": directory.time.now += 600
            case "unknown device": try requests.request(device: nil, expires: directory.time.now + 600)
            case "withdrawn": #expect(try requests.withdraw(device: "gw"))
            default: break
            }
            let response = try await directory.post(
                "/" + APIPath.debugUpload, Self.upload(device: gate == "unknown device" ? "stranger" : "gw"))
            #expect(response.status == 403)
            #expect(response.isEnvelope("upload_not_requested"))
            #expect(try DebugUploads(directory.database).latest(limit: 1).isEmpty)
        }
    }

    @Test func `a request for all devices gets one upload from each`() async throws {
        try await Self.run(asked: false) { directory in
            _ = try await directory.post("/" + APIPath.register, #"{"device_id":"two","platform":"sip"}"#)
            try DebugRequests(directory.database).request(device: nil, expires: directory.time.now + 600)
            for device in ["gw", "two"] {
                #expect(try await Self.gates(directory, device: device) == true)
                #expect(try await directory.post("/" + APIPath.debugUpload, Self.upload(device: device)).status == 200)
                #expect(try await Self.gates(directory, device: device) == false)
            }
        }
    }

    @Test func `too long logs are refused with 413`() async throws {
        try await Self.run { directory in
            let long = String(repeating: "x", count: FieldLimit.debugLogs + 1)
            let response = try await directory.post("/" + APIPath.debugUpload, Self.upload(logs: long))
            #expect(response.status == 413)
            #expect(response.isEnvelope("FILE_TOO_LARGE"))
        }
    }

    private static func start(_ directory: RunningDirectory, size: Int, type: String = "text/plain") async throws
        -> ReceivedResponse
    {
        try await directory.post(
            "/" + APIPath.uploadStart, #"{"filename":"../a.log","total_size":\#(size),"content_type":"\#(type)"}"#)
    }

    private static func chunk(
        _ directory: RunningDirectory, _ id: String, _ number: Int, _ data: [UInt8]
    ) async throws -> ReceivedResponse {
        let text = Data(data).base64EncodedString()
        return try await directory.post(
            "/" + APIPath.uploadChunk,
            #"{"session_id":"\#(id)","chunk_number":\#(number),"chunk_data":"\#(text)"}"#)
    }

    private static func end(_ directory: RunningDirectory, _ id: String) async throws -> ReceivedResponse {
        try await directory.post("/" + APIPath.uploadComplete, #"{"session_id":"\#(id)"}"#)
    }

    @Test func `a file comes in chunks of any order, each as often as the client likes`() async throws {
        try await Self.run { directory in
            let started = try await Self.start(directory, size: 600_000)
            let session = try started.decoded(UploadSession.self)
            #expect(session.chunkSize == 524_288)
            let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let (first, last) = (Array(bytes[..<524_288]), Array(bytes[524_288...]))
            #expect(try await Self.chunk(directory, session.sessionID, 2, last).status == 200)
            let early = try await Self.end(directory, session.sessionID)
            #expect(early.status == 409)
            #expect(early.object["details"] == .object(["missing_chunks": .array([.int(1)])]))
            let progress = try await Self.chunk(directory, session.sessionID, 2, last).decoded(UploadProgress.self)
            #expect(progress.progress == 12.6)
            #expect(try await Self.chunk(directory, session.sessionID, 1, first).status == 200)
            for _ in 0..<2 {
                let file = try await Self.end(directory, session.sessionID).decoded(UploadedFile.self)
                #expect(file == UploadedFile(id: session.sessionID, size: 600_000))
            }
            #expect(try directory.database.uploaded(session.sessionID) == bytes)
            let done = try await directory.post(
                "/" + APIPath.debugUpload, Self.upload(more: #","logs_upload_id":"\#(session.sessionID)""#))
            #expect(done.status == 200, "\(done.text)")
        }
    }

    @Test func `wrong sizes, numbers, types and sessions are refused`() async throws {
        try await Self.run { directory in
            #expect(try await Self.start(directory, size: 50_000_001).isEnvelope("FILE_TOO_LARGE"))
            #expect(try await Self.start(directory, size: 0).isEnvelope("bad_request"))
            #expect(try await Self.start(directory, size: 9, type: "video/mp4").isEnvelope("UNSUPPORTED_FORMAT"))
            let id = try await Self.start(directory, size: 3).decoded(UploadSession.self).sessionID
            #expect(try await Self.chunk(directory, id, 1, [1, 2]).isEnvelope("UPLOAD_CHUNK_MISMATCH"))
            #expect(try await Self.chunk(directory, id, 2, [1, 2, 3]).isEnvelope("UPLOAD_CHUNK_MISMATCH"))
            #expect(try await Self.chunk(directory, "../../directory.sqlite", 1, [1, 2, 3]).status == 404)
            #expect(try await Self.chunk(directory, id, 1, [1, 2, 3]).status == 200)
            #expect(try await Self.end(directory, id).status == 200)
            #expect(try await Self.chunk(directory, id, 1, [4, 5, 6]).isEnvelope("UPLOAD_COMPLETE"))
        }
    }

    @Test func `the disk is bounded, and sessions that are over free space and leave no file`() async throws {
        try await Self.run { directory in
            let id = try await Self.start(directory, size: 3).decoded(UploadSession.self).sessionID
            _ = try await Self.chunk(directory, id, 1, [1, 2, 3])
            for _ in 0..<3 { #expect(try await Self.start(directory, size: 50_000_000).status == 200) }
            let full = try await Self.start(directory, size: 50_000_000)
            #expect(full.status == 429)
            #expect(full.isEnvelope("UPLOAD_QUOTA_EXCEEDED"))
            directory.time.now += 86_400
            #expect(try await Self.end(directory, id).status == 404)
            #expect(try await Self.start(directory, size: 50_000_000).status == 200)
            #expect(!FileManager.default.fileExists(atPath: directory.folder.path + "/state/uploads/" + id))
        }
    }
}
