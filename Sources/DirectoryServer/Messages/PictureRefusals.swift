// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import HTTPTypes
import LogoScaling

extension Refusal {
    /// A picture that is not taken, with the codes of the Mobile API.
    static func picture(_ error: LogoIntakeError) -> Refusal {
        let message = "\(error)"
        return switch error {
        case .tooLarge(let bytes):
            Refusal(
                .contentTooLarge, message, code: "FILE_TOO_LARGE",
                details: [
                    "file_size": .int(bytes), "max_size": .int(LogoIntake.limit),
                    "max_size_mb": .int(LogoIntake.limit >> 20),
                ], guidance: "Reduce the file's size and retry")
        case .unsupported(let name):
            Refusal(
                .unprocessableContent, message, code: "UNSUPPORTED_FORMAT",
                details: [
                    "provided_format": .string(name),
                    "supported_formats": .array(LogoPicture.Format.names.map { .string($0) }),
                ], guidance: "Convert the file to a supported format and retry")
        case .damaged:
            Refusal(
                .unprocessableContent, message, code: "DAMAGED_FILE", guidance: "Export the picture again and retry")
        case .tooManyPixels(let width, let height):
            Refusal(
                .unprocessableContent, message, code: "TOO_MANY_PIXELS",
                details: ["width": .int(width), "height": .int(height), "max_pixels": .int(LogoIntake.maxPixels)],
                guidance: "Scale the picture down and retry")
        case .tooMuchWork:
            Refusal(
                .unprocessableContent, message, code: "TOO_MANY_PIXELS", guidance: "Scale the picture down and retry")
        case .tooSlow:
            Refusal(
                .gatewayTimeout, message, code: "EXTERNAL_SERVICE_TIMEOUT",
                details: ["service": .string("image_processing"), "timeout_seconds": .int(ScaleProgram.longest)],
                guidance: "Retry the request. If the problem persists, try a smaller file")
        case .busy:
            Refusal(
                .serviceUnavailable, message, code: "busy", headers: [.retryAfter: "5"],
                guidance: "Send it again in a moment")
        case .unavailable:
            Refusal(
                .serviceUnavailable, message, code: "unavailable",
                guidance: "Install herald-scale-logo beside herald-directory")
        }
    }
}
