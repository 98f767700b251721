// SPDX-License-Identifier: Apache-2.0

/// Tests with the gateways `a`, `b` and `c`, which are siblings of each other and share a ledger.
protocol ThreeGateways {
    var gateways: Trio { get }
}

/// Three siblings with one shared ledger.
struct Trio {
    let shared: SharedDatabase
    let a: ClusterGateway
    let b: ClusterGateway
    let c: ClusterGateway

    init() throws {
        shared = try SharedDatabase()
        a = try ClusterGateway("a", shared.address, siblings: ["b", "c"])
        b = try ClusterGateway("b", shared.address, siblings: ["a", "c"])
        c = try ClusterGateway("c", shared.address, siblings: ["a", "b"])
    }
}

extension ThreeGateways {
    var shared: SharedDatabase { gateways.shared }
    var a: ClusterGateway { gateways.a }
    var b: ClusterGateway { gateways.b }
    var c: ClusterGateway { gateways.c }
    var all: [ClusterGateway] { [a, b, c] }

    /// A gateway is silent for PostgreSQL and for its siblings.
    func kill(_ name: String = "a") throws {
        try shared.silence(name)
        for gateway in all { gateway.sees(name, responds: false) }
    }
}
