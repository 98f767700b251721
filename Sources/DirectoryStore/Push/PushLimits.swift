// SPDX-License-Identifier: Apache-2.0

/// The limits that bound the work of one message.
package enum PushLimits {
    /// Devices of a number, confirmed or not.
    package static let devicesPerNumber = 1_000
    /// Numbers of a device.
    package static let numbersPerDevice = 20
    /// Deliveries that one transaction makes of a message.
    static let step = 200
    /// Old deliveries, or messages, that one transaction removes.
    static let removed = 1_000
    /// Seconds after a call, or after the change of a brand, in which its message is of use.
    package static let lifetime: Int64 = 86_400
    /// Seconds for which a message is kept without its called number.
    ///
    /// A repetition finds it, and a change of its brand finds the devices that had it.
    package static let kept: Int64 = 30 * 86_400
    /// Longest token or subscription, in bytes.
    package static let address = 4_096
    /// Missed calls in the list of a device.
    package static let listed = 50
    /// Open invitations of an account.
    static let invitations = 10_000
}
