// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import GatewaySyncTesting
import Glibc
import LogoScaling
import Subprocess
import SystemPackage
import TestFixtures
import Testing

@testable import GatewaySync

/// Runs the built `herald-scale-logo` beside the test bundle.
@Suite("Logo scaler", .timeLimit(.minutes(8)))
struct LogoScalerTests {
    private static let program =
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/herald-scale-logo"

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
        let square = try await scaler.picture(Self.pixel, as: LogoForm(width: size, height: size, .png))
        let picture = try LogoPicture(square)
        #expect(picture.width == size && picture.height == size)
    }

    @Test(arguments: [
        PictureSample.png, PictureSample.deepPNG, PictureSample.cmykJPEG, PictureSample.webp,
        PictureSample.animatedWebP,
        PictureSample.animatedGIF, PictureSample.avif, PictureSample.turnedAVIF, PictureSample.heic,
        PictureSample.opaqueHEIC,
    ]) func `every format is decoded inside the confinement`(bytes: [UInt8]) async throws {
        for family in [PhoneFamily.snom, .mitel6739] {
            let picture = try LogoPicture(try await scaler.picture(bytes, as: family.form))
            #expect(picture.width == family.form.width && picture.height == family.form.height)
        }
    }

    @Test(arguments: [PictureSample.flatWebP, PictureSample.flatAVIF, PictureSample.flatHEIC])
    func `pixels beyond the limit are refused, and those of a lying container cost a bounded process`(
        bytes: [UInt8]
    ) async {
        await #expect(throws: LogoProblem.scaling("it is too large")) {
            try await scaler.picture(bytes, as: LogoForm(width: 64, height: 64, .png))
        }
        // AVIF is scaled to the declared size by libavif, HEIC is refused; neither takes longer than the limits.
        let start = ContinuousClock.now
        _ = try? await scaler.picture(
            PictureSample.declaring(48, 32, bytes), as: LogoForm(width: 64, height: 64, .png))
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test func `a picture that brings the decoder down is an error of this picture`() async {
        await #expect(throws: LogoProblem.self) {
            try await scaler.picture(PictureSample.circularHEIC, as: LogoForm(width: 64, height: 64, .png))
        }
    }

    @Test func `a picture no decoder takes is an error that says so`() async {
        await #expect(throws: LogoProblem.scaling("it cannot be decoded")) {
            try await scaler.picture(Picture.png(), as: LogoForm(width: 64, height: 64, .png))
        }
    }

    @Test func `more pixels or bytes than allowed are refused by the process too`() async {
        var small = scaler
        small.maxFile = 20
        let narrow = small
        await #expect(throws: LogoProblem.scaling("it is too large")) {
            try await narrow.picture(Self.pixel, as: LogoForm(width: 64, height: 64, .png))
        }
        await #expect(throws: LogoProblem.scaling("it is refused")) {
            try await scaler.picture(Array("<svg/>".utf8), as: LogoForm(width: 64, height: 64, .png))
        }
        await #expect(throws: LogoProblem.scaling("it is too large")) {
            try await scaler.picture(Picture.png(width: 1001, height: 1000), as: LogoForm(width: 64, height: 64, .png))
        }
    }

    @Test func `a decoder that dies takes nobody with it`() async {
        var dying = scaler
        dying.executable = "/bin/false"
        let other = dying
        await #expect(throws: LogoProblem.scaling("the decoder ended with 1")) {
            try await other.picture(Self.pixel, as: LogoForm(width: 64, height: 64, .png))
        }
        var silent = scaler
        silent.executable = "/bin/true"
        let mute = silent
        await #expect(throws: LogoProblem.scaling("the result is not usable")) {
            try await mute.picture(Self.pixel, as: LogoForm(width: 64, height: 64, .png))
        }
    }

    @Test func `the decoder's process has no thread but the one that gives up every right`() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let (input, feed) = (FileDescriptor(rawValue: ends[0]), ends[1])
        let end = try await Subprocess.run(
            .path(FilePath(Self.program)),
            arguments: [
                "--width", "64", "--height", "64", "--format", "png", "--max-pixels", "1", "--max-file", "99",
            ],
            input: .fileDescriptor(input, closeAfterSpawningProcess: false), output: .discarded, error: .discarded
        ) { decoder in
            var (byte, unread) = (UInt8(0), CInt(1))
            try #require(write(feed, &byte, 1) == 1)
            for _ in 0..<3000 where unread > 0 {
                try #require(ioctl(feed, UInt(FIONREAD), &unread) == 0)
                try await Task.sleep(for: .milliseconds(10))
            }
            try #require(unread == 0, "it reads its input")
            let tasks = "/proc/\(decoder.processIdentifier.value)/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: tasks)
            close(feed)
            return threads.count
        }
        #expect(end.closureResult == 1)
        #expect(end.terminationStatus == .exited(69), "it saw the end of what was written, and is alone at it")
    }

    @Test func `the kernel ends the decoder before its parent when memory runs out`() async throws {
        var (input, output): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
        try #require(pipe(&input) == 0 && pipe(&output) == 0)
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (source, sink) = (FileDescriptor(rawValue: input[0]), FileDescriptor(rawValue: output[1]))
        let reader = output[0]
        try #require(write(input[1], Self.pixel, Self.pixel.count) == Self.pixel.count)
        close(input[1])
        let end = try await Subprocess.run(
            .path(FilePath(Self.program)),
            arguments: [
                "--width", "512", "--height", "512", "--format", "bmp", "--max-pixels", "1", "--max-file", "99",
            ],
            input: .fileDescriptor(source, closeAfterSpawningProcess: true),
            output: .fileDescriptor(sink, closeAfterSpawningProcess: true), error: .discarded
        ) { decoder in
            // Nobody reads the result, which is longer than a pipe, so the confined process stays.
            let file = "/proc/\(decoder.processIdentifier.value)/oom_score_adj"
            var score = ""
            for _ in 0..<900 where score != "1000" {
                score = (try? String(contentsOfFile: file, encoding: .utf8))?.trimmingCharacters(in: .newlines) ?? ""
                try await Task.sleep(for: .milliseconds(10))
            }
            close(reader)
            return score
        }
        #expect(end.closureResult == "1000")
    }

    @Test func `the program beside the running one is taken, else the one in libexec`() throws {
        let root = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        for folder in ["bin", "libexec"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        }
        func install(_ folder: String) {
            let path = "\(root)/\(folder)/herald-scale-logo"
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o755]))
        }
        let own = "\(root)/bin/herald"
        #expect(ScaleProgram.installed(beside: own) == "\(root)/bin/herald-scale-logo", "where to install it")
        install("libexec")
        #expect(ScaleProgram.installed(beside: own) == "\(root)/libexec/herald-scale-logo")
        try FileManager.default.createDirectory(
            atPath: "\(root)/libexec/herald-directory", withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: "\(root)/libexec/herald-scale-logo", toPath: "\(root)/libexec/herald-directory/herald-scale-logo")
        #expect(
            ScaleProgram.installed(beside: own) == "\(root)/libexec/herald-directory/herald-scale-logo",
            "the copy of a directory without a gateway")
        install("bin")
        #expect(ScaleProgram.installed(beside: own) == "\(root)/bin/herald-scale-logo")
    }

    @Test func `a program that is not there is an error`() async {
        var missing = scaler
        missing.executable = "/nowhere/herald"
        let other = missing
        await #expect(throws: LogoProblem.self) {
            try await other.picture(Self.pixel, as: LogoForm(width: 64, height: 64, .png))
        }
    }
}
