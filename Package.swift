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
    // Debug builds, and so all tests, check exclusive access at run time; a release does without (2 % of a call's CPU).
    .unsafeFlags(["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release)),
    // A section for each function, which the linker can move.
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release)),
]

/// Lays the functions a call runs next to each other.
///
/// The thread that handles messages takes 5 to 8 % less CPU at 500 calls/s so (docs/performance.md). LLVM's linker, which
/// comes with Swift, is the one that knows such a list.
let callPathTogether: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Deploy/herald.order",
            "-Xlinker", "--no-warn-symbol-ordering",
        ], .when(configuration: .release))
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

let package = Package(
    name: "herald",
    products: [
        .executable(name: "herald", targets: ["herald"]),
        .executable(name: "herald-directory", targets: ["herald-directory"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.0.0"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.10.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    ],
    targets: [
        // Programs: build the parts and run them. They alone see everything, and hold no logic.
        .executableTarget(
            name: "herald",
            dependencies: ["GatewayApp", "ConfigurationFiles", "Branding", "LogoScaling", arguments],
            swiftSettings: strict, linkerSettings: callPathTogether),
        .executableTarget(
            name: "herald-directory",
            dependencies: [
                "Branding", "BrandingAPI", "Directory", "ConfigurationFiles", "SystemReasons", "LogText", "CSQLite",
                log,
                lifecycle, signals, arguments,
            ],
            swiftSettings: strict),

        // The gateway put together: settings, start and stop, status. It alone sees every edge.
        .target(
            name: "GatewayApp",
            dependencies: [
                "SIPCore", "SIPTransport", "Branding", "BrandingAPI", "Gateway", "GatewayStore", "GatewaySync",
                "GatewayAdmin", "ConfigurationFiles", "SystemReasons", "LogText", "CMalloc", "CSQLite", log, lifecycle,
                signals,
            ],
            swiftSettings: strict),

        // Edges: sockets, SQLite, HTTP, YAML. No two of them import each other.
        .target(
            name: "SIPTransport",
            dependencies: [
                "SIPCore", "SystemReasons", "TLSReasons", "CDatagram", "CMalloc", "CResolver", nio, nioPosix, nioTLS,
                nioSSL, x509, asn1,
            ],
            swiftSettings: strict),
        .target(
            name: "GatewayStore",
            dependencies: ["Gateway", "SIPCore", "Branding", "SystemReasons", "WallClock", grdb, sqlite, log],
            swiftSettings: strict),
        .target(
            name: "GatewaySync",
            dependencies: [
                "Gateway", "Branding", "BrandingAPI", "SystemReasons", "TLSReasons", "WallClock", "CConfinement",
                httpClient, nio, nioPosix, nioHTTP, nioCompression, nioTLS, nioSSL, x509, asn1, crypto, lifecycle, log,
            ],
            swiftSettings: strict),
        .target(
            name: "GatewayAdmin",
            dependencies: [
                "Gateway", "Branding", "SystemReasons", "LogText", hummingbird, hummingbirdCore, httpTypes, nio,
                lifecycle, log,
            ],
            swiftSettings: strict),
        .target(
            name: "Directory",
            dependencies: [
                "Branding", "BrandingAPI", "SystemReasons", "WallClock", "CZlib", hummingbird, hummingbirdCore,
                httpTypes, nio, nioHTTP, nioHTTPTypes, grdb, crypto, lifecycle, log,
            ],
            resources: [.embedInCode("openapi.yaml"), .embedInCode("openapi-admin.yaml")],
            swiftSettings: strict),
        .target(name: "ConfigurationFiles", dependencies: ["Branding", "SystemReasons", yams], swiftSettings: strict),

        // The story of one call, and the roles it needs others to play.
        .target(name: "Gateway", dependencies: ["SIPCore", "Branding", atomics], swiftSettings: strict),
        .target(name: "BrandingAPI", dependencies: ["Branding"], swiftSettings: strict),

        // Rules: what SIP says; whose call, which brand, may we show it. No I/O and no clock.
        .target(name: "SIPCore", dependencies: ["COsip2", "CVector"], swiftSettings: strict),
        .target(name: "Branding", dependencies: ["CPhoneNumber"], swiftSettings: strict),
        // Why the system refuses, in words for an operator; for every edge and both programs.
        .target(name: "SystemReasons", swiftSettings: strict),
        // Why TLS failed, for the two edges that speak it.
        .target(name: "TLSReasons", dependencies: [nioSSL], swiftSettings: strict),
        // Log lines for people and for the journal; for both programs.
        .target(name: "LogText", dependencies: [log], swiftSettings: strict),
        // When the time of day was set; for what goes by it on either side.
        .target(name: "WallClock", swiftSettings: strict),
        // Pictures made square; runs in a short-lived process of its own, never in the gateway's.
        .target(name: "LogoScaling", dependencies: ["Branding", "CGD", "CConfinement"], swiftSettings: strict),

        // Doors to C and C++.
        .systemLibrary(name: "COsip2", pkgConfig: "libosip2", providers: [.apt(["libosip2-dev"])]),
        // Without pkg-config, whose flags of gdlib SwiftPM refuses; header and library stand where every compiler looks.
        .systemLibrary(name: "CGD", providers: [.apt(["libgd-dev"])]),
        .target(name: "CConfinement"),
        .target(name: "CMalloc"),
        .systemLibrary(name: "CVector"),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CDatagram"),
        .target(name: "CResolver", linkerSettings: [.linkedLibrary("resolv")]),
        .target(
            name: "CPhoneNumber",
            linkerSettings: [.linkedLibrary("phonenumber")]),

        .testTarget(name: "SIPCoreTests", dependencies: ["SIPCore", "RepeatableChance"], swiftSettings: strict),
        // Starts programs for tests; no test itself.
        .target(name: "ChildPrograms", path: "Tests/ChildPrograms", swiftSettings: strict),
        // Random numbers for tests, the same in every run.
        .target(name: "RepeatableChance", path: "Tests/RepeatableChance", swiftSettings: strict),
        .testTarget(
            name: "SIPTransportTests", dependencies: ["SIPTransport", "SIPCore", "ChildPrograms"], swiftSettings: strict
        ),
        .testTarget(
            name: "BrandingTests", dependencies: ["Branding", "CPhoneNumber", "RepeatableChance"], swiftSettings: strict
        ),
        .testTarget(name: "BrandingAPITests", dependencies: ["BrandingAPI", "Branding"], swiftSettings: strict),
        .testTarget(
            name: "GatewayTests", dependencies: ["Gateway", "SIPCore", "Branding", "RepeatableChance"],
            resources: [.copy("Invites")], swiftSettings: strict),
        .testTarget(
            name: "GatewayStoreTests",
            dependencies: [
                "GatewayStore", "Gateway", "SIPCore", "Branding", "RepeatableChance", "WallClock", grdb, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewaySyncTests",
            dependencies: [
                "GatewaySync", "GatewayStore", "Gateway", "Branding", "BrandingAPI", "CConfinement", "Directory",
                httpClient, nio, nioPosix, nioSSL, nioHTTP, x509, asn1, crypto, lifecycle, log, grdb,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayAdminTests",
            dependencies: ["GatewayAdmin", "Gateway", "Branding", "LogText", lifecycle, log],
            swiftSettings: strict),
        .testTarget(name: "SystemReasonsTests", dependencies: ["SystemReasons"], swiftSettings: strict),
        .testTarget(
            name: "HeraldTests",
            dependencies: ["herald", "ChildPrograms", grdb],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayAppTests",
            dependencies: [
                "GatewayApp", "SIPCore", "SIPTransport", "Branding", "BrandingAPI", "Gateway", "GatewayStore",
                "GatewaySync", "GatewayAdmin", "ConfigurationFiles", "SystemReasons", "ChildPrograms", grdb, lifecycle,
                signals, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LogoScalingTests", dependencies: ["LogoScaling", "Branding", "CGD"], swiftSettings: strict),
        .testTarget(
            name: "DirectoryTests",
            dependencies: [
                "Directory", "herald-directory", "BrandingAPI", "Branding", "ChildPrograms", "RepeatableChance",
                "WallClock", grdb, crypto, lifecycle, log, nio, nioEmbedded, nioHTTPTypes, httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(name: "WallClockTests", dependencies: ["WallClock"], swiftSettings: strict),
        .testTarget(
            name: "ConfigurationFilesTests", dependencies: ["ConfigurationFiles", "Branding"], swiftSettings: strict),
        .testTarget(name: "RepositoryTests", dependencies: ["ChildPrograms"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// What calls cost piece by piece, for `Deploy/bench parts`: a target only where it is asked for, so that nobody else fetches
// the package that measures it. Of its traits none: they replace malloc.
if Context.environment["HERALD_BENCHMARKS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []))
    package.targets.append(
        .executableTarget(
            name: "CallPath",
            dependencies: [
                "SIPCore", "Branding", "Gateway", "GatewayStore", "CSQLite", "WallClock",
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Tests/Benchmarks/CallPath",
            swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]))
}
