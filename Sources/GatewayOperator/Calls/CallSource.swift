// SPDX-License-Identifier: Apache-2.0

import GatewayStore

/// The calls of the ledger, for pages and the control socket; the running gateway plays this role.
///
/// Never on the call path; safe from any thread. Each question has a limit of some seconds.
protocol CallSource: Sendable {
    /// Calls of the ledger, newest first, and the rest that was not read in time.
    ///
    /// - Throws: an error of the ledger.
    func calls(_ filter: CallFilter, limit: Int) async throws -> CallSearch
    /// Numbers of calls by decision and outcome, and the rest that was not read in time.
    ///
    /// - Throws: an error of the ledger.
    func counts(_ filter: CallFilter) async throws -> CallCounts
    /// The addresses of the calls' pages.
    var links: CallLinks { get }
    /// The exports that run, for all that read this source.
    var exports: CallExports { get }
    /// Names of the trunks, for forms and errors.
    func trunkNames() -> [String]
    /// Names of the customers, for forms and errors; empty without customers.
    func customerNames() -> [String]
}
