// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import GatewaySync
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
        let (decoder, input) = (Process(), Pipe())
        decoder.executableURL = URL(fileURLWithPath: Self.program)
        decoder.arguments = ["scale-logo", "--size", "64", "--format", "png", "--max-pixels", "1", "--max-file", "99"]
        decoder.standardInput = input
        try decoder.run()
        let pipe = input.fileHandleForWriting.fileDescriptor
        try input.fileHandleForWriting.write(contentsOf: [0])
        var unread: CInt = 1
        while decoder.isRunning, unread > 0 {
            try #require(ioctl(pipe, UInt(FIONREAD), &unread) == 0)
            try await Task.sleep(for: .milliseconds(10))
        }
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(decoder.processIdentifier)/task")
        #expect(threads.count == 1)
        try input.fileHandleForWriting.close()
        while decoder.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        #expect(decoder.terminationStatus == 65, "it saw the end of what was written, and is alone at it")
    }

    @Test func `a program that is not there is an error`() async {
        var missing = scaler
        missing.executable = "/nowhere/herald"
        let other = missing
        await #expect(throws: LogoProblem.self) { try await other.square(Self.pixel, size: 64, format: .png) }
    }
}
