// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Primitives

/// A PostgreSQL server, or several of one cluster, with database, user and TLS options.
///
/// The text is a connection URL as libpq reads it: `postgres://USER@HOST1:5432,HOST2:5432/DATABASE?sslmode=verify-full`.
/// Several hosts are asked in turn, and `target_session_attrs=read-write` selects the primary. A folder of a Unix socket
/// is the parameter `host`: `postgres:///herald?host=/run/postgresql`. The password comes from a file, from libpq's
/// `passfile`, or from the environment variable `PGPASSWORD`; a URL with a password is refused.
package struct PostgreSQLAddress: Sendable, Hashable, CustomStringConvertible {
    /// A reason why a text is no address, with its remedy.
    package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Parameters of libpq by keyword; without the password.
    let parameters: [String: String]
    private let password: Concealed<String>?

    /// Hosts, ports and database, as in error texts; never with a password.
    package let description: String

    /// Reads a connection URL.
    ///
    /// - Parameters:
    ///   - password: the content of a password file; nil if libpq finds the password.
    ///   - defaults: parameters of libpq for which the URL has no value.
    /// - Throws: the reason, without any part of a password.
    package init(
        _ url: String, password: String? = nil, defaults: [String: String] = [:]
    ) throws(Problem) {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw Problem(
                description:
                    "a PostgreSQL address begins with postgres://, such as postgres://herald@db.example.com/herald")
        }
        guard !Self.hasPassword(url) else {
            throw Problem(
                description:
                    "the PostgreSQL address contains a password; remove it from the URL and use a password file")
        }
        var parameters = try Self.parsed(url)
        guard parameters["password"] == nil else {
            throw Problem(
                description:
                    "the PostgreSQL address contains a password; remove it from the URL and use a password file")
        }
        guard parameters["dbname"]?.isEmpty == false else {
            throw Problem(description: "the PostgreSQL address names no database; add it after the hosts: …/herald")
        }
        parameters.merge(defaults) { given, _ in given }
        self.parameters = parameters
        self.password = password.flatMap { $0.isEmpty ? nil : Concealed($0) }
        description = Self.shown(parameters)
    }

    /// The address with another value for a parameter of libpq, such as `target_session_attrs`.
    package func setting(_ keyword: String, _ value: String) -> PostgreSQLAddress {
        var parameters = parameters
        parameters[keyword] = value
        return PostgreSQLAddress(parameters: parameters, password: password)
    }

    private init(parameters: [String: String], password: Concealed<String>?) {
        (self.parameters, self.password) = (parameters, password)
        description = Self.shown(parameters)
    }

    /// Whether the connection has TLS, as far as the address alone decides it.
    package var requiresTLS: Bool { ["require", "verify-ca", "verify-full"].contains(parameters["sslmode"] ?? "") }

    /// Whether all hosts are Unix sockets or loopback addresses.
    package var isLocal: Bool {
        let hosts = (parameters["host"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        return hosts.allSatisfy { $0.isEmpty || $0.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains($0) }
    }

    /// The database's name.
    package var database: String { parameters["dbname"] ?? "" }

    /// Keywords and values for a connection, with the password and the limits of every session.
    func connectionParameters(application: String) -> [(String, String)] {
        let limits = [
            "connect_timeout": "5", "tcp_user_timeout": "15000", "keepalives_idle": "15", "keepalives_interval": "5",
            "keepalives_count": "3", "application_name": application,
        ]
        var all = parameters.merging(limits) { given, _ in given }
        all["client_encoding"] = "UTF8"
        if let password { all["password"] = password.reveal() }
        return all.sorted { $0.key < $1.key }
    }

    /// Whether a URL has a password, before the hosts or as a parameter.
    ///
    /// Before libpq reads it, because the errors of libpq may repeat parts of the URL. For libpq a `/` or `?` in a password
    /// ends the hosts, and the rest of the password is the name of a database or of a parameter.
    private static func hasPassword(_ url: String) -> Bool {
        let rest = url.drop { $0 != "/" }.dropFirst(2)
        guard !rest.contains("password=") else { return true }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let beforeParameters = rest.prefix { $0 != "=" }
        return [authority, beforeParameters].contains { part in
            part.lastIndex(of: "@").map { part[..<$0].contains(":") } ?? false
        }
    }

    private static func parsed(_ url: String) throws(Problem) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            let reason = message.map { TerminalText.visible(SessionTexts.line(String(cString: $0))) } ?? "out of memory"
            PQfreemem(message)
            throw Problem(
                description:
                    "the PostgreSQL address cannot be read: \(reason); see 'Connection URIs' in PostgreSQL's manual")
        }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return parameters
    }

    private static func shown(_ parameters: [String: String]) -> String {
        let hosts = (parameters["host"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (parameters["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let places = hosts.enumerated().map { place, host in
            let port = ports.count == 1 ? ports[0] : place < ports.count ? ports[place] : ""
            let name = host.isEmpty ? "the local socket" : host.contains(":") ? "[\(host)]" : "\(host)"
            return port.isEmpty ? name : "\(name):\(port)"
        }
        let all = places.isEmpty ? "the local socket" : places.joined(separator: ",")
        return TerminalText.visible("\(all)/\(parameters["dbname"] ?? "")")
    }
}
