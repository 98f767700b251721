// SPDX-License-Identifier: Apache-2.0

import Branding
import CLinux
import Foundation
import GatewaySync
import Glibc
import Testing

/// Runs the built `herald` beside the test bundle, as the gateway runs itself.
@Suite("Logo scaler", .timeLimit(.minutes(8)))
struct LogoScalerTests {
    private static let program =
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/herald"

    private var scaler: LogoScaler {
        var scaler = LogoScaler(maxPixels: 1_000_000, maxFile: 65_536)
        scaler.executable = Self.program
        return scaler
    }

    /// One red pixel.
    private static let pixel: [UInt8] = Array(
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")
            ?? Data())

    @Test(arguments: [16, 128, 512]) func `a picture comes back as a square of its own process's making`(
        size: Int
    ) async throws {
        let square = try await scaler.square(Self.pixel, size: size, format: .png)
        let picture = try LogoPicture(square)
        #expect(picture.width == size && picture.height == size)
    }

    @Test func `a picture no decoder takes is an error that says so`() async {
        await #expect(throws: LogoProblem.scaling("it cannot be decoded")) {
            try await scaler.square(Picture.png(), size: 64, format: .png)
        }
    }

    @Test func `more pixels or bytes than allowed are refused by the process too`() async {
        var small = scaler
        small.maxFile = 20
        let narrow = small
        await #expect(throws: LogoProblem.scaling("it is refused")) {
            try await narrow.square(Self.pixel, size: 64, format: .png)
        }
        await #expect(throws: LogoProblem.scaling("it is refused")) {
            try await scaler.square(Picture.png(width: 1001, height: 1000), size: 64, format: .png)
        }
    }

    @Test func `a decoder that dies takes nobody with it`() async {
        var dying = scaler
        dying.executable = "/bin/false"
        let other = dying
        await #expect(throws: LogoProblem.scaling("the decoder ended with 1")) {
            try await other.square(Self.pixel, size: 64, format: .png)
        }
        var silent = scaler
        silent.executable = "/bin/true"
        let mute = silent
        await #expect(throws: LogoProblem.scaling("the result is not usable")) {
            try await mute.square(Self.pixel, size: 64, format: .png)
        }
    }

    @Test func `the decoder's process has no thread but the one that gives up every right`() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let output = open("/dev/null", O_WRONLY | O_CLOEXEC)
        var decoder = pid_t()
        let words = "scale-logo --size 64 --format png --max-pixels 1 --max-file 99".split(separator: " ")
        var arguments = ([Self.program] + words.map(String.init)).map { strdup($0) } + [nil]
        try #require(herald_spawn(Self.program, &arguments, ends[0], output, &decoder) == 0)
        arguments.forEach { free($0) }
        close(output)
        var (byte, unread, status) = (UInt8(0), CInt(1), CInt(0))
        try #require(write(ends[1], &byte, 1) == 1)
        func isRunning() -> Bool { waitpid(decoder, &status, WNOHANG) == 0 }
        // Its end shows too: of a pipe that nobody reads any more, FIONREAD still counts what is in it.
        while unread > 0, isRunning() {
            try #require(ioctl(ends[1], UInt(FIONREAD), &unread) == 0)
            try await Task.sleep(for: .milliseconds(10))
        }
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(decoder)/task")
        #expect(threads.count == 1)
        ends.forEach { close($0) }
        while isRunning() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(status == 65 << 8, "it saw the end of what was written, and is alone at it")
    }

    @Test func `a program that is not there is an error`() async {
        var missing = scaler
        missing.executable = "/nowhere/herald"
        let other = missing
        await #expect(throws: LogoProblem.self) { try await other.square(Self.pixel, size: 64, format: .png) }
    }
}
