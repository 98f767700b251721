// SPDX-License-Identifier: Apache-2.0

#include "CPhoneNumber.h"

#include <cstring>
#include <set>
#include <string>

#include <phonenumbers/logger.h>
#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>
#include <phonenumbers/shortnumberinfo.h>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;
using i18n::phonenumbers::ShortNumberInfo;

namespace {

/* Discards log messages. The library's default logger writes callers' numbers to standard output. */
class SilentLogger final : public i18n::phonenumbers::Logger {
public:
    void WriteMessage(const std::string &) override {}
};

/* Returns the single instance. The first caller creates it while other threads wait (ISO C++17 [stmt.dcl] 4). */
const PhoneNumberUtil &library() {
    static PhoneNumberUtil *const instance = [] {
        PhoneNumberUtil *made = PhoneNumberUtil::GetInstance();
        made->SetLogger(new SilentLogger);
        return made;
    }();
    return *instance;
}

/* Parses decimal digits from position `from` on. False for no digit, another character, or more than 18 digits. */
bool read_digits(const std::string &text, size_t from, uint64_t *digits) {
    if (text.size() <= from || text.size() - from > 18) return false;
    uint64_t value = 0;
    for (size_t i = from; i < text.size(); i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = value * 10 + static_cast<uint64_t>(text[i] - '0');
    }
    *digits = value;
    return true;
}

bool e164_digits(const PhoneNumber &number, uint64_t *digits) {
    std::string text;
    library().Format(number, PhoneNumberUtil::E164, &text);
    return !text.empty() && text[0] == '+' && read_digits(text, 1, digits);
}

int normalise(const std::string &text, const std::string &region, uint64_t *digits) {
    const PhoneNumberUtil &util = library();
    PhoneNumber number;
    if (util.Parse(text, region, &number) != PhoneNumberUtil::NO_PARSING_ERROR || number.has_extension()) {
        return HERALD_PHONE_NOT_A_NUMBER;
    }
    /* IsPossibleNumber() also accepts numbers that can be dialled only within their area. */
    if (util.IsPossibleNumberWithReason(number) != PhoneNumberUtil::IS_POSSIBLE) return HERALD_PHONE_NOT_POSSIBLE;
    /* Fewer than eight digits may be a local number or a PBX extension. Such a text must be in an allocated range. */
    const bool is_short = text[0] != '+' && text.size() < 8;
    if (is_short && !util.IsValidNumber(number)) return HERALD_PHONE_NOT_POSSIBLE;
    return e164_digits(number, digits) ? HERALD_PHONE_OK : HERALD_PHONE_NOT_POSSIBLE;
}

uint16_t possible_lengths(int code) {
    uint16_t lengths = 0;
    PhoneNumber number;
    number.set_country_code(code);
    uint64_t smallest = 1;
    for (int length = 1; length <= 15; length++, smallest *= 10) {
        number.set_national_number(smallest);
        if (library().IsPossibleNumberWithReason(number) == PhoneNumberUtil::IS_POSSIBLE) {
            lengths = static_cast<uint16_t>(lengths | 1u << length);
        }
    }
    return lengths;
}

/* Returns the short-number tables. library() comes first because it silences the logger. */
const ShortNumberInfo &short_numbers() {
    library();
    static const ShortNumberInfo *const instance = new ShortNumberInfo;
    return *instance;
}

/* Calls body with every candidate for an emergency number: all of two to four digits, and those of five digits that
 * begin with 10 or 90, as 10111 and 90000 do. A test of all 100,000 numbers of five digits takes 0.25 s. */
template <typename Body> void each_emergency_candidate(Body body) {
    for (int length = 2, end = 100; length <= 4; length++, end *= 10) {
        for (int value = 0; value < end; value++) body(length, value);
    }
    for (int start : {10000, 90000}) {
        for (int value = start; value < start + 1000; value++) body(5, value);
    }
}

std::string padded(int length, int value) {
    std::string digits = std::to_string(value);
    return std::string(static_cast<size_t>(length) - digits.size(), '0') + digits;
}

} // namespace

extern "C" int herald_phone_emergency_numbers(const char *region, uint32_t *out, int capacity) {
    if (region == nullptr) return 0;
    try {
        const ShortNumberInfo &numbers = short_numbers();
        const std::string letters(region, 2);
        int count = 0;
        each_emergency_candidate([&](int length, int value) {
            const std::string digits = padded(length, value);
            if (!numbers.IsEmergencyNumber(digits, letters)) return;
            if (out != nullptr && count < capacity) out[count] = static_cast<uint32_t>(std::stoul("1" + digits));
            count++;
        });
        return count;
    } catch (...) {
        return 0;
    }
}

extern "C" int herald_phone_normalise(const char *text, size_t length, const char *region, uint64_t *digits) {
    if (text == nullptr || digits == nullptr || length > HERALD_PHONE_MAX_TEXT) return HERALD_PHONE_REFUSED;
    try {
        return normalise(std::string(text, length), region == nullptr ? "ZZ" : std::string(region, 2), digits);
    } catch (...) {
        return HERALD_PHONE_REFUSED;
    }
}

extern "C" int herald_phone_is_allocated(uint64_t digits) {
    try {
        PhoneNumber number;
        if (library().Parse("+" + std::to_string(digits), "ZZ", &number) != PhoneNumberUtil::NO_PARSING_ERROR) return 0;
        return library().IsValidNumber(number) ? 1 : 0;
    } catch (...) {
        return 0;
    }
}

extern "C" int herald_phone_region_known(const char *region) {
    return herald_phone_calling_code(region) != 0;
}

extern "C" int herald_phone_calling_code(const char *region) {
    if (region == nullptr) return 0;
    try {
        return library().GetCountryCodeForRegion(std::string(region, 2));
    } catch (...) {
        return 0;
    }
}

extern "C" int herald_phone_regions(char *out, size_t capacity) {
    try {
        std::set<std::string> regions;
        library().GetSupportedRegions(&regions);
        if (out == nullptr || capacity < regions.size() * 2) return static_cast<int>(regions.size());
        for (const std::string &region : regions) {
            std::memcpy(out, region.data(), 2);
            out += 2;
        }
        return static_cast<int>(regions.size());
    } catch (...) {
        return 0;
    }
}

extern "C" int herald_phone_calling_codes(struct herald_calling_code *out, int capacity) {
    try {
        std::set<int> codes;
        library().GetSupportedCallingCodes(&codes);
        int written = 0;
        for (int code : codes) {
            if (out == nullptr || written == capacity) break;
            herald_calling_code plan = {};
            plan.code = static_cast<uint16_t>(code);
            plan.possible_lengths = possible_lengths(code);
            std::string region, prefix;
            library().GetRegionCodeForCountryCode(code, &region);
            library().GetNddPrefixForRegion(region, true, &prefix);
            if (prefix.size() >= sizeof plan.national_prefix) prefix = "?";
            std::memcpy(plan.national_prefix, prefix.data(), prefix.size());
            out[written++] = plan;
        }
        return static_cast<int>(codes.size());
    } catch (...) {
        return 0;
    }
}

extern "C" int herald_phone_example(const char *region, int type, uint64_t *digits, char national[24]) {
    if (region == nullptr || digits == nullptr || national == nullptr) return -1;
    if (type < PhoneNumberUtil::FIXED_LINE || type >= PhoneNumberUtil::UNKNOWN) return -1;
    try {
        PhoneNumber number;
        const auto kind = static_cast<PhoneNumberUtil::PhoneNumberType>(type);
        if (!library().GetExampleNumberForType(std::string(region, 2), kind, &number)) return 0;
        if (!e164_digits(number, digits)) return 0;
        std::string text;
        library().Format(number, PhoneNumberUtil::NATIONAL, &text);
        size_t length = 0;
        for (char letter : text) {
            if (letter >= '0' && letter <= '9' && length < 23) national[length++] = letter;
        }
        national[length] = 0;
        return 1;
    } catch (...) {
        return -1;
    }
}
