// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// The flags every Swift target is built with.
///
/// Language mode 6 comes with the tools version. The four upcoming features and why they are on:
/// ExistentialAny (SE-0335), MemberImportVisibility (SE-0444), InternalImportsByDefault (SE-0409),
/// NonisolatedNonsendingByDefault (SE-0461).
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    // A newer release of a dependency that deprecates a symbol must not stop anybody's build.
    .treatWarning("DeprecatedDeclaration", as: .warning),
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let atomics = Target.Dependency.product(name: "Atomics", package: "swift-atomics")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioCompression = Target.Dependency.product(name: "NIOHTTPCompression", package: "swift-nio-extras")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "herald",
    products: [
        .executable(name: "herald", targets: ["herald"]),
        .executable(name: "herald-directory", targets: ["herald-directory"]),
        .executable(name: "herald-scale-logo", targets: ["herald-scale-logo"]),
    ],
    // The lower bounds are the versions that were tested (Deploy/versions).
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Of its traits none: they bring Foundation.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // Programs: options and output of commands. GatewayApp and DirectoryServer hold the logic.
        .executableTarget(
            name: "herald",
            dependencies: ["GatewayApp", "ConfigurationFiles", "Branding", arguments],
            exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "herald-directory",
            dependencies: [
                "Branding", "BrandingAPI", "DirectoryServer", "DirectoryStore", "ConfigurationFiles", "HostSystem",
                "LogText", "CSQLite", log, lifecycle, signals, arguments,
            ],
            exclude: ["README.md"],
            swiftSettings: strict),

        .executableTarget(
            name: "herald-scale-logo", dependencies: ["LogoScaling", "Branding", arguments], exclude: ["README.md"],
            swiftSettings: strict),

        // Assembly: settings, start, stop and status of the gateway. It alone sees every edge of the gateway.
        .target(
            name: "GatewayApp",
            dependencies: [
                "SIPCore", "SIPTransport", "Branding", "BrandingAPI", "CallPath", "CallAccounting", "GatewayStore",
                "GatewaySync", "GatewayAdmin", "ConfigurationFiles", "HostSystem", "LogText", "CLinux", "CSQLite", log,
                lifecycle, signals,
            ],
            exclude: ["README.md"], swiftSettings: strict),

        // Edges: sockets, SQLite and HTTP. No two of them import each other.
        .target(
            name: "SIPTransport",
            dependencies: [
                "SIPCore", "HostSystem", "TLSFailures", "CLinux", "CResolver", nio, nioPosix, nioTLS, nioSSL, x509,
                asn1,
            ],
            exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "GatewayStore",
            dependencies: ["CallAccounting", "Branding", "Timers", "HostSystem", grdb, sqlite, log],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "GatewaySync",
            dependencies: [
                "CallAccounting", "Branding", "BrandingAPI", "HostSystem", "TLSFailures", "CLinux", httpClient, nio,
                nioPosix,
                nioHTTP, nioCompression, nioTLS, nioSSL, x509, asn1, crypto, subprocess, system, lifecycle, log,
            ],
            exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "GatewayAdmin",
            dependencies: [
                "CallAccounting", "Branding", "HostSystem", "LogText", hummingbird, hummingbirdCore, httpTypes, nio,
                lifecycle, log,
            ],
            exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "DirectoryServer",
            dependencies: [
                "DirectoryStore", "Branding", "BrandingAPI", "HostSystem", "CZlib", hummingbird,
                hummingbirdCore, httpTypes, nio, nioHTTP, nioHTTPTypes, crypto, lifecycle, log,
            ],
            exclude: ["README.md"],
            resources: [.embedInCode("openapi.yaml"), .embedInCode("openapi-admin.yaml")],
            swiftSettings: strict),
        // Parts: the directory's storage, the files of both configurations, the call path.
        .target(
            name: "DirectoryStore",
            dependencies: ["Branding", "BrandingAPI", "HostSystem", grdb, crypto], exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "ConfigurationFiles", dependencies: ["Branding", "HostSystem", yams], exclude: ["README.md"],
            swiftSettings: strict),

        // The steps of one message: admission, identity, decision, decoration, forwarding.
        .target(
            name: "CallPath", dependencies: ["SIPCore", "Branding", "CallAccounting", "Hashing"],
            exclude: ["README.md"], swiftSettings: strict),
        // Models: outcomes of calls without a SIP type, roles of the edges, and the contract's JSON.
        .target(
            name: "CallAccounting", dependencies: ["Branding", "Hashing", atomics], exclude: ["README.md"],
            swiftSettings: strict),
        .target(name: "BrandingAPI", dependencies: ["Branding"], exclude: ["README.md"], swiftSettings: strict),

        // Rules: SIP for a proxy; numbers, brands and the decision. No I/O and no clock.
        .target(
            name: "SIPCore", dependencies: ["Hashing", "Timers", "COsip2", "CVector"], exclude: ["README.md"],
            swiftSettings: strict),
        .target(name: "Branding", dependencies: ["CPhoneNumber"], exclude: ["README.md"], swiftSettings: strict),
        // Support: errors and limits of the operating system, and steps of its clock.
        .target(name: "HostSystem", exclude: ["README.md"], swiftSettings: strict),
        // Support: keyed hashes and their digits; timers by deadline. No SIP, no clock.
        .target(name: "Hashing", exclude: ["README.md"], swiftSettings: strict),
        .target(name: "Timers", exclude: ["README.md"], swiftSettings: strict),
        // Support: why TLS failed; for the two edges with TLS.
        .target(name: "TLSFailures", dependencies: [nioSSL], exclude: ["README.md"], swiftSettings: strict),
        // Support: log lines for people and for the journal; for both programs.
        .target(name: "LogText", dependencies: [log], exclude: ["README.md"], swiftSettings: strict),
        // An edge: pictures made square; for herald-scale-logo alone, so that no other program maps libgd.
        .target(
            name: "LogoScaling", dependencies: ["Branding", "CGD", "CLinux"], exclude: ["README.md"],
            swiftSettings: strict),

        // Doors to C and C++.
        .systemLibrary(name: "COsip2", pkgConfig: "libosip2", providers: [.apt(["libosip2-dev"])]),
        // Without pkg-config, whose flags of gdlib SwiftPM refuses; header and library stand where every compiler looks.
        .systemLibrary(name: "CGD", providers: [.apt(["libgd-dev"])]),
        // System calls of Linux that Swift's C library module lacks.
        .target(name: "CLinux", exclude: ["README.md"]),
        // Apart from CLinux: SIPCore imports it, and must not see sockets or threads.
        .systemLibrary(name: "CVector"),
        .target(name: "CSQLite", exclude: ["README.md"], linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CResolver", exclude: ["README.md"], linkerSettings: [.linkedLibrary("resolv")]),
        .target(
            name: "CPhoneNumber", exclude: ["README.md"],
            linkerSettings: [.linkedLibrary("phonenumber")]),

        .testTarget(name: "HashingTests", dependencies: ["Hashing"], swiftSettings: strict),
        .testTarget(name: "TimersTests", dependencies: ["Timers", "SeededRandom"], swiftSettings: strict),
        .testTarget(
            name: "SIPCoreTests", dependencies: ["SIPCore", "Hashing", "SeededRandom"], swiftSettings: strict),
        // Starts programs for tests; no test itself.
        .target(name: "ChildPrograms", path: "Tests/ChildPrograms", swiftSettings: strict),
        // Fixtures of several test targets; no test itself.
        .target(name: "HeraldTesting", path: "Tests/HeraldTesting", swiftSettings: strict),
        .target(
            name: "GatewayStoreTesting", dependencies: ["GatewayStore", "CallAccounting", "Branding"],
            path: "Tests/GatewayStoreTesting", swiftSettings: strict),
        // Random numbers for tests, the same in every run.
        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),
        .testTarget(
            name: "SIPTransportTests",
            dependencies: ["SIPTransport", "SIPCore", "ChildPrograms", "HeraldTesting", nio, nioEmbedded],
            swiftSettings: strict),
        .testTarget(
            name: "BrandingTests", dependencies: ["Branding", "CPhoneNumber", "SeededRandom"], swiftSettings: strict
        ),
        .testTarget(name: "BrandingAPITests", dependencies: ["BrandingAPI", "Branding"], swiftSettings: strict),
        .testTarget(
            name: "CallPathTests",
            dependencies: ["CallPath", "CallAccounting", "SIPCore", "Branding", "HeraldTesting", "SeededRandom"],
            resources: [.copy("Invites")], swiftSettings: strict),
        .testTarget(
            name: "CallAccountingTests",
            dependencies: ["CallAccounting", "Branding", "HeraldTesting", "SeededRandom"],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayStoreTests",
            dependencies: [
                "GatewayStore", "GatewayStoreTesting", "CallAccounting", "Branding", "HeraldTesting",
                "SeededRandom",
                "HostSystem", grdb, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewaySyncTests",
            dependencies: [
                "GatewaySync", "GatewayStore", "GatewayStoreTesting", "CallAccounting", "Branding", "BrandingAPI",
                "DirectoryServer", "DirectoryStore", "HeraldTesting", subprocess, system,
                httpClient, nio, nioPosix, nioSSL, nioHTTP, x509, asn1, crypto, lifecycle, log, grdb,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayAdminTests",
            dependencies: ["GatewayAdmin", "CallAccounting", "Branding", "LogText", lifecycle, log],
            swiftSettings: strict),
        .testTarget(name: "HostSystemTests", dependencies: ["HostSystem"], swiftSettings: strict),
        .testTarget(
            name: "HeraldTests",
            dependencies: ["herald", "ChildPrograms", grdb],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayAppTests",
            dependencies: [
                "GatewayApp", "SIPCore", "SIPTransport", "Branding", "BrandingAPI", "CallPath", "CallAccounting",
                "GatewayStore",
                "GatewaySync", "GatewayAdmin", "ConfigurationFiles", "HostSystem", "ChildPrograms", grdb, lifecycle,
                signals, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LogoScalingTests", dependencies: ["LogoScaling", "Branding", "CGD"], swiftSettings: strict),
        // What the tests of the directory's two halves share; no test itself.
        .target(
            name: "DirectoryFixtures", dependencies: ["DirectoryStore", "Branding"], path: "Tests/DirectoryFixtures",
            swiftSettings: strict),
        .testTarget(
            name: "DirectoryStoreTests",
            dependencies: ["DirectoryStore", "DirectoryFixtures", "BrandingAPI", "Branding"], swiftSettings: strict),
        .testTarget(
            name: "DirectoryServerTests",
            dependencies: [
                "DirectoryServer", "DirectoryStore", "DirectoryFixtures", "herald-directory", "BrandingAPI", "Branding",
                "ChildPrograms", "SeededRandom", "HostSystem", grdb, crypto, lifecycle, log, nio, nioEmbedded,
                nioHTTPTypes, httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ConfigurationFilesTests", dependencies: ["ConfigurationFiles", "Branding", "HeraldTesting"],
            swiftSettings: strict),
        .testTarget(name: "RepositoryTests", dependencies: ["ChildPrograms"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// What calls cost piece by piece, for `Deploy/bench parts`: a target only where it is asked for, so that nobody else fetches
// the package that measures it. Of its traits none: they replace malloc.
if Context.environment["HERALD_BENCHMARKS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []))
    package.targets.append(
        .executableTarget(
            name: "CallParts",
            dependencies: [
                "SIPCore", "Branding", "CallAccounting", "GatewayStore", "CSQLite", "HostSystem",
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Tests/Benchmarks/CallParts",
            swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]))
}
