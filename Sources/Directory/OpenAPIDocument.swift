// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /openapi.yaml`: the description of everything this server answers, which is part of the program.
enum OpenAPIDocument {
    static var response: Response {
        Response(
            status: .ok, headers: [.contentType: "application/yaml", .cacheControl: "no-cache"],
            body: .init(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_yaml)))
    }
}
