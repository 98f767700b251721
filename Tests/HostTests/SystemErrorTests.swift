// SPDX-License-Identifier: Apache-2.0

import Foundation
import Host
import Testing

@Suite("What the system refuses, in an operator's words")
struct SystemErrorTests {
    @Test(arguments: [
        (EADDRINUSE, "Address already in use; see who uses it with `ss -ltnp`, or change admin.listen"),
        (
            EADDRNOTAVAIL,
            "Cannot assign requested address; see with `ip address` which ones this machine has, and change admin.listen"
        ),
        (EACCES, "Permission denied; ports below 1024 need CAP_NET_BIND_SERVICE: give it, or change admin.listen"),
        (ENOBUFS, "No buffer space available; change admin.listen"),
    ]) func `an address that cannot be listened on is named with the reason and what to do`(code: Int32, text: String) {
        let refusal = ListenRefusal(.tcp, host: "::1", port: 9470, code: code, key: "admin.listen")
        #expect(refusal.description == "cannot listen on TCP [::1]:9470: \(text)")
    }

    @Test func `what uses a UDP port is looked for among UDP ports`() {
        let refusal = ListenRefusal(.udp, host: "127.0.0.1", port: 5060, code: EADDRINUSE, key: "listen.address")
        #expect(refusal.description.contains("UDP 127.0.0.1:5060") && refusal.description.contains("`ss -lunp`"))
    }

    @Test func `what Foundation throws becomes the system's words`() {
        let error = #expect(throws: (any Error).self) {
            try FileManager.default.createDirectory(
                atPath: "/dev/null/state", withIntermediateDirectories: true, attributes: nil)
        }
        #expect(error.flatMap { SystemError.text($0) } == "Not a directory")
        #expect(SystemError.text(CancellationError()) == nil)
    }

    @Test(arguments: [
        ("/nowhere/file", "No such file or directory"), ("/", "Is a directory"), ("/dev/null/file", "Not a directory"),
    ]) func `a file that cannot be read says why`(path: String, text: String) {
        #expect(SystemError.ofReading(path) == text)
    }
}
