// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// The registrations of an account by CAMARA Brand Registration.
struct RegistrationRoutes: Sendable {
    let database: DirectoryDatabase
    let now: @Sendable () -> Int64

    private var today: String { String(Timestamp.string(from: now()).prefix(10)) }

    func create(_ request: Request, _ context: AccountContext) async throws -> Response {
        let fields = try await fields(of: request)
        let made = try await registrations(context).create(fields, now: now())
        return try CamaraJSON.response(RegistrationRecord(made), status: .created)
    }

    func show(_ request: Request, _ context: AccountContext) async throws -> Response {
        let found = try await registrations(context).find(try Self.id(context), now: now())
        return try CamaraJSON.response(RegistrationRecord(found))
    }

    func replace(_ request: Request, _ context: AccountContext) async throws -> Response {
        let id = try Self.id(context)
        let fields = try await fields(of: request)
        let changed: Registration
        do {
            changed = try await registrations(context).replace(id, by: fields, now: now())
        } catch RegistrationError.unknown {
            throw CamaraError(
                .notFound, "BRAND_REGISTRATION.REGISTRATION_NOT_FOUND",
                "There is no registration of this registrationId")
        }
        return try CamaraJSON.response(RegistrationRecord(changed))
    }

    func remove(_ request: Request, _ context: AccountContext) async throws -> Response {
        try await registrations(context).remove(try Self.id(context), now: now())
        return Response(status: .noContent)
    }

    func list(_ request: Request, _ context: AccountContext) async throws -> Response {
        let query = try RegistrationQuery(request)
        let (found, total) = try await registrations(context).page(
            query.filter, page: query.page, size: query.size, now: now())
        let body = RegistrationRecords(
            registrations: found.map(RegistrationRecord.init),
            pagination: .init(
                page: query.page, perPage: query.size, totalCount: total,
                totalPages: (total + query.size - 1) / query.size))
        // 206 marks a part of the list.
        var response = try CamaraJSON.response(body, status: found.count < total ? .partialContent : .ok)
        for (name, value) in [("X-Total-Count", total), ("X-Total-Pages", body.pagination.totalPages)] {
            if let name = HTTPField.Name(name) { response.headers[name] = "\(value)" }
        }
        return response
    }

    private func registrations(_ context: AccountContext) -> Registrations {
        Registrations(database, account: context.account)
    }

    private func fields(of request: Request) async throws -> Registration.Fields {
        try RegistrationBody.fields(try await JSONBody.object(of: request), today: today)
    }

    /// The identifier in the path, in the form of the store.
    private static func id(_ context: AccountContext) throws -> String {
        guard let text = context.parameters.get("registration"), let id = UUID(uuidString: text) else {
            throw CamaraError.invalid("registrationId must be a UUID")
        }
        return id.uuidString.lowercased()
    }
}

/// A registration in a response (`RegistrationRecord`).
private struct RegistrationRecord: Encodable {
    let registrationId: String
    let phoneNumber: String
    let phoneNumberAlternate: String?
    let status: Registration.Status
    let expiresAt: String?
    let displayName: String
    let displayAsset: String?
    let customerId: String?
    let verifyCallerAction: String?
    let terminatingCountryCode: Int
    let campaignName: String?
    let callPurpose: String?

    init(_ registration: Registration) {
        let fields = registration.fields
        registrationId = registration.id
        (phoneNumber, phoneNumberAlternate) = (fields.number.description, fields.alternate?.description)
        (status, expiresAt) = (registration.status, fields.expires)
        (displayName, displayAsset) = (fields.name, fields.asset)
        (customerId, verifyCallerAction) = (fields.customer, fields.action)
        (terminatingCountryCode, campaignName) = (fields.country, fields.campaign)
        callPurpose = fields.purpose
    }
}

/// A page of registrations (`RegistrationRecords`).
private struct RegistrationRecords: Encodable {
    struct Pagination: Encodable {
        let page: Int
        let perPage: Int
        let totalCount: Int
        let totalPages: Int
    }

    let registrations: [RegistrationRecord]
    let pagination: Pagination
}
