// SPDX-License-Identifier: Apache-2.0

/// The tables of a directory, on both engines.
///
/// A change of them is a step of `SQLiteMigrations` and of `PostgreSQLSchema` as well.
enum DirectorySchema {
    /// The statements that make all tables and the first account.
    static func script(_ dialect: SQLDialect) -> String {
        let client =
            switch dialect {
            case .sqlite: "lower(hex(randomblob(16)))"
            case .postgreSQL: "replace(gen_random_uuid()::text, '-', '')"
            }
        return tables.map { $0.script(dialect) }.joined() + """
            INSERT INTO account (id, client_id, mode, branding_enabled, voip_dialer_enabled, status,
                included_imprints, name)
                VALUES (1, \(client), 'live', TRUE, TRUE, 'active', 0, 'main');
            INSERT INTO feed_head (account, epoch, last_change) VALUES (1, 0, 0);
            """
    }

    /// The tables, each after those that it refers to.
    static let tables = accounts + brands + events + devices + uploads + logos + registrations + push

    private static let accounts = [
        SchemaTable(
            "account", key: "id", numbered: 2,
            ofEngine: [
                .sqlite: ["CREATE UNIQUE INDEX account_name ON account (name)"],
                .postgreSQL: ["ALTER TABLE account ADD UNIQUE (name)"],
            ],
            columns: [
                .integer("id"), .text("client_id", .unique), .text("mode"), .boolean("branding_enabled"),
                .boolean("voip_dialer_enabled"), .text("status"), .integer("cap_this_month", .optional),
                .integer("included_imprints"), .text("name", .standard(.text(""))),
                .integer("created", .standard(.integer(0))), .boolean("card", .standard(.boolean(false))),
            ]),
        SchemaTable(
            "feed_head", key: "account", columns: [.account(.kept), .integer("epoch"), .integer("last_change")]),
        SchemaTable(
            "api_key", key: "hash",
            indexes: [
                """
                CREATE UNIQUE INDEX api_key_name ON api_key (account, name) WHERE revoked IS NULL AND expires IS NULL
                """
            ],
            columns: [
                .bytes("hash"), .account(.kept), .text("name"), .text("kind", .standard(.text("gateway"))),
                .integer("created"), .integer("last_used", .optional), .integer("expires", .optional),
                .bytes("successor", .optional), .integer("revoked", .optional),
            ]),
        SchemaTable(
            "admin_key", key: "hash",
            indexes: ["CREATE UNIQUE INDEX admin_key_name ON admin_key (name) WHERE revoked IS NULL"],
            columns: [
                .bytes("hash"), .text("name"), .integer("created"), .integer("last_used", .optional),
                .integer("revoked", .optional),
            ]),
        // A rotated key and its successor share one secret.
        SchemaTable("key_signing", key: "key_hash", columns: [.bytes("key_hash"), .text("api_id"), .bytes("secret")]),
        SchemaTable(
            "device_token", key: "id", numbered: 1,
            indexes: ["CREATE INDEX device_token_device ON device_token (account, device_id)"],
            ofEngine: [.postgreSQL: ["CREATE INDEX device_token_key ON device_token (key_hash)"]],
            columns: [
                .integer("id"), .account(.removed), .bytes("key_hash"), .text("device_id"),
                .bytes("access_hash", .unique), .integer("access_expires"), .bytes("refresh_hash", .unique),
                .integer("refresh_expires"), .integer("rotated", .optional),
            ]),
    ]

    // `held` marks a number that is inactive because the owner of its brand is; `active` is the state for clients.
    private static let brands = [
        SchemaTable(
            "brand", key: "account", "id",
            ofEngine: [.postgreSQL: ["CREATE INDEX brand_logo ON brand (logo) WHERE logo IS NOT NULL"]],
            columns: [
                .account(.kept), .text("id"), .text("name"), .text("logo", .optional), .text("reason", .optional),
                .text("owner", .standard(.text("active"))), .integer("updated"),
            ]),
        SchemaTable(
            "brand_number", key: "account", "number",
            indexes: [
                "CREATE UNIQUE INDEX brand_number_change ON brand_number (account, change)",
                "CREATE INDEX brand_number_brand ON brand_number (account, brand_id)",
            ],
            columns: [
                .account(.kept), .integer("number"), .text("name"), .text("brand_id"), .text("logo_url", .optional),
                .text("call_reason", .optional), .integer("updated"), .boolean("active"),
                .boolean("held", .standard(.boolean(false))), .integer("change"),
            ]),
    ]

    // The counters of a day outlive the events, and a monthly report reads no event. `reason` is empty for counted
    // events, `brand_id` for numbers without a brand.
    private static let events = [
        SchemaTable(
            "event", key: "id", numbered: 1, constraints: ["UNIQUE (account, event_key)"],
            indexes: [
                "CREATE INDEX event_received ON event (account, received)",
                "CREATE INDEX event_number ON event (account, number)",
            ],
            columns: [
                .integer("id"), .account(.kept), .text("event_id", .unique), .text("event_key", .optional),
                .text("number"), .text("outcome"), .text("surface", .optional), .text("device_id", .optional),
                .text("displayed_at"), .text("meta", .optional), .boolean("counted"), .text("reason", .optional),
                .integer("received"), .text("branding_request_id", .optional), .text("warning", .optional),
                .text("brand_id", .optional), .text("call_outcome", .optional),
            ]),
        SchemaTable(
            "month_usage", key: "account", "month", "shard", fill: 50,
            columns: [.account(.kept), .text("month"), .integer("shard"), .integer("counted")]),
        SchemaTable(
            "day_outcome", key: "account", "day", "brand_id", "outcome", "reason", "shard", fill: 70,
            columns: [
                .account(.kept), .text("day"), .text("brand_id"), .text("outcome"), .text("reason"), .integer("shard"),
                .integer("events"),
            ]),
        // Calls by their end, which `day_outcome` does not have: an answered call is one of several ends of `call_seen`.
        SchemaTable(
            "day_call", key: "account", "day", "brand_id", "result", "shard", fill: 70,
            columns: [
                .account(.kept), .text("day"), .text("brand_id"), .text("result"), .integer("shard"), .integer("calls"),
            ]),
        SchemaTable(
            "day_stored", key: "account", "day", "shard", fill: 50,
            columns: [.account(.removed), .text("day"), .integer("shard"), .integer("bytes")]),
        SchemaTable(
            "day_signal", key: "account", "day", "signal", fill: 50,
            columns: [.account(.removed), .text("day"), .text("signal"), .integer("count")]),
        SchemaTable(
            "sync_delivery", key: "account", "day", fill: 50,
            columns: [
                .account(.removed), .text("day"), .integer("delivered"), .integer("entries"), .integer("unchanged"),
            ]),
        SchemaTable(
            "sync_state", key: "account", columns: [.account(.removed), .bytes("digest"), .integer("modified")]),
        SchemaTable(
            "imprint", key: "account", "device_id", "number", "displayed_at",
            indexes: ["CREATE INDEX imprint_received ON imprint (received)"],
            columns: [
                .account(.removed), .text("device_id"), .text("number"), .text("displayed_at"),
                .text("imprint_id", .unique), .text("details"), .integer("received"),
            ]),
    ]

    private static let devices = [
        SchemaTable(
            "device", key: "account", "device_id",
            columns: [
                .account(.kept), .text("device_id"), .text("platform"), .text("os_version", .optional),
                .text("app_version", .optional), .text("sdk_version", .optional), .integer("registered"),
                .integer("last_seen"), .text("last_synced_at", .optional), .text("device_type", .optional),
                .text("customer_name", .optional), .text("customer_account_number", .optional),
                .text("capabilities", .optional), .integer("log_lines", .standard(.integer(0))),
            ]),
        SchemaTable(
            "device_log", key: "account", "device_id", "slot",
            constraints: [
                "FOREIGN KEY (account, device_id) REFERENCES device (account, device_id) ON DELETE CASCADE"
            ],
            indexes: ["CREATE INDEX device_log_received ON device_log (received)"],
            columns: [
                .integer("account"), .text("device_id"), .integer("slot"), .integer("number"), .text("level"),
                .text("message"), .text("meta", .optional), .text("occurred_at", .optional), .integer("received"),
            ]),
    ]

    private static let uploads = [
        SchemaTable(
            "debug_request", key: "id",
            indexes: ["CREATE INDEX debug_request_account ON debug_request (account, expires)"],
            columns: [
                .integer("id"), .account(.removed), .text("device_id", .optional), .integer("expires"),
                .boolean("allow_export"), .integer("created"),
            ]),
        SchemaTable(
            "debug_upload", key: "id", constraints: ["UNIQUE (account, nonce)"],
            indexes: [
                "CREATE INDEX debug_upload_request ON debug_upload (request, device_id)",
                "CREATE INDEX debug_upload_received ON debug_upload (received)",
                """
                CREATE INDEX debug_upload_logs ON debug_upload (logs_upload_id) WHERE logs_upload_id IS NOT NULL
                """,
            ],
            columns: [
                .text("id"), .integer("request"), .account(.removed), .text("device_id"), .text("nonce"),
                .text("created_at", .optional), .text("state", .optional), .text("logs", .optional),
                .text("logs_upload_id", .optional), .integer("received"),
            ]),
        SchemaTable(
            "upload", key: "id", indexes: ["CREATE INDEX upload_expires ON upload (expires)"],
            columns: [
                .text("id"), .account(.removed), .text("filename"), .text("content_type"), .integer("size"),
                .integer("chunks"), .integer("expires"), .integer("completed", .optional),
            ]),
        SchemaTable(
            "upload_chunk", key: "upload", "number",
            constraints: ["FOREIGN KEY (upload) REFERENCES upload (id) ON DELETE CASCADE"],
            columns: [.text("upload"), .integer("number")]),
    ]

    private static let logos = [
        SchemaTable(
            "logo", key: "name",
            columns: [.text("name"), .text("hash"), .text("type"), .integer("size"), .integer("created")]),
        SchemaTable(
            "served_logo", key: "name",
            columns: [.text("name"), .text("stamp", .optional), .text("hash", .optional), .text("first")]),
        SchemaTable(
            "served_from", key: "id",
            columns: [.integer("id", .check("id = 1")), .text("signature"), .text("folder", .optional)]),
    ]

    // `released` is the change that took a registered number out of use again; nil while its registration has it, and 0
    // for a number that the operator has changed before, or has removed.
    private static let registrations = [
        SchemaTable(
            "client_token", key: "hash",
            indexes: ["CREATE INDEX client_token_key ON client_token (key_hash, expires)"],
            columns: [
                .bytes("hash"), .account(.removed), .bytes("key_hash"), .text("scopes"), .integer("expires"),
            ]),
        SchemaTable(
            "registration", key: "id",
            indexes: [
                "CREATE INDEX registration_account ON registration (account, created, id)",
                "CREATE INDEX registration_expires ON registration (expires) WHERE expires IS NOT NULL",
            ],
            columns: [
                .text("id"), .account(.removed), .integer("number"), .integer("alternate", .optional),
                .text("brand_id"), .text("name"), .integer("country"), .text("expires", .optional),
                .text("asset", .optional), .text("customer", .optional), .text("action", .optional),
                .text("campaign", .optional), .text("purpose", .optional), .integer("created"),
            ]),
        SchemaTable(
            "registered_number", key: "account", "number",
            columns: [
                .account(.removed), .integer("number"), .text("registration", .optional),
                .integer("released", .optional),
            ]),
    ]

    // `address` is a token, or a Web Push subscription as JSON. `open` marks a message whose devices are still to be found;
    // `number` is the called number until then. `withdrawn` is the time since which a message is no longer true.
    // `called` is that number as a person reads it in the list, masked.
    private static let push = [
        SchemaTable(
            "push_device", key: "account", "device_id",
            indexes: [
                "CREATE UNIQUE INDEX push_device_address ON push_device (account, address_hash)",
                "CREATE UNIQUE INDEX push_device_secret ON push_device (secret_hash) WHERE secret_hash IS NOT NULL",
            ],
            columns: [
                .account(.removed), .text("device_id"), .text("platform"), .text("address"), .bytes("address_hash"),
                .text("app_version", .optional), .bytes("key_hash", .optional), .bytes("secret_hash", .optional),
                .boolean("missed_call"), .boolean("call_returned"), .boolean("brand_changed"),
                .text("disclosure", .optional), .integer("created"),
            ]),
        SchemaTable(
            "push_number", key: "account", "number", "device_id",
            constraints: [
                "FOREIGN KEY (account, device_id) REFERENCES push_device (account, device_id) ON DELETE CASCADE"
            ],
            // Without statistics SQLite prefers the key, and reads all numbers of an account, unless the index has all.
            indexes: [
                "CREATE INDEX push_number_device ON push_number (account, device_id, number, confirmed, confirmed_by)"
            ],
            columns: [
                .integer("account"), .integer("number"), .text("device_id"), .integer("confirmed", .optional),
                .text("confirmed_by", .optional),
            ]),
        SchemaTable(
            "push_invitation", key: "hash",
            indexes: ["CREATE INDEX push_invitation_expires ON push_invitation (expires)"],
            columns: [.bytes("hash"), .account(.removed), .integer("number"), .integer("expires")]),
        SchemaTable(
            "push_message", key: "id", numbered: 1, constraints: ["UNIQUE (account, topic, key)"],
            indexes: [
                "CREATE INDEX push_message_open ON push_message (id) WHERE open",
                "CREATE INDEX push_message_brand ON push_message (account, brand_id, sent_at)",
                "CREATE INDEX push_message_sent ON push_message (sent_at)",
            ],
            columns: [
                .integer("id"), .account(.removed), .text("topic"), .text("key"), .integer("number", .optional),
                .integer("brand_number", .optional), .text("brand_id"), .integer("sent_at"), .integer("expires"),
                .boolean("open"), .text("last_device", .standard(.text(""))), .integer("withdrawn", .optional),
            ]),
        SchemaTable(
            "push_delivery", key: "message", "device_id",
            constraints: [
                "FOREIGN KEY (message) REFERENCES push_message (id) ON DELETE CASCADE",
                "FOREIGN KEY (account, device_id) REFERENCES push_device (account, device_id) ON DELETE CASCADE",
            ],
            indexes: [
                "CREATE INDEX push_delivery_due ON push_delivery (due) WHERE due IS NOT NULL",
                "CREATE INDEX push_delivery_device ON push_delivery (account, device_id)",
            ],
            columns: [
                .integer("message"), .integer("account"), .text("device_id"), .text("state"),
                .integer("due", .optional), .integer("attempts", .standard(.integer(0))), .text("holder", .optional),
                .text("called", .optional),
            ]),
    ]
}
