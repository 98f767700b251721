// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Glibc
import Host

/// A statement with its values.
package struct PostgreSQLCommand: Sendable {
    package let sql: String
    package let values: [PostgreSQLValue]

    package init(_ sql: String, _ values: [PostgreSQLValue] = []) {
        (self.sql, self.values) = (sql, values)
    }
}

/// One connection to a PostgreSQL server.
///
/// It connects with its first statement, and anew after a loss. Statements are prepared once for each connection and
/// known by their text. All functions block, up to `timeLimit` for each statement; a session is for one thread at a
/// time, and never for a thread of Swift's task pool.
package final class PostgreSQLSession {
    package let address: PostgreSQLAddress
    /// The longest wait for the server during one call of a function here.
    package var timeLimit: Duration
    private let application: String
    private let setup: String?
    private var connection: OpaquePointer?
    private var prepared: [String: PreparedStatement] = [:]
    /// Statements that this connection keeps, which are more than the known ones after a failure.
    private var kept = 0
    /// True between the begin and the end of `transaction`.
    var isInTransaction = false
    /// The statement that begins a transaction; it goes with the transaction's first statement.
    var pendingBegin: String?
    /// Connections made since the session began.
    package private(set) var connections = 0

    /// The number of statements above which a connection forgets all of them, and prepares those that are used again.
    private static let mostPrepared = 500

    private struct PreparedStatement {
        let name: String
        let types: [UInt32]
    }

    /// Makes a session; it connects with its first statement.
    ///
    /// - Parameters:
    ///   - application: name of the program in the server's views.
    ///   - setup: a statement that each connection runs first, such as settings of the server for it.
    package init(
        _ address: PostgreSQLAddress, application: String = "herald", timeLimit: Duration = .seconds(30),
        setup: String? = nil
    ) {
        (self.address, self.application, self.timeLimit, self.setup) = (address, application, timeLimit, setup)
    }

    deinit { PQfinish(connection) }

    /// Closes the connection; the next statement makes another one.
    package func close() {
        PQfinish(connection)
        (connection, prepared, pendingBegin) = (nil, [:], nil)
    }

    /// Whether a connection exists and the server has not closed it; looks at the socket without waiting.
    package func isConnected() -> Bool {
        guard let connection else { return false }
        var watched = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        // An idle server sends nothing but its farewell. libpq reads that first, and sees the end of the stream behind it
        // only in another read.
        while PQstatus(connection) == CONNECTION_OK, poll(&watched, 1, 0) > 0, PQconsumeInput(connection) == 1 {}
        guard PQstatus(connection) == CONNECTION_OK else {
            close()
            return false
        }
        return true
    }

    /// Connects if there is no connection.
    package func connect() throws(PostgreSQLError) { _ = try connected() }

    /// Runs a statement and returns its rows.
    @discardableResult
    package func execute(_ sql: String, _ values: [PostgreSQLValue] = []) throws(PostgreSQLError) -> PostgreSQLRows {
        let rows = try run([PostgreSQLCommand(sql, values)])
        guard let last = rows.last else { throw error(.lost, "the server sent no result") }
        return last
    }

    /// Runs statements in one round trip and returns the rows of each.
    ///
    /// Outside of a transaction they are one: all or none have an effect. A lost connection leaves that unknown
    /// (`isOutcomeUnknown`). Each statement must be preparable before the first runs, so a table cannot be made and used.
    package func run(_ commands: [PostgreSQLCommand]) throws(PostgreSQLError) -> [PostgreSQLRows] {
        do throws(PostgreSQLError) {
            _ = try connected()
            let begin = pendingBegin
            pendingBegin = nil
            let all = (begin.map { [PostgreSQLCommand($0)] } ?? []) + commands
            let rows = try exchange(all)
            return Array(rows.suffix(commands.count))
        } catch {
            settle(error)
            throw error
        }
    }

    /// Runs a script of several statements without values, such as a migration, as one transaction.
    package func script(_ sql: String) throws(PostgreSQLError) {
        do throws(PostgreSQLError) {
            let connection = try connected()
            let deadline = deadline
            if let begin = pendingBegin {
                pendingBegin = nil
                _ = try exchange([PostgreSQLCommand(begin)])
            }
            // The simple protocol does not work in pipeline mode.
            guard PQexitPipelineMode(connection) == 1 else { throw lost() }
            defer { PQenterPipelineMode(connection) }
            guard PQsendQuery(connection, sql) == 1 else { throw lost() }
            var failure: PostgreSQLError?
            while let result = try nextResult(deadline) {
                defer { PQclear(result) }
                if PQresultStatus(result) == PGRES_FATAL_ERROR { failure = failure ?? refusal(result) }
            }
            if let failure { throw failure }
        } catch {
            settle(error)
            throw error
        }
    }

    /// Forgets what a failure makes invalid.
    private func settle(_ error: PostgreSQLError) {
        if error.endsSession { close() }
        if error.cause == .staleStatement { prepared = [:] }
    }

    /// An error of this session.
    func error(_ cause: PostgreSQLError.Cause, _ message: String) -> PostgreSQLError {
        PostgreSQLError(cause, message, server: address.description)
    }
}

// Connect and prepare.
extension PostgreSQLSession {
    private func connected() throws(PostgreSQLError) -> OpaquePointer {
        if let connection { return connection }
        guard !isInTransaction || pendingBegin != nil else {
            throw error(.lost, "the connection of the transaction was lost")
        }
        let parameters = address.connectionParameters(application: application)
        let keywords = parameters.map { strdup($0.0) } + [nil]
        let values = parameters.map { strdup($0.1) } + [nil]
        defer { (keywords + values).forEach { free($0) } }
        let made = PQconnectdbParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
        guard let made, PQstatus(made) == CONNECTION_OK else {
            let message = made.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "out of memory"
            PQfinish(made)
            throw .connecting(message, server: address.description)
        }
        // libpq's own receiver writes notices to the standard error output.
        _ = PQsetNoticeReceiver(made, { _, _ in }, nil)
        PQsetnonblocking(made, 1)
        PQenterPipelineMode(made)
        (connection, prepared, kept) = (made, [:], 0)
        connections += 1
        if let setup { _ = try flush([setup], made, deadline) }
        return made
    }

    /// Prepares the statements that this connection does not know, in one round trip.
    private func prepare(_ commands: [PostgreSQLCommand], _ connection: OpaquePointer, _ deadline: Int64)
        throws(PostgreSQLError)
    {
        if kept > Self.mostPrepared {
            _ = try flush(["DEALLOCATE ALL"], connection, deadline)
            (prepared, kept) = ([:], 0)
        }
        var unknown: [String] = []
        for command in commands where prepared[command.sql] == nil && !unknown.contains(command.sql) {
            unknown.append(command.sql)
        }
        guard !unknown.isEmpty else { return }
        let first = kept
        kept += unknown.count
        for (place, sql) in unknown.enumerated() {
            guard PQsendPrepare(connection, "s\(first + place)", sql, 0, nil) == 1,
                PQsendDescribePrepared(connection, "s\(first + place)") == 1
            else { throw lost() }
        }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        let results = try results(unknown.count * 2, deadline)
        for (place, sql) in unknown.enumerated() {
            let described = results[place * 2 + 1].pointer
            prepared[sql] = PreparedStatement(
                name: "s\(first + place)",
                types: (0..<PQnparams(described)).map { PQparamtype(described, $0) })
        }
    }

    private func flush(_ statements: [String], _ connection: OpaquePointer, _ deadline: Int64)
        throws(PostgreSQLError) -> [SessionResult]
    {
        for sql in statements {
            guard PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
        }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        return try results(statements.count, deadline)
    }
}

// Send and receive.
extension PostgreSQLSession {
    private var deadline: Int64 {
        let (seconds, parts) = timeLimit.components
        return SteadyClock.microseconds + seconds * 1_000_000 + parts / 1_000_000_000_000
    }

    private func exchange(_ commands: [PostgreSQLCommand]) throws(PostgreSQLError) -> [PostgreSQLRows] {
        let connection = try connected()
        let deadline = deadline
        try prepare(commands, connection, deadline)
        for command in commands { try send(command, connection) }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        do throws(PostgreSQLError) {
            return try results(commands.count, deadline).map { $0.rows(server: address.description) }
        } catch {
            // A transaction of its own may have been committed before the loss.
            var error = error
            error.isOutcomeUnknown = error.endsSession && error.state == nil && !isInTransaction
            throw error
        }
    }

    private func send(_ command: PostgreSQLCommand, _ connection: OpaquePointer) throws(PostgreSQLError) {
        guard let statement = prepared[command.sql] else { throw error(.staleStatement, "a statement is not prepared") }
        let encoded: EncodedParameters
        do throws(UnfitValue) {
            encoded = try EncodedParameters(command.values, types: statement.types)
        } catch {
            // Commands before this one were queued. A new connection forgets them.
            close()
            throw self.error(.value, error.reason)
        }
        let isSent = encoded.bytes.withUnsafeBytes { bytes in
            // An empty value needs an address too, because null has none.
            let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)
            let values = encoded.ranges.map { range in
                range.flatMap { start?.advanced(by: $0.offset).assumingMemoryBound(to: CChar.self) }
            }
            return PQsendQueryPrepared(
                connection, statement.name, Int32(encoded.ranges.count), values, encoded.ranges.map { $0?.length ?? 0 },
                encoded.formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        // Sends while later commands are written.
        guard PQflush(connection) >= 0 else { throw lost() }
    }

    /// The results of a pipeline up to its synchronisation point.
    ///
    /// - Throws: the first refusal; the pipeline is read to its end.
    private func results(_ number: Int, _ deadline: Int64) throws(PostgreSQLError) -> [SessionResult] {
        var results: [SessionResult] = []
        var failure: PostgreSQLError?
        while true {
            // Null ends the results of one command.
            guard let pointer = try nextResult(deadline) else { continue }
            let result = SessionResult(pointer)
            switch PQresultStatus(pointer) {
            case PGRES_PIPELINE_SYNC:
                if let failure { throw failure }
                guard results.count == number else {
                    throw error(.lost, "the server sent \(results.count) of \(number) results")
                }
                return results
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
                failure = failure ?? refusal(pointer)
                if failure?.endsSession == true, let failure { throw failure }
            case PGRES_PIPELINE_ABORTED: continue
            default: results.append(result)
            }
        }
    }

    /// The next result, or nil at the end of a command.
    private func nextResult(_ deadline: Int64) throws(PostgreSQLError) -> OpaquePointer? {
        guard let connection else { throw lost() }
        while true {
            let pending = PQflush(connection)
            guard pending >= 0 else { throw lost() }
            if pending == 0, PQisBusy(connection) == 0 { break }
            let events = Int16(POLLIN) | (pending > 0 ? Int16(POLLOUT) : 0)
            var watched = pollfd(fd: PQsocket(connection), events: events, revents: 0)
            let left = deadline - SteadyClock.microseconds
            guard left > 0 else { throw error(.timedOut, "no response within \(timeLimit.components.seconds) s") }
            guard poll(&watched, 1, Int32(clamping: left / 1_000 + 1)) >= 0 || errno == EINTR else { throw lost() }
            if watched.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, PQconsumeInput(connection) == 0 {
                throw lost()
            }
        }
        let result = PQgetResult(connection)
        if result == nil, PQstatus(connection) == CONNECTION_BAD { throw lost() }
        return result
    }

    private func refusal(_ result: OpaquePointer) -> PostgreSQLError {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        guard let state = field(Int32(UInt8(ascii: "C"))) else {
            let message = PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
            return error(.lost, "the connection was lost: \(SessionTexts.line(message))")
        }
        return .refused(
            state: state, message: field(Int32(UInt8(ascii: "M"))) ?? "", constraint: field(Int32(UInt8(ascii: "n"))),
            server: address.description)
    }

    private func lost() -> PostgreSQLError {
        let message = connection.flatMap { PQerrorMessage($0) }.map { SessionTexts.line(String(cString: $0)) } ?? ""
        return error(.lost, message.isEmpty ? "the connection was lost" : "the connection was lost: \(message)")
    }
}

/// A result of libpq that nobody has taken over yet.
private final class SessionResult {
    let pointer: OpaquePointer
    private var isOwned = true

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { if isOwned { PQclear(pointer) } }

    /// Passes the result on.
    func rows(server: String) -> PostgreSQLRows {
        isOwned = false
        return PostgreSQLRows(pointer, server: server)
    }
}
