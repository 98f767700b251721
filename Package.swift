// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Settings of every Swift target.
///
/// Language mode 6 comes with the tools version. The upcoming features are SE-0335, SE-0444, SE-0409 and SE-0461.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    // A newer release of a dependency may deprecate a symbol, which must not stop a build.
    .treatWarning("DeprecatedDeclaration", as: .warning),
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

/// Settings of the targets whose classes one call thread owns: debug builds alone check exclusive access at run time.
let callThread =
    strict + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

// Products of packages, in the order of `dependencies`.
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let atomics = Target.Dependency.product(name: "Atomics", package: "swift-atomics")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioCompression = Target.Dependency.product(name: "NIOHTTPCompression", package: "swift-nio-extras")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

/// The commit of a build, which `Deploy/release` sets.
///
/// `Context.gitInformation` would name it without a variable. SwiftPM caches the manifest, though, and a later build would
/// have an older commit.
let commit = Context.environment["HERALD_COMMIT"] ?? ""

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
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // For a server of the tests; async-http-client depends on it.
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Without its traits, which need Foundation.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // Programs: options in, text out. They hold no other logic.
        .executableTarget(
            name: "herald",
            dependencies: [
                "GatewayApp", "GatewayOperator", "GatewayConfiguration", "ConfigurationFiles", "Primitives", "Host",
                arguments,
            ],
            exclude: ["README.md"],
            swiftSettings: strict),
        .executableTarget(
            name: "herald-directory",
            dependencies: [
                "DirectoryServer", "DirectoryStore", "ConfigurationFiles", "BrandingAPI", "Branding", "Primitives",
                "Host", "WebPages", "CSQLite", "CVersion", log, lifecycle, signals, arguments, metrics,
            ],
            exclude: ["README.md"], swiftSettings: strict),
        // It alone links libgd and the decoders, so no other program maps them.
        .executableTarget(
            name: "herald-scale-logo", dependencies: ["Branding", "CGD", "CPictures", "CLinux", arguments],
            exclude: ["README.md"], swiftSettings: strict),

        // Assembly: start, reload, drain and stop of the gateway.
        .target(
            name: "GatewayApp",
            dependencies: [
                "SIPTransport", "GatewayStore", "GatewaySync", "GatewayDoors", "GatewayCluster", "GatewayOperator",
                "GatewayConfiguration", "CallPath", "ConfigurationFiles", "CallAccounting", "SIPCore", "Branding",
                "Primitives", "Host", "PostgreSQL", "CLinux", "CSQLite", log, lifecycle, signals, metrics, nio,
            ],
            exclude: ["README.md"], swiftSettings: strict),

        // Operator: what people see of a running gateway and do with it.
        .target(
            name: "GatewayOperator",
            dependencies: [
                "SIPTransport", "GatewayStore", "GatewaySync", "GatewayDoors", "GatewayCluster",
                "GatewayConfiguration", "CallPath", "CheckedHTTP",
                "ConfigurationFiles", "CallAccounting", "BrandingAPI", "PostgreSQL", "CRDKafka", "SIPCore",
                "Branding", "Trust", "Primitives", "Host", "WebPages", "CLinux", hummingbird, hummingbirdCore,
                hummingbirdTLS, crypto, httpTypes, nio, nioPosix, nioHTTP, lifecycle, signals, log,
            ],
            exclude: ["README.md"],
            resources: [
                "overview", "steps", "troubles", "decisions", "answers", "top", "outcomes", "now", "peers", "rejected",
                "brands", "up", "calls", "call", "preview", "customers", "shadow", "alarms",
            ].map { .embedInCode("Pages/Templates/\($0).mustache") }
                + [
                    "carrier-answered", "carrier-missed", "carrier-declined", "carrier-returned", "pbx-answered",
                    "pbx-missed", "pbx-declined", "pbx-returned",
                ].map { .embedInCode("TestCall/SIPp/\($0).xml") }, swiftSettings: strict),

        // Settings: the configuration as the values of each part, and the means of a reload.
        .target(
            name: "GatewayConfiguration",
            dependencies: [
                "SIPTransport", "GatewayStore", "GatewaySync", "GatewayCluster", "CallPath", "ConfigurationFiles",
                "CallAccounting", "SIPCore", "Branding", "Primitives", "Host", "CVersion", nio, lifecycle, log,
            ],
            exclude: ["README.md"], swiftSettings: strict),

        // Several gateways: siblings and the shared ledger, above the store of one gateway.
        .target(
            name: "GatewayCluster",
            dependencies: [
                "GatewayStore", "CallAccounting", "Branding", "PostgreSQL", "Primitives", "Host", nio, nioPosix,
                lifecycle, log,
            ],
            exclude: ["README.md"], swiftSettings: strict),

        // Edges: sockets, SQLite, HTTP, pictures. No edge imports another.
        .target(
            name: "SIPTransport",
            dependencies: ["SIPCore", "Host", "CLinux", "CResolver", nio, nioPosix, nioTLS, nioSSL, x509, asn1],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "GatewayStore",
            dependencies: ["CallAccounting", "Branding", "Trust", "Primitives", "Host", grdb, sqlite, crypto, log],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "GatewaySync",
            dependencies: [
                "CallAccounting", "BrandingAPI", "Branding", "Trust", "CheckedHTTP", "LogoScaling", "Primitives",
                "Host",
                httpClient, nio,
                nioPosix, nioHTTP, nioCompression, nioTLS, nioSSL, x509, asn1, crypto, subprocess, system, lifecycle,
                log,
            ],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "GatewayDoors",
            dependencies: [
                "CallPath", "CallAccounting", "ConfigurationFiles", "BrandingAPI", "SIPCore", "Branding", "Trust",
                "Primitives", "Host",
                hummingbirdCore, nio, nioPosix, nioHTTP, lifecycle, log,
            ],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "DirectoryServer",
            dependencies: [
                "DirectoryStore", "PushSending", "ConfigurationFiles", "BrandingAPI", "Branding", "LogoScaling",
                "Primitives", "Host", "CZlib", "WebPages", "PostgreSQL",
                hummingbird, hummingbirdCore, httpTypes, nio, nioHTTP, nioHTTPTypes, crypto, lifecycle, log,
                nioPosix, hummingbirdTLS,
            ],
            exclude: ["README.md"],
            resources: [
                .embedInCode("openapi.yaml"), .embedInCode("openapi-admin.yaml"),
                .embedInCode("Pages/Templates/cell.mustache"), .embedInCode("Pages/Templates/content.mustache"),
                .embedInCode("Pages/Templates/field.mustache"), .embedInCode("Pages/Templates/fieldnotes.mustache"),
                .embedInCode("Pages/Templates/fieldstate.mustache"), .embedInCode("Pages/Templates/form.mustache"),
                .embedInCode("Pages/Templates/part.mustache"), .embedInCode("Pages/Templates/partbody.mustache"),
                .embedInCode("Pages/Templates/plot.mustache"), .embedInCode("Pages/Templates/table.mustache"),
                .embedInCode("Cards/Templates/card.mustache"), .embedInCode("Cards/Templates/nocard.mustache"),
                .embedInCode("Push/Page/page.html"), .embedInCode("Push/Page/page.css"),
                .embedInCode("Push/Page/page.js"), .embedInCode("Push/Page/device.js"),
                .embedInCode("Push/Page/worker.js"), .embedInCode("Push/Page/manifest.webmanifest"),
                .embedInCode("Push/Page/icon.svg"), .embedInCode("Push/Page/icon-192.png"),
                .embedInCode("Push/Page/icon-512.png"),
            ], swiftSettings: strict),

        // Parts: the way of one message, the storage of the directory, its push messages, the files of both programs.
        .target(
            name: "CallPath", dependencies: ["CallAccounting", "SIPCore", "Branding", "Trust", "Primitives", atomics],
            exclude: ["README.md"], swiftSettings: callThread),
        .target(
            name: "DirectoryStore",
            dependencies: ["PostgreSQL", "BrandingAPI", "Branding", "LogoScaling", "Primitives", "Host", grdb, crypto],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "PushSending",
            dependencies: ["CheckedHTTP", "Primitives", crypto, cryptoExtras, nioHTTP, nioSSL],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "ConfigurationFiles",
            dependencies: ["Branding", "SIPCore", "Trust", "Host", "PostgreSQL", "Primitives", yams, log],
            exclude: ["README.md"],
            resources: ["us", "ca", "fr", "br", "in", "private"].map { .embedInCode("Regimes/\($0).yaml") },
            swiftSettings: strict),

        // Models: outcomes of calls and the roles of the edges, without a SIP type; the bodies of the contract.
        .target(
            name: "CallAccounting", dependencies: ["Branding", "Trust", "Primitives", atomics], exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "BrandingAPI", dependencies: ["Branding", "Primitives"], exclude: ["README.md"],
            swiftSettings: strict),

        // Rules: SIP; callers, brands and the decision; signed identity. No I/O on the call path, and no clock.
        .target(
            name: "SIPCore", dependencies: ["Primitives", "COsip2", "CVector"],
            exclude: ["README.md"],
            swiftSettings: callThread),
        .target(
            name: "Branding", dependencies: ["Primitives", "CPhoneNumber", "CUnicode"], exclude: ["README.md"],
            swiftSettings: strict),
        .target(name: "Trust", dependencies: [crypto], exclude: ["README.md"], swiftSettings: strict),

        // Support: what needs nothing, then what the system, its log and its metrics need.
        .target(name: "Primitives", exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "Host", dependencies: ["Primitives", "CLinux", "CSystemd", nioSSL, metrics, lifecycle, signals, log],
            exclude: ["README.md"], swiftSettings: strict),
        // AsyncHTTPClient has two users: this target for foreign hosts, GatewaySync for the directory, whose responses are
        // streamed and whose keys are pinned.
        .target(
            name: "CheckedHTTP", dependencies: ["Host", "Primitives", httpClient, nio, nioHTTP, nioSSL],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "LogoScaling", dependencies: ["Host", subprocess, system], exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "PostgreSQL", dependencies: ["CPostgres", "Host", "Primitives"], exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "WebPages",
            dependencies: ["Primitives", mustache, hummingbird, httpTypes, nio, nioSSL, crypto, lifecycle, log],
            exclude: ["README.md"],
            resources: [
                .embedInCode("Layout/layout.mustache"), .embedInCode("Layout/login.mustache"),
                .embedInCode("Layout/problem.mustache"), .embedInCode("Layout/style.css"),
                .embedInCode("Layout/live.js"),
            ], swiftSettings: strict),

        // C and C++.
        .systemLibrary(name: "COsip2", pkgConfig: "libosip2", providers: [.apt(["libosip2-dev"])]),
        .target(name: "CPhoneNumber", exclude: ["README.md"], linkerSettings: [.linkedLibrary("phonenumber")]),
        .target(
            name: "CUnicode", exclude: ["README.md"],
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        .target(name: "CLinux", exclude: ["README.md"]),
        .target(name: "CResolver", exclude: ["README.md"], linkerSettings: [.linkedLibrary("resolv")]),
        .target(name: "CSQLite", exclude: ["README.md"], linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CRDKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .target(
            name: "CVersion", exclude: ["README.md"],
            cSettings: commit.isEmpty ? [] : [.define("HERALD_COMMIT", to: "\"\(commit)\"")]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // No pkg-config: SwiftPM refuses flags of gdlib. Compiler and linker find libgd in their default folders.
        .systemLibrary(name: "CGD", providers: [.apt(["libgd-dev"])]),
        .target(
            name: "CPictures", exclude: ["README.md"],
            linkerSettings: ["webpdemux", "webp", "avif", "heif", "de265"].map { .linkedLibrary($0) }),
        // Apart from CLinux: SIPCore imports it, and must see no socket and no thread.
        .systemLibrary(name: "CVector"),

        // Fixtures that several test targets share.
        .target(name: "ChildPrograms", path: "Tests/ChildPrograms", swiftSettings: strict),
        .target(
            name: "TestFixtures", dependencies: [lifecycle, log], path: "Tests/TestFixtures", swiftSettings: strict),
        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),
        .target(
            name: "TrustFixtures", dependencies: ["Trust", crypto, x509, asn1, nioSSL], path: "Tests/TrustFixtures",
            resources: [.copy("Vectors")], swiftSettings: strict),
        .target(
            name: "PostgreSQLTesting", dependencies: ["PostgreSQL", "ChildPrograms"], path: "Tests/PostgreSQLTesting",
            swiftSettings: strict),
        .target(name: "KafkaTesting", dependencies: ["CRDKafka"], path: "Tests/KafkaTesting", swiftSettings: strict),
        .target(
            name: "GatewayStoreTesting", dependencies: ["GatewayStore", "CallAccounting", "Branding"],
            path: "Tests/GatewayStoreTesting", swiftSettings: strict),
        .target(
            name: "GatewaySyncTesting", dependencies: ["GatewaySync", "TestFixtures"],
            path: "Tests/GatewaySyncTesting", swiftSettings: strict),
        .target(
            name: "GatewayTesting",
            dependencies: [
                "GatewayConfiguration", "CallPath", "ConfigurationFiles", "CallAccounting", "SIPCore", "Branding",
                log,
            ],
            path: "Tests/GatewayTesting", swiftSettings: strict),
        .target(
            name: "DirectoryFixtures",
            dependencies: [
                "DirectoryServer", "DirectoryStore", "ConfigurationFiles", "Branding", "BrandingAPI", "PostgreSQL",
                "PostgreSQLTesting", "TestFixtures", log,
            ],
            path: "Tests/DirectoryFixtures", swiftSettings: strict),

        // Tests. Three of them depend on a program: two start it, one tests its code.
        .testTarget(
            name: "HeraldTests",
            dependencies: ["herald", "ChildPrograms", "PostgreSQLTesting", "TestFixtures", "TrustFixtures", grdb],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayAppTests",
            dependencies: [
                "GatewayApp", "GatewayOperator", "GatewayConfiguration", "SIPTransport", "GatewayStore", "CallPath",
                "ConfigurationFiles", "CallAccounting", "BrandingAPI", "SIPCore", "Branding", "Trust", "ChildPrograms",
                "GatewaySyncTesting", "GatewayTesting", "Host", "KafkaTesting", "Primitives", "TestFixtures",
                "WebPages", grdb, lifecycle, log, signals,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayOperatorTests",
            dependencies: [
                "GatewayOperator", "GatewayDoors", "GatewayConfiguration", "GatewayStore", "GatewaySync", "CallPath",
                "ConfigurationFiles", "CallAccounting", "BrandingAPI", "SIPCore", "Branding", "Trust", "CRDKafka",
                "CheckedHTTP", "ChildPrograms", "GatewaySyncTesting", "GatewayTesting", "KafkaTesting", "Host",
                "Primitives",
                "TestFixtures", "TrustFixtures", grdb,
                hummingbird, lifecycle, log, nio,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayDoorsTests",
            dependencies: [
                "GatewayDoors", "GatewayStore", "CallPath", "ConfigurationFiles", "CallAccounting", "BrandingAPI",
                "SIPCore", "Branding", "Trust", "GatewayTesting", "Host", "SeededRandom", "TestFixtures",
                "TrustFixtures", nio, nioPosix, nioEmbedded, nioHTTP, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayClusterTests",
            dependencies: [
                "GatewayCluster", "GatewayStore", "CallAccounting", "Branding", "Host", "PostgreSQL",
                "PostgreSQLTesting", "ChildPrograms", "SeededRandom", "TestFixtures", grdb, nio, lifecycle, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SIPTransportTests",
            dependencies: ["SIPTransport", "SIPCore", "ChildPrograms", "TestFixtures", "Host", nio, nioEmbedded],
            swiftSettings: strict),
        .testTarget(
            name: "GatewayStoreTests",
            dependencies: [
                "GatewayStore", "CallAccounting", "Branding", "Trust", "Host", "GatewayStoreTesting", "TestFixtures",
                "SeededRandom", grdb, log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GatewaySyncTests",
            dependencies: [
                "GatewaySync", "GatewayStore", "DirectoryServer", "DirectoryStore", "CallAccounting", "BrandingAPI",
                "Branding", "CheckedHTTP", "LogoScaling", "Trust", "DirectoryFixtures", "GatewayStoreTesting",
                "GatewaySyncTesting",
                "TestFixtures",
                "TrustFixtures", "Host",
                httpClient, nio, nioPosix, nioHTTP, nioSSL, x509, asn1, crypto, subprocess, system, grdb, lifecycle,
                log,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DirectoryServerTests",
            dependencies: [
                "DirectoryServer", "herald-directory", "DirectoryStore", "BrandingAPI", "Branding", "Primitives",
                "ConfigurationFiles", "Host", "WebPages", "ChildPrograms", "DirectoryFixtures", "SeededRandom",
                "TestFixtures", "PostgreSQL",
                grdb,
                crypto, nio, nioEmbedded, nioHTTPTypes, httpTypes, lifecycle, log, arguments,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ScaleLogoTests", dependencies: ["herald-scale-logo", "Branding", "CGD", "TestFixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "CallPathTests",
            dependencies: [
                "CallPath", "CallAccounting", "SIPCore", "Branding", "Trust", "TestFixtures", "TrustFixtures",
                "SeededRandom",
            ],
            resources: [.copy("Invites")], swiftSettings: strict),
        .testTarget(
            name: "DirectoryStoreTests",
            dependencies: [
                "DirectoryStore", "PostgreSQL", "BrandingAPI", "Branding", "Host", "Primitives", "DirectoryFixtures",
                "PostgreSQLTesting", "SeededRandom", "TestFixtures", grdb,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ConfigurationFilesTests",
            dependencies: ["ConfigurationFiles", "Branding", "SIPCore", "Trust", "TestFixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "CallAccountingTests",
            dependencies: ["CallAccounting", "Branding", "Trust", "Primitives", "TestFixtures"],
            swiftSettings: strict),
        .testTarget(name: "BrandingAPITests", dependencies: ["BrandingAPI", "Branding"], swiftSettings: strict),
        .testTarget(
            name: "SIPCoreTests", dependencies: ["SIPCore", "Primitives", "SeededRandom"], swiftSettings: strict),
        .testTarget(
            name: "BrandingTests", dependencies: ["Branding", "CPhoneNumber", "SeededRandom", "TestFixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "TrustTests", dependencies: ["Trust", "TrustFixtures", "SeededRandom", crypto, x509, asn1],
            swiftSettings: strict),
        .testTarget(
            name: "CheckedHTTPTests", dependencies: ["CheckedHTTP", "TestFixtures", httpClient, nioHTTP],
            swiftSettings: strict),
        .testTarget(
            name: "PushSendingTests",
            dependencies: [
                "PushSending", "CheckedHTTP", "Primitives", "TestFixtures", "TrustFixtures", crypto, cryptoExtras, nio,
                nioPosix, nioHTTP, nioHTTP2, nioSSL,
            ], swiftSettings: strict),
        .testTarget(
            name: "PostgreSQLTests", dependencies: ["PostgreSQL", "PostgreSQLTesting", "TestFixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "WebPagesTests", dependencies: ["WebPages", hummingbird, hummingbirdTesting, httpTypes, nio, log],
            swiftSettings: strict),
        .testTarget(name: "HostTests", dependencies: ["Host", "Primitives", metrics, log], swiftSettings: strict),
        .testTarget(
            name: "PrimitivesTests", dependencies: ["Primitives", "SeededRandom", "TestFixtures"],
            swiftSettings: strict),
        .testTarget(name: "RepositoryTests", dependencies: ["ChildPrograms"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// The micro-benchmarks of `Deploy/bench parts`. Only a build that sets the variable fetches their package. Its traits
// are off, because they replace malloc.
if Context.environment["HERALD_BENCHMARKS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []))
    package.targets.append(
        .executableTarget(
            name: "CallParts",
            dependencies: [
                "SIPCore", "Branding", "CallAccounting", "GatewayStore", "CSQLite", "Host",
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Tests/Bench/CallParts",
            swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]))
}
