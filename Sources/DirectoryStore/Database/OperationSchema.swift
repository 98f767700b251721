// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables for the server's own operation.
enum OperationSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("operation 1") { try $0.execute(sql: ServedLogoTable.schema) }
        migrator.registerMigration("operation 2") { try $0.execute(sql: SignalCounts.schema) }
        migrator.registerMigration("operation 3") { try $0.execute(sql: KeyKind.schema) }
        migrator.registerMigration("operation 4") { try $0.execute(sql: AccountQuota.schema) }
    }
}
