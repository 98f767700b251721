// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewaySync
import TestFixtures
import Testing

@Suite("The device id")
struct DeviceIdentityTests {
    private let folder = TemporaryFolder()

    @Test func `an id is made once and kept`() throws {
        let first = try DeviceIdentity.id(inStateFolder: folder.path + "/new")
        let second = try DeviceIdentity.id(inStateFolder: folder.path + "/new")
        #expect(first == second)
        #expect(UUID(uuidString: first) != nil)
    }

    @Test func `an id the operator wrote is taken as it is`() throws {
        try Data("gateway-7\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/device-id"))
        #expect(try DeviceIdentity.id(inStateFolder: folder.path) == "gateway-7")
    }

    @Test(arguments: ["", "\n", "two words", "a\u{0}b", String(repeating: "a", count: 101)])
    func `a file without an id is refused, not replaced`(content: String) throws {
        let file = URL(fileURLWithPath: folder.path + "/device-id")
        try Data(content.utf8).write(to: file)
        #expect(throws: DeviceIdentityError.self) { try DeviceIdentity.id(inStateFolder: folder.path) }
        #expect(try Data(contentsOf: file) == Data(content.utf8))
    }

    @Test func `a folder that cannot be written says so`() throws {
        let file = folder.path + "/file"
        try Data().write(to: URL(fileURLWithPath: file))
        let error = #expect(throws: DeviceIdentityError.self) { try DeviceIdentity.id(inStateFolder: file) }
        #expect(try #require(error).description.contains(file + "/device-id"))
    }
}
