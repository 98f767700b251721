// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Host
import PostgreSQL
import Primitives

/// The reason for which the database cannot serve any request; the same request may succeed once it is mended.
package enum StoreOutage: Hashable, Sendable {
    /// No space is left.
    case full
    case readOnly
    /// A part of the database is unreadable.
    case damaged
    /// Another program has held the database too long.
    case locked
    /// The disk returns errors, or a file is missing.
    case broken
    /// The server cannot be reached or takes no writes.
    case away

    /// Nil for errors of one request, and of the program.
    package init?(_ error: any Error) {
        if DamageRecord.cause(of: error) != nil {
            self = .damaged
        } else if let error = error as? DatabaseError {
            self.init(sqlite: error.resultCode)
        } else if let error = error as? PostgreSQLError {
            self.init(error)
        } else if let code = (error as? FileReplacementError)?.code ?? SystemError.code(of: error) {
            self.init(system: code)
        } else {
            return nil
        }
    }

    private init?(sqlite code: ResultCode) {
        switch code {
        case .SQLITE_FULL: self = .full
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: self = .broken
        default: return nil
        }
    }

    private init?(_ error: PostgreSQLError) {
        switch error.state {
        // Appendix A of PostgreSQL: disk_full, io_error.
        case "53100": self = .full
        case "58030": self = .broken
        case _ where error.isOutage: self = .away
        default: return nil
        }
    }

    private init?(system code: Int32) {
        switch code {
        case ENOSPC, EDQUOT: self = .full
        case EROFS, EACCES, EPERM: self = .readOnly
        case EIO: self = .broken
        default: return nil
        }
    }
}
