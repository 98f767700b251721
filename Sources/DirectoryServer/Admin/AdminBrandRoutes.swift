// SPDX-License-Identifier: Apache-2.0

import Branding
import DirectoryStore
import Hummingbird

/// `brands` and `numbers` below an account.
struct AdminBrandRoutes: Sendable {
    let now: @Sendable () -> Int64

    private struct BrandBody: Decodable {
        var brand_id: String?
        var brand_name: String?
        var logo_url: String?
        var call_reason: String?
        var owner_state: String?

        static let fields: Set = ["brand_name", "logo_url", "call_reason", "owner_state"]

        func change() throws -> BrandList.Change {
            var change = BrandList.Change()
            (change.name, change.logo, change.reason) = (brand_name, logo_url, call_reason)
            if let owner_state {
                guard let owner = BrandList.Owner(rawValue: owner_state) else {
                    throw Refusal.badRequest("owner_state must be one of active, suspended, unresolved")
                }
                change.owner = owner
            }
            return change
        }
    }

    private struct NumberBody: Decodable {
        var brand_id: String
        var call_reason: String?
    }

    private struct DeactivateBody: Decodable {
        var numbers: [String]?
        var brand_ids: [String]?
    }

    func brands(_ admin: AdminRequest) async throws -> Response {
        let (account, after, limit) = (try await admin.account(), admin.text("after"), try admin.limit())
        let brands = try await admin.blocking {
            try BrandList(admin.database, account: account).page(after: after, limit: limit)
        }
        return try JSONBody.response(AdminPage(brands, next: brands.count == limit ? brands.last?.id : nil))
    }

    func createBrand(_ admin: AdminRequest) async throws -> Response {
        let (account, now) = (try await admin.account(), now())
        let body = try await JSONBody.read(
            BrandBody.self, of: admin.request, fields: BrandBody.fields.union(["brand_id"]))
        let (id, change) = (body.brand_id, try body.change())
        let brand = try await admin.blocking {
            try BrandList(admin.database, account: account).create(id: id, change, now: now)
        }
        return try JSONBody.response(brand, brand.version, status: .created)
    }

    func brand(_ admin: AdminRequest) async throws -> Response {
        let (account, id) = (try await admin.account(), try admin.pathPart("brand"))
        let brand = try await admin.blocking { try BrandList(admin.database, account: account).brand(id) }
        return try JSONBody.response(brand, brand.version, to: admin.request)
    }

    func changeBrand(_ admin: AdminRequest) async throws -> Response {
        let (account, id, now) = (try await admin.account(), try admin.pathPart("brand"), now())
        let condition = try VersionCondition(admin.request)
        let change = try await JSONBody.read(BrandBody.self, of: admin.request, fields: BrandBody.fields).change()
        let brand = try await admin.blocking {
            try BrandList(admin.database, account: account).change(id, change, if: condition, now: now)
        }
        return try JSONBody.response(brand, brand.version)
    }

    func numbers(_ admin: AdminRequest) async throws -> Response {
        let (account, limit, brand) = (try await admin.account(), try admin.limit(), admin.text("brand_id"))
        let after = try admin.number("after")
        let state: BrandNumbers.State? = try admin.choice("state")
        let numbers = try await admin.blocking {
            try BrandNumbers(admin.database, account: account).page(
                after: after, limit: limit, brandID: brand, state: state)
        }
        return try JSONBody.response(AdminPage(numbers, next: numbers.count == limit ? numbers.last?.number : nil))
    }

    func number(_ admin: AdminRequest) async throws -> Response {
        let (account, number) = (try await admin.account(), try admin.number())
        let found = try await admin.blocking { try BrandNumbers(admin.database, account: account).find(number) }
        guard let found else { throw Refusal.notFound("The account never had \(number)") }
        return try JSONBody.response(found, found.version, to: admin.request)
    }

    func setNumber(_ admin: AdminRequest) async throws -> Response {
        let (account, number, now) = (try await admin.account(), try admin.number(), now())
        let condition = try VersionCondition(admin.request)
        let body = try await JSONBody.read(
            NumberBody.self, of: admin.request, fields: ["brand_id", "call_reason"])
        let (brand, reason) = (body.brand_id, body.call_reason.flatMap { $0.isEmpty ? nil : $0 })
        let stored = try await admin.blocking {
            try BrandNumbers(admin.database, account: account).set(
                number, brandID: brand, reason: reason, if: condition, now: now)
        }
        return try JSONBody.response(AdminDone(changed: 1), stored.version)
    }

    func deactivateNumber(_ admin: AdminRequest) async throws -> Response {
        let (account, number, now) = (try await admin.account(), try admin.number(), now())
        let condition = try VersionCondition(admin.request)
        let stored = try await admin.blocking {
            try BrandNumbers(admin.database, account: account).deactivate(number, if: condition, now: now)
        }
        guard let stored else { throw Refusal.notFound("\(number) is not in use") }
        return try JSONBody.response(AdminDone(changed: 1), stored.version)
    }

    /// Deactivates many numbers, or all numbers of some brands, in one transaction.
    func deactivate(_ admin: AdminRequest) async throws -> Response {
        let (account, now) = (try await admin.account(), now())
        let body = try await JSONBody.read(
            DeactivateBody.self, of: admin.request, fields: ["numbers", "brand_ids"])
        switch (body.numbers, body.brand_ids) {
        case (let texts?, nil):
            let numbers = try texts.map { text in
                guard let number = E164Number(text) else {
                    throw Refusal.badRequest("numbers must be such as +61491570156; \(text.prefix(40)) is none")
                }
                return number
            }
            let changed = try await admin.blocking {
                try BrandNumbers(admin.database, account: account).deactivate(numbers, now: now)
            }
            return try JSONBody.response(AdminDone(changed: changed))
        case (nil, let ids?):
            let changed = try await admin.blocking {
                try BrandList(admin.database, account: account).deactivate(ids, now: now)
            }
            return try JSONBody.response(AdminDone(changed: changed))
        default: throw Refusal.badRequest("The body must have either numbers or brand_ids")
        }
    }
}
