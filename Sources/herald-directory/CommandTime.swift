// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Seconds since 1970.
func secondsNow() -> Int64 { Int64(Date().timeIntervalSince1970) }
